//! The movetext of a game as tokens: its moves and, if the database has them, side lines, comments and annotation glyphs.

use std::ops::Range;

use orbit_core::board::{PackedMove, Position};
use orbit_core::game::MoveNumbers;
use orbit_pgn::{Annotation, AnnotationKind, Outcome};
use orbit_reel::{GameRow, LineRow};

/// A token of movetext.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MoveToken<'a> {
    /// The start of a side line, which is an alternative to the preceding move.
    Open,
    /// The number of the next move: `24.`, or `23...` where Black's move needs one.
    Number(String),
    /// A move in SAN, and the node (position number) to which it leads.
    Move(String, u32),
    /// A numeric annotation glyph.
    Nag(u16),
    /// A comment without its braces, as bytes in the encoding of the source.
    Comment(&'a [u8]),
    /// The end of a side line.
    Close,
    /// The result at the end.
    End(Outcome),
}

/// Returns the movetext of a game. Parsing it yields the same tree of moves.
pub fn movetext<'a>(game: &GameRow<'a>) -> Vec<MoveToken<'a>> {
    let mut leaving: Vec<(u32, usize)> = game.lines().map(|line| (line.parent(), line.index())).collect();
    leaving.sort_unstable();
    let mut writer = MovetextWriter {
        numbers: MoveNumbers::from_header(game),
        annotations: game.annotations(),
        out: Vec::new(),
        anew: false,
    };
    writer.annotate(0, |_| true);
    let mut open = vec![LineFrame::new(None, game, game.start(), 0)];
    // A loop is used because recursion could overflow the stack if side lines are deeply nested.
    while let Some(frame) = open.last_mut() {
        if let Some(at) = frame.aside.next() {
            let side = LineFrame::new(Some(game.line(leaving[at].1)), game, frame.before, frame.ply - 1);
            writer.push(MoveToken::Open);
            open.push(side);
        } else if let Some(mv) = frame.moves.next() {
            let (node, is_edge) = frame.step(mv);
            writer.mv(frame, mv, node);
            if !is_edge {
                let first = leaving.partition_point(|(parent, _)| parent + 1 < node);
                frame.aside = first..leaving.partition_point(|(parent, _)| *parent < node);
            }
        } else {
            if frame.line.is_some() {
                writer.push(MoveToken::Close);
            }
            open.pop();
        }
    }
    writer.out.push(MoveToken::End(game.outcome()));
    writer.out
}

/// A line whose moves are being written.
struct LineFrame<'a> {
    line: Option<LineRow<'a>>,
    moves: std::iter::Chain<
        std::option::IntoIter<PackedMove>,
        std::iter::Copied<std::slice::Iter<'a, PackedMove>>,
    >,
    /// The node to which the next move leads.
    next: u32,
    ply: u32,
    /// The positions before and after the last move.
    before: Position,
    position: Position,
    /// The side lines that are alternatives to the last move, as a range in the sorted list of side lines.
    aside: Range<usize>,
}

impl<'a> LineFrame<'a> {
    fn new(line: Option<LineRow<'a>>, game: &GameRow<'a>, position: Position, ply: u32) -> LineFrame<'a> {
        let (next, moves) = line.map_or((1, game.moves()), |line| (line.first_node(), line.moves()));
        let moves = line.map(|line| line.edge()).into_iter().chain(moves.iter().copied());
        LineFrame { line, moves, next, ply, before: position, position, aside: 0..0 }
    }

    /// Plays a move. Returns the node to which it leads, and whether it is the first move of a side line.
    fn step(&mut self, mv: PackedMove) -> (u32, bool) {
        let node = self.next;
        self.before = self.position;
        self.position.play(mv);
        self.next += 1;
        self.ply += 1;
        (node, self.line.is_some_and(|line| line.first_node() == node))
    }
}

struct MovetextWriter<'a> {
    numbers: MoveNumbers,
    annotations: &'a [Annotation],
    out: Vec<MoveToken<'a>>,
    /// True if a token other than a glyph has been written since the last move. The next move of Black then needs a number, such as
    /// `23...`.
    anew: bool,
}

impl<'a> MovetextWriter<'a> {
    fn push(&mut self, token: MoveToken<'a>) {
        self.anew |= !matches!(token, MoveToken::Nag(_));
        self.out.push(token);
    }

    /// Writes the last move that was played in a line.
    fn mv(&mut self, frame: &LineFrame, mv: PackedMove, node: u32) {
        let before = self.before(node);
        self.annotate(node, |index| index < before);
        let mut label = Vec::new();
        self.numbers.push_label(frame.ply, &mut label);
        let number = self.numbers.before_move(frame.ply - 1);
        let anew = || String::from_utf8_lossy(&label).into_owned();
        let number = number.or_else(|| self.anew.then(anew));
        self.out.extend(number.map(MoveToken::Number));
        self.out.push(MoveToken::Move(mv.to_san(&frame.before), node));
        self.anew = false;
        self.annotate(node, |index| index >= before);
    }

    /// Returns the number of a node's annotations that are written before its move.
    fn before(&self, node: u32) -> usize {
        let last =
            self.at_node(node).iter().rposition(|found| matches!(found.kind, AnnotationKind::Before(_)));
        last.map_or(0, |last| last + 1)
    }

    fn at_node(&self, node: u32) -> &'a [Annotation] {
        let all = self.annotations;
        &all[all.partition_point(|found| found.node < node)..all.partition_point(|found| found.node <= node)]
    }

    fn annotate(&mut self, node: u32, test: impl Fn(usize) -> bool) {
        for (_, annotation) in self.at_node(node).iter().enumerate().filter(|(index, _)| test(*index)) {
            self.push(match &annotation.kind {
                AnnotationKind::Before(text) | AnnotationKind::Comment(text) => MoveToken::Comment(text),
                AnnotationKind::Nag(nag) => MoveToken::Nag(*nag),
            });
        }
    }
}
