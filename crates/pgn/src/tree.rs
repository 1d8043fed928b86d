//! Collects the side lines, comments and glyphs of a game while it is being read, and numbers its nodes (positions).

use super::lex::ByteRange;
use super::{Annotation, AnnotationKind, SideLine};
use orbit_core::board::{PackedMove, Position};

/// The maximum nesting depth of side lines. A side line of the main line has depth 1. Deeper lines are left out.
pub const SIDE_LINE_DEPTH_MAX: u32 = 255;
/// The maximum number of side lines in a game. Further lines are left out.
const LINES_MAX: usize = 65_535;
/// The maximum number of comments and glyphs in a game. Further ones are left out.
const REMARKS_MAX: usize = 500_000;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Loss {
    /// The side line has no moves.
    Empty,
    /// The first move of the side line is not legal.
    Illegal,
    /// A later move of the side line is not legal. The moves before it are kept.
    Short,
    /// The side line precedes all moves, so there is no move that it could replace.
    NoMove,
    /// The side line is an alternative to a move that was not kept.
    CutPlace,
    /// The side line is nested too deeply.
    Deep,
    /// The game already has the maximum number of side lines.
    Many,
    /// The side line follows the result of the game.
    AfterResult,
    /// The game already has the maximum number of comments and glyphs, so a comment or glyph is left out.
    Remarks,
}

impl Loss {
    const ALL: [Loss; 9] = [
        Loss::Empty,
        Loss::Illegal,
        Loss::Short,
        Loss::NoMove,
        Loss::CutPlace,
        Loss::Deep,
        Loss::Many,
        Loss::AfterResult,
        Loss::Remarks,
    ];

    /// Returns the message about `count` side lines of a game that were lost for this reason. `why` explains the first loss.
    fn reason(self, count: u32, why: &str) -> String {
        let lines = match count {
            1 => String::from("a side line is"),
            _ => format!("{count} side lines are"),
        };
        match self {
            Loss::Empty => format!("{lines} left out: without moves"),
            Loss::Illegal => format!("{lines} left out: {why}"),
            Loss::Short => format!("{lines} cut: {why}"),
            Loss::NoMove => format!("{lines} left out: before the first move"),
            Loss::CutPlace => format!("{lines} left out: at a move that was not kept"),
            Loss::Deep => format!("{lines} left out: more than {SIDE_LINE_DEPTH_MAX} deep"),
            Loss::Many => format!("{lines} left out: more than 65,535 in a game"),
            Loss::AfterResult => format!("{lines} left out: behind the result"),
            Loss::Remarks => {
                format!("comments and glyphs are left out: {count} beyond the first 500,000 of a game")
            }
        }
    }
}

const _: () = assert!(LINES_MAX == 65_535 && REMARKS_MAX == 500_000, "as messages say");

/// A line that is being read. The line with the index 0 is the main line, whose moves are in [`Game`](super::Game).
#[derive(Debug, Default)]
struct UnfinishedLine {
    /// The offset in the text at which the line begins.
    begin: usize,
    /// The index of the line from which this line branches off.
    parent: usize,
    /// The number of moves of the parent line before the position at which this line branches off.
    at: u32,
    moves: Vec<PackedMove>,
    /// The position before the last move of the line.
    before: Option<Position>,
    /// The number of the line's first node (position), or 0 if the line is left out. It is set when the nodes are numbered.
    first: u32,
}

/// The side lines, comments and glyphs of a game while it is being read.
#[derive(Debug, Default)]
pub(super) struct SideLines {
    lines: Vec<UnfinishedLine>,
    /// The indices of the lines that contain the current place in the text, outermost first. The last index is `None` if the
    /// current line is left out.
    open: Vec<Option<usize>>,
    /// If the current line is left out: the number of side lines inside it that are still open.
    skipped: u64,
    /// The comments and glyphs, each with its line, the number of moves of this line before it, and its content.
    remarks: Vec<(usize, u32, AnnotationKind)>,
    /// For each kind of [`Loss`]: the offset of the first loss, the number of main-line moves before it, its explanation, and the
    /// number of losses.
    losses: [Option<(usize, u32, String, u32)>; Loss::ALL.len()],
}

impl SideLines {
    /// Resets the value for the next game.
    pub(super) fn clear(&mut self) {
        self.lines.clear();
        self.lines.push(UnfinishedLine::default());
        self.open.clear();
        self.open.push(Some(0));
        self.skipped = 0;
        self.remarks.clear();
        self.losses = Default::default();
    }

    /// Returns the index of the current line, or `None` if the current line is left out.
    pub(super) fn line(&self) -> Option<usize> {
        self.open.last().copied().flatten()
    }

    /// Returns the number of moves of a line. `main` is the number of moves of the main line, which is not stored here.
    pub(super) fn len(&self, line: usize, main: usize) -> u32 {
        if line == 0 { main as u32 } else { self.lines[line].moves.len() as u32 }
    }

    /// Begins a side line at byte `begin`. Returns the position from which it branches off, or `None` if the enclosing line is left
    /// out. `is_cut` means that the token before the line was not kept. `main` contains the positions of the main line.
    ///
    /// # Errors
    ///
    /// Returns the reason why the side line is left out.
    pub(super) fn open(
        &mut self,
        begin: usize,
        is_cut: bool,
        main: &[Position],
    ) -> Option<Result<Position, Loss>> {
        let Some(around) = self.line() else {
            self.skipped += 1;
            return None;
        };
        let moves = self.len(around, main.len().saturating_sub(1));
        // An alternative to the first move of a side line branches off from the same node as that side line.
        let (parent, at) = match (around, moves) {
            (1.., 1) => (self.lines[around].parent, self.lines[around].at),
            _ => (around, moves.wrapping_sub(1)),
        };
        let before = if around == 0 { main.get(at as usize).copied() } else { self.lines[around].before };
        let opened = match before {
            _ if is_cut => Err(Loss::CutPlace),
            _ if self.open.len() > SIDE_LINE_DEPTH_MAX as usize => Err(Loss::Deep),
            _ if self.lines.len() > LINES_MAX => Err(Loss::Many),
            None => Err(Loss::NoMove),
            Some(position) => Ok(position),
        };
        self.open.push(opened.is_ok().then_some(self.lines.len()));
        if opened.is_ok() {
            self.lines.push(UnfinishedLine { begin, parent, at, ..UnfinishedLine::default() });
        }
        Some(opened)
    }

    /// Ends the current side line. Returns `None` if the enclosing line is also left out. Returns `Some(Some(begin))` if the line
    /// is empty but was not left out; `begin` is the byte at which it began.
    pub(super) fn close(&mut self) -> Option<Option<usize>> {
        if self.skipped > 0 {
            self.skipped -= 1;
            return None;
        }
        let line = self.open.pop_if(|line| *line != Some(0))?;
        let line = line.map(|line| &self.lines[line]);
        Some(line.filter(|line| line.moves.is_empty()).map(|line| line.begin))
    }

    /// Closes all parentheses that are still open inside a line that is left out.
    pub(super) fn leave_left_out(&mut self) {
        self.skipped = 0;
    }

    /// Ends the current side line early and keeps its moves so far. A line without moves is left out. Returns the kind of loss.
    pub(super) fn cut(&mut self) -> Loss {
        match self.line() {
            Some(line) if !self.lines[line].moves.is_empty() => Loss::Short,
            _ => {
                if let Some(last) = self.open.last_mut() {
                    *last = None;
                }
                Loss::Illegal
            }
        }
    }

    /// Adds a move to a side line. `before` is the position in which the move is played.
    pub(super) fn push(&mut self, line: usize, mv: PackedMove, before: Position) {
        let line = &mut self.lines[line];
        line.moves.push(mv);
        line.before = Some(before);
    }

    /// Records that a side line, a comment or a glyph is lost: left out, or ended early.
    pub(super) fn lose(&mut self, loss: Loss, at: usize, ply: u32, why: &str) {
        let (.., count) = self.losses[loss as usize].get_or_insert_with(|| (at, ply, why.to_owned(), 0));
        *count += 1;
    }

    /// Records a comment or glyph at byte `at`, unless the current line is left out. `main` is the number of moves of the main line
    /// so far.
    pub(super) fn remark(&mut self, at: usize, kind: AnnotationKind, main: usize) {
        if self.remarks.len() == REMARKS_MAX {
            return self.lose(Loss::Remarks, at, main as u32, "");
        }
        if let Some(line) = self.line() {
            let moves = self.len(line, main);
            let kind = match kind {
                AnnotationKind::Comment(text) if line > 0 && moves == 0 => AnnotationKind::Before(text),
                kind => kind,
            };
            self.remarks.push((line, moves, kind));
        }
    }

    /// Numbers the nodes (positions) of a game, and returns its side lines and annotations, ordered by node. `main` is the number
    /// of moves of the main line. Calls `lost` once for each kind of loss, with the offset of the first loss, the number of
    /// main-line moves before it, and the reason.
    pub(super) fn finish(
        &mut self,
        main: usize,
        lines: &mut Vec<SideLine>,
        annotations: &mut Vec<Annotation>,
        mut lost: impl FnMut(usize, u32, String),
    ) {
        self.number(main, lines);
        for (line, moves, kind) in std::mem::take(&mut self.remarks) {
            let of = &self.lines[line];
            if line == 0 || of.first > 0 {
                annotations.push(Annotation { node: self.node(line, moves), kind });
            }
        }
        annotations.sort_by_key(|annotation| annotation.node);
        for loss in Loss::ALL {
            if let Some((at, ply, why, count)) = self.losses[loss as usize].take() {
                lost(at, ply, loss.reason(count, &why));
            }
        }
    }

    /// Returns the number of the node (position) after `moves` moves of a line. The nodes must have been numbered.
    pub(super) fn node(&self, line: usize, moves: u32) -> u32 {
        if line == 0 { moves } else { self.lines[line].first + moves.max(1) - 1 }
    }

    /// Returns the number of half-moves from the start of the game to the position after `moves` moves of a line.
    pub(super) fn ply(&self, mut line: usize, mut moves: u32) -> u32 {
        while line > 0 {
            moves += self.lines[line].at;
            line = self.lines[line].parent;
        }
        moves
    }

    /// Numbers the first node (position) of each side line, and appends the side lines to `out` in the order of these numbers. Each
    /// line is directly followed by the lines that branch off from it: lines from its last node come first, lines from its first
    /// node last.
    fn number(&mut self, main: usize, out: &mut Vec<SideLine>) {
        // For each line, `leaving` contains the side lines that branch off from it, each with its number among the side lines of
        // its node. Each list is a stack: its last line is numbered first.
        let mut leaving = vec![Vec::<(usize, u32)>::new(); self.lines.len()];
        for (line, of) in self.lines.iter().enumerate().skip(1).filter(|(_, of)| !of.moves.is_empty()) {
            let elder = leaving[of.parent].last().filter(|&&(elder, _)| self.lines[elder].at == of.at);
            let sibling = elder.map_or(1, |(_, place)| place + 1);
            leaving[of.parent].push((line, sibling));
        }
        for lines in &mut leaving {
            lines.sort_by_key(|&(line, sibling)| (self.lines[line].at, std::cmp::Reverse(sibling)));
        }
        let mut next = main as u32 + 1;
        let mut waiting = std::mem::take(&mut leaving[0]);
        while let Some((line, sibling)) = waiting.pop() {
            let UnfinishedLine { parent, at, .. } = self.lines[line];
            self.lines[line].first = next;
            next += self.lines[line].moves.len() as u32;
            let parent = self.node(parent, at);
            out.push(SideLine { parent, sibling, moves: std::mem::take(&mut self.lines[line].moves) });
            waiting.append(&mut leaving[line]);
        }
    }
}

/// Returns the comment in a range of the text, without leading and trailing blanks.
pub(super) fn comment(text: &[u8], range: ByteRange) -> AnnotationKind {
    AnnotationKind::Comment(text[range].trim_ascii().to_vec())
}
