//! Plays the games that pgn-reader finds. shakmaty reads the FENs and plays the moves, including those of side lines.

use shakmaty::san::San;
use shakmaty::{Chess, File, Move, Position as _, Role, Square};

use super::rules::{Rule, Rules};
use super::start::{self, WitnessStart, packed};
use super::tree::WitnessTree;
use super::visit::{MovetextToken, VisitedGame};
use orbit_core::board::{PackedMove, Position};
use orbit_pgn::{Outcome, SideLine, Tag};

/// A game as the second reader read it.
#[derive(Clone, Default, Debug)]
pub(super) struct GameReading {
    /// The offset in the text at which the game begins.
    pub(super) at: usize,
    pub(super) tags: Vec<Tag>,
    /// The start position, or `None` for the usual start position.
    pub(super) start: Option<Position>,
    pub(super) moves: Vec<PackedMove>,
    /// The position after the last move of the main line.
    pub(super) last: Position,
    pub(super) lines: Vec<SideLine>,
    pub(super) outcome: Outcome,
    pub(super) end: End,
    /// True if a side in check passes in the main line. The main line then ends before that null move.
    pub(super) passes_in_check: bool,
    /// True if a side in check passes in a side line.
    pub(super) side_line_passes: bool,
    /// The offset in the text at which the game was cut, if it is known.
    pub(super) cut_at: Option<usize>,
    /// The rules that explain how this reading differs from one by pgn-reader and shakmaty alone.
    pub(super) rules: Rules,
    /// The rule because of which nothing of the game was kept, if there is one.
    pub(super) broken: Option<Rule>,
}

/// The extent to which a game was read. The strings are the reasons why it was not read to its end.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) enum End {
    #[default]
    Whole,
    /// The game up to its first token that is not a legal move, or is refused for another reason.
    Cut(String),
    /// Nothing of the game, because its start position was refused.
    Refused(String),
}

/// The maximum nesting depth of side lines. Deeper side lines are left out.
const DEPTH_MAX: usize = 255;

/// The maximum number of side lines in a game. Further side lines are left out.
const LINES_MAX: usize = 65_535;

/// The reason why a game is cut at a null move in check.
const NULL_IN_CHECK: &str = "a side in check cannot pass";

/// Selects how games are read.
#[derive(Clone, Copy)]
pub(super) struct How {
    /// True to fall back on the rules of orbit's reader for text that shakmaty refuses.
    pub(super) by_rules: bool,
    /// True if side lines are read.
    pub(super) variations: bool,
}

pub(super) fn reading(found: &VisitedGame, how: How) -> GameReading {
    let VisitedGame { start: at, ref tags, rules, broken, .. } = *found;
    let mut reading = GameReading { at, tags: tags.clone(), rules, broken, ..GameReading::default() };
    reading.outcome = outcome(&found.tokens);
    let start = match broken {
        Some(rule) => Err(rule.name().into()),
        None => start::read(found, how.by_rules.then_some(&mut reading.rules)),
    };
    match start {
        Ok(WitnessStart { position, chess }) => {
            reading.start = Some(position).filter(|start| *start != Position::STANDARD);
            reading.last = position;
            match chess {
                Some(chess) => MovePlayer::new(found, how, chess).play(&mut reading),
                None => refuse_moves(found, &mut reading),
            }
        }
        Err(reason) => reading.end = End::Refused(reason),
    }
    reading
}

/// Returns the first result in the main line. If there is none, returns the result in a side line that no other token follows.
fn outcome(tokens: &[MovetextToken]) -> Outcome {
    let mut depth = 0u32;
    for token in tokens {
        match token {
            MovetextToken::Open => depth += 1,
            MovetextToken::Close => depth = depth.saturating_sub(1),
            MovetextToken::End(outcome) if depth == 0 => return *outcome,
            MovetextToken::Inner(outcome) => return *outcome,
            _ => {}
        }
    }
    Outcome::Unknown
}

/// Cuts a game before the first move of its main line, because no move can be played from its start position.
fn refuse_moves(found: &VisitedGame, reading: &mut GameReading) {
    let mut depth = 0u32;
    let is_word = |token: &MovetextToken| {
        match token {
            MovetextToken::Open => depth += 1,
            MovetextToken::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        match token {
            MovetextToken::Unclosed => true,
            MovetextToken::San(_) | MovetextToken::Coordinates { .. } | MovetextToken::Junk => depth == 0,
            MovetextToken::Open | MovetextToken::Close | MovetextToken::End(_) | MovetextToken::Inner(_) => {
                false
            }
        }
    };
    if let Some(index) = found.tokens.iter().position(is_word) {
        reading.end = End::Cut("no move can be played from the start".into());
        reading.cut_at = found.places.get(index).copied();
    }
}

/// A line that is being read.
struct PlayedLine {
    chess: Chess,
    /// The position before the last move, from which a side line for that move branches off.
    before: Chess,
    node: usize,
    has_moves: bool,
    /// True after a token was refused. The rest of the line is then not read.
    is_dead: bool,
}

/// Plays the moves of a game.
struct MovePlayer<'a> {
    found: &'a VisitedGame,
    how: How,
    tree: WitnessTree,
    line: PlayedLine,
    /// The lines that enclose the current line, the main line first. A line continues when the line inside it ends.
    outer: Vec<PlayedLine>,
    lines: usize,
    /// The number of open parentheses within side lines that are left out.
    left_out: usize,
}

impl MovePlayer<'_> {
    fn new(found: &VisitedGame, how: How, chess: Chess) -> MovePlayer<'_> {
        let line = PlayedLine { before: chess.clone(), chess, node: 0, has_moves: false, is_dead: false };
        MovePlayer { found, how, tree: WitnessTree::new(), line, outer: Vec::new(), lines: 0, left_out: 0 }
    }

    fn play(mut self, reading: &mut GameReading) {
        for (index, &token) in self.found.tokens.iter().enumerate() {
            let refused = match token {
                MovetextToken::Open => {
                    self.open();
                    continue;
                }
                MovetextToken::Close => {
                    self.close();
                    continue;
                }
                MovetextToken::End(_) if self.outer.is_empty() && self.left_out == 0 => break,
                MovetextToken::End(_) | MovetextToken::Inner(_) => continue,
                MovetextToken::Unclosed => {
                    self.line = self.outer.drain(..).next().unwrap_or(self.line);
                    Err("something is not closed".to_owned())
                }
                _ if self.left_out > 0 || self.line.is_dead => continue,
                MovetextToken::Junk => Err("no move".to_owned()),
                MovetextToken::San(_) | MovetextToken::Coordinates { .. } => {
                    self.step(token, &mut reading.rules)
                }
            };
            let Err(reason) = refused else { continue };
            self.line.is_dead = true;
            let is_main = self.outer.is_empty();
            reading.passes_in_check |= reason == NULL_IN_CHECK && is_main;
            reading.side_line_passes |= reason == NULL_IN_CHECK && !is_main;
            if self.outer.is_empty() {
                reading.end = End::Cut(reason);
                reading.cut_at = self.found.places.get(index).copied();
                break;
            }
        }
        let main = self.outer.into_iter().next().unwrap_or(self.line);
        reading.last = packed(&main.chess);
        (reading.moves, reading.lines) = self.tree.lines();
    }

    /// Begins a side line, an alternative to the last move.
    fn open(&mut self) {
        let line = &self.line;
        // A side line replaces a move, so before the first move it is left out.
        let is_kept = self.how.variations && self.left_out == 0 && !line.is_dead && line.has_moves;
        if !is_kept || self.outer.len() >= DEPTH_MAX || self.lines >= LINES_MAX {
            self.left_out += 1;
            return;
        }
        self.lines += 1;
        let (before, node) = (line.before.clone(), self.tree.parent(line.node));
        let inner = PlayedLine { chess: before.clone(), before, node, has_moves: false, is_dead: false };
        self.outer.push(std::mem::replace(&mut self.line, inner));
    }

    /// Ends a side line.
    fn close(&mut self) {
        if self.left_out > 0 {
            self.left_out -= 1;
        } else if let Some(line) = self.outer.pop() {
            self.line = line;
        }
    }

    /// Plays a move.
    fn step(&mut self, token: MovetextToken, rules: &mut Rules) -> Result<(), String> {
        let chess = &self.line.chess;
        let (packed, after) = if token.is_null() {
            let passed = chess.clone().swap_turn().map_err(|_| NULL_IN_CHECK)?;
            (PackedMove::NULL, passed)
        } else {
            let mv = self.find(token, rules)?;
            let mut after = chess.clone();
            after.play_unchecked(mv);
            (PackedMove::from_shakmaty(mv, chess.turn()), after)
        };
        self.line.before = std::mem::replace(&mut self.line.chess, after);
        self.line.node = self.tree.push(self.line.node, packed);
        self.line.has_moves = true;
        Ok(())
    }

    /// Returns the legal move that a token denotes.
    fn find(&self, token: MovetextToken, rules: &mut Rules) -> Result<Move, String> {
        let chess = &self.line.chess;
        match token {
            MovetextToken::San(san) => {
                let found = san.to_move(chess);
                let error = match found {
                    Ok(mv) => return Ok(mv),
                    Err(error) => format!("{san}: {error}"),
                };
                let other = with_other_sign(san).filter(|_| self.how.by_rules);
                let mv = other.and_then(|san| san.to_move(chess).ok()).ok_or(error)?;
                rules.add(Rule::MoveSign);
                Ok(mv)
            }
            MovetextToken::Coordinates { from, to, promotion } => {
                by_squares(chess, from, to, promotion).ok_or_else(|| format!("{from}{to}: illegal"))
            }
            _ => Err("no move".into()),
        }
    }
}

/// Returns the move with its missing `x` added, or with a superfluous `x` removed. Returns `None` for castling, and for a pawn move
/// without a file of origin, which cannot be a capture.
fn with_other_sign(san: San) -> Option<San> {
    let San::Normal { role, file, rank, capture, to, promotion } = san else { return None };
    // A pawn that captures must name its file.
    let may_take = role != Role::Pawn || file.is_some();
    may_take.then_some(San::Normal { role, file, rank, capture: !capture, to, promotion })
}

/// Returns the legal move between two squares. A king move that is not a single step is castling.
fn by_squares(chess: &Chess, from: Square, to: Square, promotion: Option<Role>) -> Option<Move> {
    let moves = chess.legal_moves();
    let step = moves.iter().find(|mv| {
        !mv.is_castle() && mv.from() == Some(from) && mv.to() == to && mv.promotion() == promotion
    });
    let castles = |mv: &&Move| match **mv {
        Move::Castle { king, rook } => {
            let target = if rook > king { File::G } else { File::C };
            king == from
                && (to == rook
                    || to == Square::from_coords(target, king.rank()) && (to > from) == (rook > king))
        }
        _ => false,
    };
    step.or_else(|| moves.iter().find(castles)).copied()
}
