//! The basic transforms, computed directly from their formulas on coordinates.
//!
//! A square is a pair (file, rank), both from 0 to 7. All transforms use [`BoardSymmetry::image`], or move single squares.

use shakmaty::{Bitboard, File, Rank, Square};

use orbit_core::board::{Code, PieceSet};
use orbit_query::tree::{Dirs, ListTransform, Pieces, TransformKind};

/// Returns the square on a file and a rank, or `None` unless both are in 0..=7.
pub(super) fn square(x: i32, y: i32) -> Option<Square> {
    if (0..8).contains(&x) && (0..8).contains(&y) { Some(Square::new((8 * y + x) as u32)) } else { None }
}

/// Returns the file and the rank of a square, both in 0..=7.
pub(super) fn xy(square: Square) -> (i32, i32) {
    (square as i32 % 8, square as i32 / 8)
}

/// One of the eight symmetries of the board.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BoardSymmetry {
    Identity,
    Rotate90Ccw,
    Rotate180,
    Rotate90Cw,
    ReflectRanks,
    ReflectFiles,
    ReflectMain,
    ReflectAnti,
}

impl BoardSymmetry {
    const ALL: [BoardSymmetry; 8] = [
        BoardSymmetry::Identity,
        BoardSymmetry::Rotate90Ccw,
        BoardSymmetry::Rotate180,
        BoardSymmetry::Rotate90Cw,
        BoardSymmetry::ReflectRanks,
        BoardSymmetry::ReflectFiles,
        BoardSymmetry::ReflectMain,
        BoardSymmetry::ReflectAnti,
    ];

    /// All symmetries, in the order in which `flip` makes copies (transformed filters) for evaluation. The order is that of a
    /// breadth-first search from the identity, whose steps are a quarter turn and the reflection of ranks.
    const IN_TURN: [BoardSymmetry; 8] = [
        BoardSymmetry::Identity,
        BoardSymmetry::Rotate90Ccw,
        BoardSymmetry::ReflectRanks,
        BoardSymmetry::Rotate180,
        BoardSymmetry::ReflectAnti,
        BoardSymmetry::ReflectMain,
        BoardSymmetry::Rotate90Cw,
        BoardSymmetry::ReflectFiles,
    ];

    /// Returns the name of the symmetry in CQL. The identity has no name.
    fn name(self) -> Option<&'static str> {
        Some(match self {
            BoardSymmetry::Identity => return None,
            BoardSymmetry::Rotate90Ccw => "counterclockwise90",
            BoardSymmetry::Rotate180 => "rotate180",
            BoardSymmetry::Rotate90Cw => "clockwise90",
            BoardSymmetry::ReflectRanks => "reflect_h",
            BoardSymmetry::ReflectFiles => "reflect_v",
            BoardSymmetry::ReflectMain => "reflect_a1h8",
            BoardSymmetry::ReflectAnti => "reflect_a8h1",
        })
    }

    /// Returns the image of a point. The formulas also apply to points off the board, such as the end of a step from (0, 0).
    fn image(self, (x, y): (i32, i32)) -> (i32, i32) {
        match self {
            BoardSymmetry::Identity => (x, y),
            BoardSymmetry::Rotate90Ccw => (7 - y, x),
            BoardSymmetry::Rotate180 => (7 - x, 7 - y),
            BoardSymmetry::Rotate90Cw => (y, 7 - x),
            BoardSymmetry::ReflectRanks => (x, 7 - y),
            BoardSymmetry::ReflectFiles => (7 - x, y),
            BoardSymmetry::ReflectMain => (y, x),
            BoardSymmetry::ReflectAnti => (7 - y, 7 - x),
        }
    }

    fn squares(self, mask: Bitboard) -> Bitboard {
        let mut out = Bitboard::EMPTY;
        for s in mask {
            let (x, y) = self.image(xy(s));
            out.add(square(x, y).expect("a symmetry maps the board onto itself"));
        }
        out
    }

    fn dirs(self, dirs: Dirs) -> Dirs {
        let (x0, y0) = self.image((0, 0));
        let mut out = 0;
        for (dx, dy) in dirs.steps() {
            let (x, y) = self.image((dx.into(), dy.into()));
            let step = ((x - x0) as i8, (y - y0) as i8);
            let k = Dirs::STEPS.iter().position(|&s| s == step).expect("steps are turned into steps");
            out |= 1 << k;
        }
        Dirs(out)
    }

    /// Returns true if light squares become dark. It suffices to examine the image of a1, a dark square.
    fn swaps_shades(self) -> bool {
        let (x, y) = self.image((0, 0));
        (x + y) % 2 != 0
    }
}

/// One basic transform, such as a single rotation or shift. A transform keyword makes one copy for each of its basic transforms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum BasicTransform {
    /// A symmetry of the board, applied to squares and directions.
    Turn(BoardSymmetry),
    /// A counter-clockwise rotation of directions by this many eighths of a turn.
    Rotate45(u8),
    /// Exchanges the colours, and reflects the ranks.
    SwapColors,
    /// A shift of squares, by -7..=7 files and by -7..=7 ranks.
    Shift { right: i32, up: i32 },
    /// The transforms of a CQL 5 position list, such as `(position Nd4 :shift :flip)`, applied one after the other.
    List(ListImages),
}

/// The combined effect of several CQL 5 transforms: the image of each square, and a flag that is true if colours are exchanged.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct ListImages {
    images: Vec<Bitboard>,
    swaps_colors: bool,
}

impl ListImages {
    pub(super) fn identity() -> ListImages {
        ListImages { images: Square::ALL.into_iter().map(Bitboard::from).collect(), swaps_colors: false }
    }

    /// Returns the transform that exchanges colours and reflects ranks.
    pub(super) fn colors() -> ListImages {
        ListImages { swaps_colors: true, ..ListImages::identity().then_turned(BoardSymmetry::ReflectRanks) }
    }

    /// Returns the basic transforms of a keyword in a CQL 5 position list. Symmetries are in the order of [`BoardSymmetry::ALL`].
    /// Shifts are ordered by their steps to the right, then by their steps up, both ascending.
    pub(super) fn all(transform: ListTransform) -> Vec<ListImages> {
        let turned = |list: &[BoardSymmetry]| -> Vec<ListImages> {
            list.iter().map(|&symmetry| ListImages::identity().then_turned(symmetry)).collect()
        };
        let or_not = |symmetry| turned(&[BoardSymmetry::Identity, symmetry]);
        let moved = |offsets: Vec<(i32, i32)>| -> Vec<ListImages> {
            offsets.into_iter().map(|(right, up)| ListImages::identity().then_moved(right, up)).collect()
        };
        let numbers = || -7..=7;
        match transform {
            ListTransform::Flip => turned(&BoardSymmetry::ALL),
            ListTransform::FlipHorizontal => or_not(BoardSymmetry::ReflectRanks),
            ListTransform::FlipVertical => or_not(BoardSymmetry::ReflectFiles),
            ListTransform::FlipDiagonal => or_not(BoardSymmetry::ReflectMain),
            ListTransform::FlipOffDiagonal => or_not(BoardSymmetry::ReflectAnti),
            ListTransform::FlipColor => vec![ListImages::identity(), ListImages::colors()],
            ListTransform::Shift => {
                moved(numbers().flat_map(|right| numbers().map(move |up| (right, up))).collect())
            }
            ListTransform::ShiftHorizontal => moved(numbers().map(|n| (n, 0)).collect()),
            ListTransform::ShiftVertical => moved(numbers().map(|n| (0, n)).collect()),
            ListTransform::ShiftMainDiagonal => moved(numbers().map(|n| (n, n)).collect()),
            ListTransform::ShiftOffDiagonal => moved(numbers().map(|n| (n, -n)).collect()),
            ListTransform::ShiftDiagonal => {
                moved(numbers().map(|n| (n, n)).chain(numbers().map(|n| (n, -n))).collect())
            }
        }
    }

    /// Returns the transform that applies this one and then `next`.
    pub(super) fn then(&self, next: &ListImages) -> ListImages {
        let images = self.images.iter().map(|&image| next.squares(image)).collect();
        ListImages { images, swaps_colors: self.swaps_colors != next.swaps_colors }
    }

    fn then_turned(self, symmetry: BoardSymmetry) -> ListImages {
        ListImages { images: self.images.into_iter().map(|s| symmetry.squares(s)).collect(), ..self }
    }

    /// Applies a shift of CQL 5: first its steps to the right (or left) one by one, and then its steps up (or down).
    fn then_moved(mut self, right: i32, up: i32) -> ListImages {
        for image in &mut self.images {
            for _ in 0..right.abs() {
                *image = stepped(*image, right.signum(), 0);
            }
            for _ in 0..up.abs() {
                *image = stepped(*image, 0, up.signum());
            }
        }
        self
    }

    fn squares(&self, mask: Bitboard) -> Bitboard {
        mask.into_iter().fold(Bitboard::EMPTY, |out, s| out | self.images[s as usize])
    }
}

/// Applies one step of a CQL 5 shift. A square whose image is off the board is dropped. A square on the trailing edge, the edge
/// from which the step moves away, stays in the set, and its image is added.
fn stepped(mask: Bitboard, dx: i32, dy: i32) -> Bitboard {
    let mut out = Bitboard::EMPTY;
    for s in mask {
        let (x, y) = xy(s);
        if let Some(image) = square(x + dx, y + dy) {
            out.add(image);
        }
        // No square of the board moves to this one, so it stays.
        if square(x - dx, y - dy).is_none() {
            out.add(s);
        }
    }
    out
}

impl BasicTransform {
    /// Returns the basic transforms of a keyword, in the order of declaration. Symmetries are in the order of
    /// [`BoardSymmetry::ALL`]. Shifts are ordered by their steps to the right, then by their steps up, both ascending.
    pub(super) fn all(kind: TransformKind) -> Vec<BasicTransform> {
        let turns = |list: &[BoardSymmetry]| list.iter().map(|&s| BasicTransform::Turn(s)).collect();
        let identity = BasicTransform::Turn(BoardSymmetry::Identity);
        match kind {
            TransformKind::Flip => turns(&BoardSymmetry::ALL),
            TransformKind::FlipVertical => turns(&[BoardSymmetry::Identity, BoardSymmetry::ReflectFiles]),
            TransformKind::FlipHorizontal => turns(&[BoardSymmetry::Identity, BoardSymmetry::ReflectRanks]),
            TransformKind::Rotate90 => turns(&[
                BoardSymmetry::Identity,
                BoardSymmetry::Rotate90Ccw,
                BoardSymmetry::Rotate180,
                BoardSymmetry::Rotate90Cw,
            ]),
            TransformKind::Rotate45 => (0..8).map(BasicTransform::Rotate45).collect(),
            TransformKind::FlipColor => vec![identity, BasicTransform::SwapColors],
            TransformKind::ReverseColor => vec![BasicTransform::SwapColors],
            TransformKind::Shift => (-7..=7)
                .flat_map(|right| (-7..=7).map(move |up| BasicTransform::Shift { right, up }))
                .collect(),
            TransformKind::ShiftHorizontal => {
                (-7..=7).map(|right| BasicTransform::Shift { right, up: 0 }).collect()
            }
            TransformKind::ShiftVertical => {
                (-7..=7).map(|up| BasicTransform::Shift { right: 0, up }).collect()
            }
        }
    }

    /// Returns the basic transforms of a keyword, in the order in which their copies are made for evaluation; see
    /// [`BoardSymmetry::IN_TURN`].
    pub(super) fn in_turn(kind: TransformKind) -> Vec<BasicTransform> {
        match kind {
            TransformKind::Flip => BoardSymmetry::IN_TURN.map(BasicTransform::Turn).into(),
            _ => BasicTransform::all(kind),
        }
    }

    /// Returns this transform's name in the value of `currenttransform`. A transform that changes nothing has no name.
    pub(super) fn name(&self) -> Option<String> {
        match self {
            BasicTransform::Turn(symmetry) => symmetry.name().map(String::from),
            BasicTransform::Rotate45(0)
            | BasicTransform::Shift { right: 0, up: 0 }
            | BasicTransform::List(_) => None,
            BasicTransform::Rotate45(eighths) => Some(format!("rotate45^{eighths}")),
            BasicTransform::SwapColors => Some("invertcolor reflect_h".into()),
            BasicTransform::Shift { right, up } => {
                let step = |by: i32, [less, more]: [&str; 2]| {
                    (by != 0).then(|| format!("{}^{}", if by < 0 { less } else { more }, by.unsigned_abs()))
                };
                let steps = [step(*right, ["left", "right"]), step(*up, ["down", "up"])];
                Some(steps.into_iter().flatten().collect::<Vec<_>>().join(" "))
            }
        }
    }

    /// Returns the image of a designator's squares.
    pub(super) fn squares(&self, mask: Bitboard) -> Bitboard {
        match self {
            BasicTransform::Turn(symmetry) => symmetry.squares(mask),
            BasicTransform::Rotate45(_) => mask,
            BasicTransform::SwapColors => BoardSymmetry::ReflectRanks.squares(mask),
            BasicTransform::Shift { right, up } => shifted(mask, *right, *up),
            BasicTransform::List(images) => images.squares(mask),
        }
    }

    /// Returns the image of a designator's pieces.
    pub(super) fn pieces(&self, pieces: Pieces) -> Pieces {
        if !self.swaps_colors() {
            return pieces;
        }
        let mut list = PieceSet::NONE;
        for code in (0..15).map(Code).filter(|&code| pieces.list.contains(code)) {
            let image = match code.piece() {
                Some(piece) => Code::from_piece(shakmaty::Piece { color: !piece.color, role: piece.role }),
                None => Code::EMPTY,
            };
            list = list.union(PieceSet::only(image));
        }
        Pieces { all_white: pieces.all_black, all_black: pieces.all_white, list }
    }

    pub(super) fn dirs(&self, dirs: Dirs) -> Dirs {
        match self {
            BasicTransform::Turn(symmetry) => symmetry.dirs(dirs),
            BasicTransform::SwapColors => BoardSymmetry::ReflectRanks.dirs(dirs),
            // CQL 5 has no filters with directions.
            BasicTransform::Shift { .. } | BasicTransform::List(_) => dirs,
            BasicTransform::Rotate45(eighths) => {
                let mut out = 0;
                for k in 0..8 {
                    if dirs.0 >> k & 1 != 0 {
                        out |= 1 << ((k + *eighths) % 8);
                    }
                }
                Dirs(out)
            }
        }
    }

    pub(super) fn swaps_shades(&self) -> bool {
        match self {
            BasicTransform::Turn(symmetry) => symmetry.swaps_shades(),
            BasicTransform::SwapColors => BoardSymmetry::ReflectRanks.swaps_shades(),
            BasicTransform::Shift { right, up } => (right + up) % 2 != 0,
            BasicTransform::Rotate45(_) | BasicTransform::List(_) => false,
        }
    }

    pub(super) fn swaps_colors(&self) -> bool {
        match self {
            BasicTransform::SwapColors => true,
            BasicTransform::List(images) => images.swaps_colors,
            _ => false,
        }
    }
}

/// Shifts the squares of a mask, and drops squares that leave the board. There are three exceptions: a full rank moves only
/// vertically, a full file moves only horizontally, and the full board does not move.
fn shifted(mask: Bitboard, right: i32, up: i32) -> Bitboard {
    if mask == Bitboard::FULL {
        return mask;
    }
    let mut out = Bitboard::EMPTY;
    for s in mask {
        let (x, y) = xy(s);
        if let Some(image) = square(x + right, y + up) {
            out.add(image);
        }
    }
    for n in 0..8 {
        let rank = Bitboard::from_rank(Rank::new(n as u32));
        if rank.is_subset(mask) && (0..8).contains(&(n + up)) {
            out.add(Rank::new((n + up) as u32));
        }
        let file = Bitboard::from_file(File::new(n as u32));
        if file.is_subset(mask) && (0..8).contains(&(n + right)) {
            out.add(File::new((n + right) as u32));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &str) -> Bitboard {
        names.split(',').fold(Bitboard::EMPTY, |out, part| match part.parse::<Square>() {
            Ok(square) => out.with(square),
            Err(_) => panic!("{part} is no square"),
        })
    }

    fn rank(n: u32) -> Bitboard {
        Bitboard::from_rank(Rank::new(n - 1))
    }

    fn file(n: u32) -> Bitboard {
        Bitboard::from_file(File::new(n - 1))
    }

    #[test]
    fn shifts_of_the_worked_examples() {
        assert_eq!(shifted(set("a1,d3"), 2, 3), set("c4,f6"));
        assert_eq!(shifted(rank(2) | set("c4"), 2, 3), rank(5) | set("e7"));
        assert_eq!(shifted(rank(2) | set("c4"), 7, 7), Bitboard::EMPTY);
        assert_eq!(shifted(set("a1"), 3, 0), set("d1"));
        assert_eq!(shifted(rank(2) | set("c4"), 3, 0), rank(2) | set("f4"));
        assert_eq!(shifted(set("d2,c4"), 7, 0), Bitboard::EMPTY);
        assert_eq!(shifted(Bitboard::FULL, 7, -7), Bitboard::FULL);
        assert_eq!(shifted(file(1), 3, 5), file(4));
        assert_eq!(shifted(file(1) | set("h1"), 1, 7), file(2));
        let no_h2 = rank(2).without(Square::H2);
        assert_eq!(shifted(no_h2, -1, 0), set("a2,b2,c2,d2,e2,f2"));
    }

    /// Computes a shift one step at a time, for checking the direct computation. A sideways step leaves full ranks unchanged, and a
    /// step up or down leaves full files unchanged.
    fn stepwise(mask: Bitboard, right: i32, up: i32) -> Bitboard {
        let mut out = mask;
        for _ in 0..right.abs() {
            out = step(out, right.signum(), 0);
        }
        for _ in 0..up.abs() {
            out = step(out, 0, up.signum());
        }
        out
    }

    fn step(mask: Bitboard, dx: i32, dy: i32) -> Bitboard {
        let mut still = Bitboard::EMPTY;
        for n in 1..=8 {
            let line = if dx != 0 { rank(n) } else { file(n) };
            if line.is_subset(mask) {
                still |= line;
            }
        }
        let mut out = still;
        for s in mask & !still {
            let (x, y) = xy(s);
            if let Some(image) = square(x + dx, y + dy) {
                out.add(image);
            }
        }
        out
    }

    #[test]
    fn closed_form_is_repeated_unit_steps_on_one_axis() {
        let mut random = fastrand::Rng::with_seed(1);
        for round in 0..2000 {
            let mut mask = Bitboard(random.u64(..) & random.u64(..) & random.u64(..));
            // Half of the masks contain full ranks.
            if round % 2 == 0 {
                mask |= rank(random.u32(1..=8));
            }
            for n in -7..=7 {
                assert_eq!(shifted(mask, n, 0), stepwise(mask, n, 0), "{mask:?} right {n}");
            }
        }
    }

    #[test]
    fn symmetries_move_squares_as_documented() {
        let turn = |s: BoardSymmetry, name: &str| s.squares(set(name));
        assert_eq!(turn(BoardSymmetry::Rotate90Ccw, "a2"), set("g1"));
        assert_eq!(turn(BoardSymmetry::Rotate180, "a2"), set("h7"));
        assert_eq!(turn(BoardSymmetry::Rotate90Cw, "a2"), set("b8"));
        assert_eq!(turn(BoardSymmetry::ReflectRanks, "a2"), set("a7"));
        assert_eq!(turn(BoardSymmetry::ReflectFiles, "a2"), set("h2"));
        assert_eq!(turn(BoardSymmetry::ReflectMain, "a2"), set("b1"));
        assert_eq!(turn(BoardSymmetry::ReflectAnti, "a2"), set("g8"));
    }

    #[test]
    fn directions_turn_with_the_board() {
        let (right, northeast, up, left, down) = (Dirs(1), Dirs(2), Dirs(4), Dirs(16), Dirs(64));
        assert_eq!(BoardSymmetry::Rotate90Ccw.dirs(right), up);
        assert_eq!(BoardSymmetry::Rotate90Cw.dirs(right), down);
        assert_eq!(BoardSymmetry::ReflectFiles.dirs(right), left);
        assert_eq!(BoardSymmetry::ReflectRanks.dirs(right), right);
        assert_eq!(BoardSymmetry::ReflectMain.dirs(right), up);
        assert_eq!(BoardSymmetry::ReflectAnti.dirs(right), down);
        assert_eq!(BoardSymmetry::ReflectMain.dirs(northeast), northeast);
        assert_eq!(BasicTransform::Rotate45(1).dirs(right), northeast);
        assert_eq!(BasicTransform::Rotate45(7).dirs(right), Dirs(128));
        assert_eq!(BasicTransform::SwapColors.dirs(up), down);
    }

    #[test]
    fn shades_swap_when_one_axis_is_mirrored() {
        let swapping: Vec<BoardSymmetry> =
            BoardSymmetry::ALL.into_iter().filter(|s| s.swaps_shades()).collect();
        assert_eq!(
            swapping,
            [
                BoardSymmetry::Rotate90Ccw,
                BoardSymmetry::Rotate90Cw,
                BoardSymmetry::ReflectRanks,
                BoardSymmetry::ReflectFiles
            ]
        );
        assert!(BasicTransform::Shift { right: 1, up: 2 }.swaps_shades());
        assert!(!BasicTransform::Shift { right: -1, up: 1 }.swaps_shades());
        assert!(BasicTransform::SwapColors.swaps_shades());
    }

    #[test]
    fn keywords_have_the_documented_sizes() {
        let size = |kind| BasicTransform::all(kind).len();
        assert_eq!(size(TransformKind::Flip), 8);
        assert_eq!(size(TransformKind::FlipVertical), 2);
        assert_eq!(size(TransformKind::FlipHorizontal), 2);
        assert_eq!(size(TransformKind::Rotate90), 4);
        assert_eq!(size(TransformKind::Rotate45), 8);
        assert_eq!(size(TransformKind::FlipColor), 2);
        assert_eq!(size(TransformKind::ReverseColor), 1);
        assert_eq!(size(TransformKind::Shift), 225);
        assert_eq!(size(TransformKind::ShiftHorizontal), 15);
        assert_eq!(size(TransformKind::ShiftVertical), 15);
    }

    /// Checks the examples in the CQL 5 manual for transforms of position lists.
    #[test]
    fn steps_of_cql_5_leave_squares_at_the_edge_behind() {
        let moved = |names: &str, right, up| ListImages::identity().then_moved(right, up).squares(set(names));
        assert_eq!(moved("d4", 1, 0), set("e4"));
        assert_eq!(moved("c2,h2", 1, 0), set("d2"));
        assert_eq!(moved("a2,c2,h2", 1, 0), set("a2,b2,d2"));
        assert_eq!(moved("a4", 3, 0), set("a4,b4,c4,d4"));
        assert_eq!(moved("b3,c4", 2, 1), set("d4,e5"));
        assert_eq!(moved("a1,a8,h1,h8", 0, 1), set("a1,a2,h1,h2"));
        assert_eq!(moved("h8", -1, 0), set("g8,h8"));
        assert_eq!(moved("a1", 1, 1), set("a1,a2,b1,b2"));
        assert_eq!(ListImages::colors().squares(set("a2,c2")), set("a7,c7"));
    }
}
