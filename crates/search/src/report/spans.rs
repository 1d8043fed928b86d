//! The moves of spans (the moves or positions that a filter matched in a game): as PGN text for people, as lists for programs, and
//! as arrows for pictures.

use super::NodeWalk;
use orbit_core::board::{MoveKind, PackedMove, Square};
use orbit_core::game::MoveNumbers;
use orbit_engine::{MatchSpan, SpanKind};
use orbit_reel::GameRow;

/// The maximum number of moves that are drawn as arrows. More arrows would hide the board.
pub const ARROWS_MAX: usize = 6;

/// The moves of a span.
pub struct SpanMoves<'a> {
    span: &'a MatchSpan,
    numbers: MoveNumbers,
    moves: Vec<SpanMove>,
}

/// One move of a span.
struct SpanMove {
    /// The nodes (position numbers) before and after the move.
    from: u32,
    to: u32,
    /// The number of half-moves up to and including this move.
    ply: u32,
    san: String,
    mv: PackedMove,
}

impl<'a> SpanMoves<'a> {
    /// Returns all moves of a span.
    ///
    /// # Panics
    ///
    /// Panics if the game lacks positions of the span.
    pub fn new(span: &'a MatchSpan, game: &GameRow) -> SpanMoves<'a> {
        SpanMoves { span, numbers: MoveNumbers::from_header(game), moves: moves(&span.moves, game) }
    }

    /// Returns the moves to show to people: for a filter that matches moves, the moves that matched; for a filter that finds
    /// positions, the moves that led to the found positions.
    pub fn shown(span: &'a MatchSpan, game: &GameRow) -> SpanMoves<'a> {
        match span.kind.is_of_moves() {
            true => SpanMoves::new(span, game),
            false => {
                let shown = moves(span.nodes.get(1..).unwrap_or_default(), game);
                SpanMoves { span, numbers: MoveNumbers::from_header(game), moves: shown }
            }
        }
    }

    /// Returns the move that represents a span, in SAN.
    pub fn key_san(span: &MatchSpan, game: &GameRow) -> Option<String> {
        moves(span.key_move().as_slice(), game).pop().map(|one| one.san)
    }

    /// Returns the number of moves.
    pub fn count(&self) -> usize {
        self.moves.len()
    }

    /// Iterates over the moves in SAN.
    pub fn sans(&self) -> impl Iterator<Item = &str> {
        self.moves.iter().map(|one| one.san.as_str())
    }

    /// Returns the moves as in PGN: `23. Bxh7+ Kxh7 24. Ng5+`. A `…` represents moves that are left out between two others, and all
    /// moves after the first `moves_max`.
    pub fn text(&self, moves_max: usize) -> String {
        let (mut out, mut before) = (String::new(), self.span.nodes.first().copied());
        for (index, one) in self.moves.iter().enumerate() {
            if index >= moves_max {
                out.push_str(" …");
                break;
            }
            // A span of moves may begin at any node, so there is no gap before its first move.
            let is_next = before == Some(one.from) || index == 0 && self.span.kind.is_of_moves();
            if index > 0 {
                out.push(' ');
            }
            if !is_next {
                out.push_str("… ");
            }
            let mut label = Vec::new();
            self.numbers.push_label(one.ply, &mut label);
            // Black's move needs no number if it directly follows White's.
            if index == 0 || !is_next || !label.ends_with(b"...") {
                out.push_str(&String::from_utf8_lossy(&label));
                out.push(' ');
            }
            out.push_str(&one.san);
            before = Some(one.to);
        }
        out
    }

    /// Returns the first moves of the span, at most [`ARROWS_MAX`], as pairs of squares. For castling, these are the squares of the
    /// king's move. Returns an empty list if the node `hit` (a position number) is not in the span, or if the span consists of
    /// found positions and has more than [`ARROWS_MAX`] moves.
    pub fn arrows(&self, hit: u32) -> Vec<[Square; 2]> {
        let is_drawn = self.span.kind.is_of_moves() || self.moves.len() <= ARROWS_MAX;
        if !is_drawn || !self.span.nodes.contains(&hit) {
            return Vec::new();
        }
        self.moves.iter().take(ARROWS_MAX).filter_map(|one| arrow(one.mv)).collect()
    }

    /// Returns the kind of filter that matched.
    pub fn kind(&self) -> SpanKind {
        self.span.kind
    }
}

fn moves(nodes: &[u32], game: &GameRow) -> Vec<SpanMove> {
    let mut walk = NodeWalk::from_game(game);
    let one = |&to: &u32| {
        let (from, mv) = game.parent_of(to).zip(game.move_to(to))?;
        walk.to(from);
        Some(SpanMove { from, to, ply: walk.ply() + 1, san: mv.to_san(&walk.position()), mv })
    };
    nodes.iter().filter_map(one).collect()
}

fn arrow(mv: PackedMove) -> Option<[Square; 2]> {
    let (from, to) = (mv.from(), mv.to());
    match mv.kind() {
        MoveKind::Null | MoveKind::Start => None,
        MoveKind::Castle => {
            let file = if to > from { 6 } else { 2 };
            Some([from, Square::new(8 * from.rank() as u32 + file)])
        }
        MoveKind::EnPassant | MoveKind::Piece(_) => Some([from, to]),
    }
}
