//! The ways in which the device computes the columns that a stage carries.
//!
//! Each column is computed by one shader from masks and words that are on the device, a game at a time, so games must
//! have no side lines. If a column has no way here, the processor computes it, and then all other columns of the kernel
//! as well.

use super::walks;
use orbit_plan::{Carried, ColumnOperand, EdgeTest, GameOp, Leaf, Made, StageCarry, Walk};

const GAMES: &str = orbit_shaders::GAMES;
const CARRY: &str = orbit_shaders::CARRY;
const SHIFT: &str = orbit_shaders::SHIFT;

/// One way to make a column.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum ColumnWay<'a> {
    /// Combined along games: the words of a position and of those after it or, with `true`, of those before it.
    Along(Carried, bool),
    /// The mask of children, at their parents.
    MaskToParent,
    /// The mask of parents, at their children.
    MaskToChild,
    /// A word of the children at which masks hold, at their parents; the given word elsewhere.
    WordToParent(u64),
    /// A mask at the positions that numbers name.
    MaskFromNumber,
    /// A test of the moves that leave positions, which the kernel of the stage's masks answers, at the positions that
    /// they lead to.
    Edge(EdgeTest),
    /// The positions at which an automaton finds a walk; with `true`, the value of the walk.
    Walk(&'a Walk, bool),
    /// Computed by the processor from the moves of games alone, whatever a stage finds, and uploaded.
    Told,
}

impl ColumnWay<'_> {
    /// Returns the way to compute a column in games without side lines; `None` if the device cannot compute it.
    pub(super) fn from_carry(carry: &StageCarry) -> Option<ColumnWay<'_>> {
        let operands = &carry.operands[..];
        let op = match &carry.what {
            Made::Along { what, back } => return Some(ColumnWay::Along(*what, *back)),
            Made::Game(op) => op,
        };
        // A test is asked beside what the stage finds.
        let is_beside = |operand: &ColumnOperand| !matches!(operand, ColumnOperand::Carried(_));
        Some(match op {
            GameOp::AnyChild => ColumnWay::MaskToParent,
            GameOp::MaskOfParent => ColumnWay::MaskToChild,
            GameOp::MaskAt => ColumnWay::MaskFromNumber,
            GameOp::CountChildren | GameOp::UnionChildren => ColumnWay::WordToParent(0),
            GameOp::FirstChild => match operands {
                [.., ColumnOperand::Constant(none)] => ColumnWay::WordToParent(*none),
                _ => return None,
            },
            GameOp::Entered(test) if operands.iter().all(is_beside) => ColumnWay::Edge(*test),
            GameOp::Leaf(Leaf::Arrived(only)) => ColumnWay::Edge(EdgeTest { only: *only, ..EdgeTest::ANY }),
            GameOp::Leaf(Leaf::NullMove) => ColumnWay::Edge(EdgeTest { null: true, ..EdgeTest::ANY }),
            GameOp::Leaf(_) => ColumnWay::Told,
            GameOp::Own { .. } | GameOp::Numbered
                if operands.iter().all(|operand| matches!(operand, ColumnOperand::Constant(_))) =>
            {
                ColumnWay::Told
            }
            GameOp::AnyWalk(walk) if walks::fits(walk) => ColumnWay::Walk(walk, false),
            GameOp::Walk(walk) if walks::has_numbers(walk) => ColumnWay::Walk(walk, true),
            _ => return None,
        })
    }

    /// Returns whether the device computes the column from data that is already there.
    pub(super) fn is_on_device(self) -> bool {
        self != ColumnWay::Told
    }

    /// The operands that it reads as masks, and the one that it reads as a word.
    pub(super) fn operands(self, carry: &StageCarry) -> (&[ColumnOperand], Option<ColumnOperand>) {
        let all = &carry.operands[..];
        match (self, &carry.what) {
            (ColumnWay::Along(what, _), _) if what.of_masks() => (all, None),
            (ColumnWay::Along(..), _) | (_, Made::Game(GameOp::UnionChildren)) => (&[], all.first().copied()),
            (_, Made::Game(GameOp::CountChildren)) => (all, Some(ColumnOperand::Constant(1))),
            (_, Made::Game(GameOp::FirstChild)) => (&all[..1], Some(all[1])),
            (ColumnWay::MaskFromNumber, _) => (&all[1..], all.first().copied()),
            (ColumnWay::Edge(_) | ColumnWay::Told, _) => (&[], None),
            _ => (all, None),
        }
    }

    /// The shader. The masks that it reads are those of its operands that are not the same everywhere, or the answers to
    /// its test.
    pub(super) fn shader(self, carry: &StageCarry) -> String {
        let mut places = 0..;
        let mut place = || {
            let place = places.next().expect("it does not end");
            format!("masks[{place}u * making.segments + segment]")
        };
        let masks: Vec<String> = match self {
            ColumnWay::Edge(_) => vec![place()],
            _ => {
                let word = |operand: &ColumnOperand| match operand {
                    ColumnOperand::Constant(0) => "0u".into(),
                    ColumnOperand::Constant(_) => "EVERY".into(),
                    _ => place(),
                };
                self.operands(carry).0.iter().map(word).collect()
            }
        };
        let of_all = || {
            let all = if masks.is_empty() { "EVERY".into() } else { masks.join(" & ") };
            format!("fn mask_of(segment: u32) -> u32 {{\n    return {all};\n}}\n\n")
        };
        let shift = |place: &str, otherwise: u64| {
            let (low, high) = (otherwise as u32, otherwise >> 32);
            let otherwise = format!("const OTHERWISE = vec2<u32>({low}u, {high}u);\n");
            format!("const WHERE = {place};\n{otherwise}\n{}{GAMES}\n{SHIFT}", of_all())
        };
        match self {
            ColumnWay::Along(what, back) => {
                let what = match what {
                    Carried::Any => "ANY",
                    Carried::Count => "COUNT",
                    Carried::Nearest => "NEAREST",
                    Carried::Union => "UNION",
                };
                format!("const WHAT = {what};\nconst BACK = {back};\n\n{}{GAMES}\n{CARRY}", of_all())
            }
            ColumnWay::MaskToParent => shift("MASK_TO_PARENT", 0),
            ColumnWay::MaskToChild | ColumnWay::Edge(_) => shift("MASK_TO_CHILD", 0),
            ColumnWay::MaskFromNumber => shift("MASK_FROM_NUMBER", 0),
            ColumnWay::WordToParent(otherwise) => shift("WORD_TO_PARENT", otherwise),
            ColumnWay::Walk(walk, numbers) => format!("{GAMES}\n{}", walks::shader(walk, &masks, numbers)),
            ColumnWay::Told => unreachable!("the processor makes it"),
        }
    }
}
