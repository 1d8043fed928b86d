//! Side lines, comments and glyphs of a game while it is read, and the numbering of its nodes.

use super::lex::ByteRange;
use super::{Annotation, AnnotationKind, SideLine};
use orbit_core::board::{PackedMove, Position};

/// The deepest nesting of side lines, counted with the line itself; deeper ones are left out.
pub const SIDE_LINE_DEPTH_MAX: u32 = 255;
/// The most side lines of a game; further ones are left out.
const LINES_MAX: usize = 65_535;
/// The most comments and glyphs of a game; further ones are left out.
const REMARKS_MAX: usize = 500_000;

/// The reason why a side line is left out, or ends early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Loss {
    /// It has no moves.
    Empty,
    /// Its first move is not legal.
    Illegal,
    /// A later move is not legal; the moves before it are kept.
    Short,
    /// There is no move before it to which it could be an alternative.
    NoMove,
    /// It is an alternative to a move that was not kept.
    CutPlace,
    /// It is nested too deeply.
    Deep,
    /// Too many side lines precede it.
    Many,
    /// It follows the result.
    AfterResult,
    /// A comment or glyph, not a side line: too many precede it.
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

    /// Returns the message about `count` side lines of a game; `why` is the reason of the first one.
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

/// A line while it is read. The first one is the main line, whose moves are kept elsewhere.
#[derive(Debug, Default)]
struct UnfinishedLine {
    /// The start of its text.
    begin: usize,
    /// The line from which it branches off.
    parent: usize,
    /// The number of the parent's moves before it.
    at: u32,
    moves: Vec<PackedMove>,
    /// The position before the last move.
    before: Option<Position>,
    /// The number of its first node, once nodes are numbered; 0 if the line is left out.
    first: u32,
}

/// The parts of a game other than its main line, while it is read.
#[derive(Debug, Default)]
pub(super) struct SideLines {
    lines: Vec<UnfinishedLine>,
    /// The lines around the current place, outermost first; `None` for a line that is left out, which can only be the last.
    open: Vec<Option<usize>>,
    /// The number of open brackets within a line that is left out.
    skipped: u64,
    /// For each remark: its line, the number of the line's moves before it, and its content.
    remarks: Vec<(usize, u32, AnnotationKind)>,
    /// For each [`Loss`]: the place of the first one, the number of moves of the main line before it, its reason, and the number
    /// of losses.
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

    /// Returns the current line; `None` in a line that is left out.
    pub(super) fn line(&self) -> Option<usize> {
        self.open.last().copied().flatten()
    }

    /// Returns the number of moves of a line; `main` is the number for the main line.
    pub(super) fn len(&self, line: usize, main: usize) -> u32 {
        if line == 0 { main as u32 } else { self.lines[line].moves.len() as u32 }
    }

    /// Begins a side line at byte `begin`, and returns the position from which it branches off, given the positions of the main
    /// line; `None` within a line that is left out. `is_cut` tells whether the word before was not kept.
    ///
    /// # Errors
    ///
    /// The reason why the side line is left out.
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
        // An alternative to the first move of a side line branches off from the same node as the side line.
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

    /// Ends the current side line. `None` if its parent is left out; `Some(Some(begin))` if it is empty and was not left out,
    /// with the byte at which it began.
    pub(super) fn close(&mut self) -> Option<Option<usize>> {
        if self.skipped > 0 {
            self.skipped -= 1;
            return None;
        }
        let line = self.open.pop_if(|line| *line != Some(0))?;
        let line = line.map(|line| &self.lines[line]);
        Some(line.filter(|line| line.moves.is_empty()).map(|line| line.begin))
    }

    /// Closes all open brackets within a line that is left out.
    pub(super) fn leave_left_out(&mut self) {
        self.skipped = 0;
    }

    /// Ends the current side line early: its moves so far are kept; without moves it is left out.
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

    /// Adds a move to a side line, and the position before it.
    pub(super) fn push(&mut self, line: usize, mv: PackedMove, before: Position) {
        let line = &mut self.lines[line];
        line.moves.push(mv);
        line.before = Some(before);
    }

    /// Records that a side line is left out or ends early.
    pub(super) fn lose(&mut self, loss: Loss, at: usize, ply: u32, why: &str) {
        let (.., count) = self.losses[loss as usize].get_or_insert_with(|| (at, ply, why.to_owned(), 0));
        *count += 1;
    }

    /// Keeps the comment or glyph at a byte, unless it is in a line that is left out.
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

    /// Numbers the nodes of a game whose main line has `main` moves, and returns its side lines and annotations in order. Passes
    /// each loss to `lost`: its place, the number of moves of the main line before it, and its reason.
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

    /// Returns the number of the node after some moves of a line, once nodes are numbered.
    pub(super) fn node(&self, line: usize, moves: u32) -> u32 {
        if line == 0 { moves } else { self.lines[line].first + moves.max(1) - 1 }
    }

    /// Returns the number of half-moves from the start of the game to the position after some moves of a line.
    pub(super) fn ply(&self, mut line: usize, mut moves: u32) -> u32 {
        while line > 0 {
            moves += self.lines[line].at;
            line = self.lines[line].parent;
        }
        moves
    }

    /// Numbers the first nodes of the side lines, and orders the lines by them: each line is followed by the lines that branch
    /// off from it, from its deepest node towards its first.
    fn number(&mut self, main: usize, out: &mut Vec<SideLine>) {
        // For each line, the side lines that branch off from it, with their indices among siblings; those that are numbered first
        // come last.
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

/// Returns the bytes of a comment, without blanks around it.
pub(super) fn comment(text: &[u8], range: ByteRange) -> AnnotationKind {
    AnnotationKind::Comment(text[range].trim_ascii().to_vec())
}
