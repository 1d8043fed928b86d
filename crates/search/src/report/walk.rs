//! A cursor over the positions of a game, which also names its moves and lines.

use hashbrown::HashMap;

use orbit_core::board::{MoveKind, PackedMove, Position, Role};
use orbit_core::game::MoveNumbers;
use orbit_reel::{GameRow, LineRow};

/// A cursor over the nodes (positions) of a game. It keeps track of the halfmove clock, which a [`Position`] does not contain.
/// Visiting all nodes in ascending order takes time proportional to the length of the game, no matter how many side lines it has.
pub struct NodeWalk<'a> {
    game: GameRow<'a>,
    numbers: MoveNumbers,
    start: CountedPosition,
    here: CountedPosition,
    /// The previous position and the move that was played there, or `None` at the start.
    before: Option<(Position, PackedMove)>,
    node: u32,
    /// The side line of the current node.
    line: Option<LineRow<'a>>,
    /// The points where the side lines of the game branch off. They are computed when the first side line is entered.
    branches: Option<Vec<LineBranch>>,
}

/// A position with its counters.
#[derive(Clone, Copy)]
struct CountedPosition {
    position: Position,
    /// The number of half-moves since the last capture or pawn move.
    clock: u32,
    ply: u32,
}

/// The point where a side line branches off.
#[derive(Clone)]
struct LineBranch {
    /// The position at the node from which the side line branches off.
    before: CountedPosition,
    /// The line that contains the node from which the side line branches off, or `None` for the main line.
    around: Option<usize>,
    /// The first move of the side line, with its number. If several side lines branch off with the same move, this text ends with
    /// the number of the line among them, such as `[2]`.
    entry: String,
}

impl<'a> NodeWalk<'a> {
    /// Creates a cursor at the start of a game.
    pub fn from_game(game: &GameRow<'a>) -> NodeWalk<'a> {
        let numbers = MoveNumbers::from_header(game);
        let start = CountedPosition { position: game.start(), clock: numbers.clock, ply: 0 };
        NodeWalk {
            game: *game,
            numbers,
            start,
            here: start,
            before: None,
            node: 0,
            line: None,
            branches: None,
        }
    }

    /// Moves to a node.
    ///
    /// # Panics
    ///
    /// Panics if the game has no such node.
    pub fn to(&mut self, node: u32) {
        let line = self.game.line_of(node);
        let is_same = line.map(|line| line.index()) == self.line.map(|line| line.index());
        if !is_same || node < self.node {
            self.enter(line);
        }
        let (first, moves) = line.map_or((0, self.game.moves()), |line| (line.first_node(), line.moves()));
        if let [passed @ .., last] = &moves[(self.node - first) as usize..(node - first) as usize] {
            passed.iter().for_each(|&mv| self.here.play(mv));
            self.before = Some((self.here.position, *last));
            self.here.play(*last);
        }
        self.node = node;
    }

    /// Moves the cursor to the first position of a side line, or of the main line if `line` is `None`.
    fn enter(&mut self, line: Option<LineRow<'a>>) {
        (self.here, self.before, self.node) = (self.start, None, 0);
        if let Some(line) = line {
            let branches =
                self.branches.get_or_insert_with(|| branches(&self.game, self.numbers, self.start));
            let branch = &branches[line.index()];
            self.here = branch.after(line);
            self.before = Some((branch.before.position, line.edge()));
            self.node = line.first_node();
        }
        self.line = line;
    }

    /// Returns the current node.
    pub fn node(&self) -> u32 {
        self.node
    }

    /// Returns the number of half-moves before the current node.
    pub fn ply(&self) -> u32 {
        self.here.ply
    }

    /// Returns the current position.
    pub fn position(&self) -> Position {
        self.here.position
    }

    /// Returns the name of the current side line, or an empty string in the main line. The name lists the first move of each side
    /// line on the path from the main line: `12...b5 14.Qh5` begins with 14. Qh5 in the side line that begins with 12... b5. If
    /// several side lines leave a position with the same move, the second one is `12...b5[2]`.
    pub fn line(&self) -> String {
        let branches = self.branches.as_deref().unwrap_or_default();
        let mut moves = Vec::new();
        let mut at = self.line.map(|line| line.index());
        while let Some(LineBranch { around, entry, .. }) = at.and_then(|index| branches.get(index)) {
            moves.push(entry.as_str());
            at = *around;
        }
        moves.reverse();
        moves.join(" ")
    }

    /// Returns the first move of the current side line in SAN, or `None` in the main line.
    pub fn entry(&self) -> Option<String> {
        let (line, branches) = (self.line?, self.branches.as_ref()?);
        Some(line.edge().to_san(&branches[line.index()].before.position))
    }

    /// Returns the number of the move that led to the current node, such as `23...`, or `start`.
    pub fn label(&self) -> String {
        let mut label = Vec::new();
        self.numbers.push_label(self.here.ply, &mut label);
        String::from_utf8(label).expect("labels are ASCII")
    }

    /// Returns the move that led to the current node in SAN, or `None` at the start.
    pub fn san(&self) -> Option<String> {
        self.before.as_ref().map(|(position, mv)| mv.to_san(position))
    }

    /// Returns the next move in the current line in SAN, or an empty string at the end of the line.
    pub fn next(&self) -> String {
        self.game.move_from(self.node).map_or(String::new(), |mv| mv.to_san(&self.here.position))
    }

    /// Returns the current position as FEN, with the halfmove clock and the move number at this point of the game.
    pub fn fen(&self) -> String {
        self.here.position.to_fen_with(self.here.clock, self.numbers.full(self.here.ply))
    }
}

impl CountedPosition {
    fn play(&mut self, mv: PackedMove) {
        let board = &self.position.board;
        let pawn = board.at(mv.from()).piece().is_some_and(|piece| piece.role == Role::Pawn);
        // Castling is stored as the king capturing its own rook, so a piece on `to` does not make it a capture.
        let taken = board.at(mv.to()).piece().is_some();
        let is_reset = match mv.kind() {
            MoveKind::EnPassant => true,
            MoveKind::Piece(_) => pawn || taken,
            MoveKind::Castle | MoveKind::Null | MoveKind::Start => false,
        };
        self.clock = if is_reset { 0 } else { self.clock + 1 };
        self.position.play(mv);
        self.ply += 1;
    }
}

impl LineBranch {
    /// Returns the position at the first node of a side line, after its first move.
    fn after(&self, line: LineRow) -> CountedPosition {
        let mut place = self.before;
        place.play(line.edge());
        place
    }
}

/// Returns the point where each side line of a game branches off. Each line is replayed once, up to the last node where another
/// line branches off.
fn branches(game: &GameRow, numbers: MoveNumbers, start: CountedPosition) -> Vec<LineBranch> {
    let lines: Vec<LineRow> = game.lines().collect();
    let around = |line: &LineRow| game.line_of(line.parent()).map(|around| around.index());
    let mut order: Vec<(Option<usize>, u32, usize)> =
        lines.iter().map(|line| (around(line), line.parent(), line.index())).collect();
    // After sorting, a line comes after the line from which it branches off. Lines that branch off from the same line are in node
    // order.
    order.sort_unstable();
    let mut out = vec![LineBranch { before: start, around: None, entry: String::new() }; lines.len()];
    let mut alike: HashMap<(u32, PackedMove), u32> = HashMap::new();
    let (mut walked, mut node, mut place) = (None, 0, start);
    for (around, parent, index) in order {
        let line = around.map(|around| lines[around]);
        if walked != around {
            let line = lines[around.expect("what leaves the main line comes first")];
            (walked, node, place) = (around, line.first_node(), out[line.index()].after(line));
        }
        let (first, moves) = line.map_or((0, game.moves()), |line| (line.first_node(), line.moves()));
        moves[(node - first) as usize..(parent - first) as usize].iter().for_each(|&mv| place.play(mv));
        node = parent;
        let count = alike.entry((parent, lines[index].edge())).or_insert(0);
        *count += 1;
        let mut label = Vec::new();
        numbers.push_label(place.ply + 1, &mut label);
        let again = if *count > 1 { format!("[{count}]") } else { String::new() };
        let san = lines[index].edge().to_san(&place.position);
        let entry = format!("{}{san}{again}", String::from_utf8_lossy(&label));
        out[index] = LineBranch { before: place, around, entry };
    }
    out
}
