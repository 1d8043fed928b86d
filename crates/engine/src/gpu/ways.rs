//! Chooses how the device computes columns from the results of a stage. For each position, a column contains a fact
//! about earlier or later positions of the game.
//!
//! A *stage* is a part of a program that runs at all positions before the rest of the program; the rest reads columns
//! that are computed from the stage's masks and words. Each column is computed by one shader from masks and words that
//! are on the device, one game at a time. The games must have no side lines (variations). If there is no shader for one
//! of a kernel's columns, the processor computes all of its columns.

use super::walks;
use orbit_plan::{Carried, ColumnOperand, EdgeTest, GameOp, Leaf, Made, StageCarry, Walk};

const GAMES: &str = orbit_shaders::GAMES;
const CARRY: &str = orbit_shaders::CARRY;
const SHIFT: &str = orbit_shaders::SHIFT;

/// A way to compute a per-position column that a stage (a part of a program that runs before the rest) propagates along
/// games.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum ColumnWay<'a> {
    /// Combines the words of a position with the words of all later positions of its game or, if the flag is true, of
    /// all earlier positions.
    Along(Carried, bool),
    /// Moves each bit of a mask to the position before its own (the parent).
    MaskToParent,
    /// Moves each bit of a mask to the positions after its own (the children).
    MaskToChild,
    /// For each position, the word of the next position if all masks are true there; otherwise the given word.
    WordToParent(u64),
    /// For each position, the value of a mask at another position of the game. The word of each position contains the
    /// number of that other position.
    MaskFromNumber,
    /// A condition on the move that leads to a position. The kernel that computes the stage's masks evaluates it at the
    /// position before the move.
    Edge(EdgeTest),
    /// If the flag is false, the mask of the positions at which an automaton finds a walk (a sequence of positions). If
    /// it is true, the values of these walks.
    Walk(&'a Walk, bool),
    /// Computed by the processor and uploaded, because the column depends only on the moves of games.
    Told,
}

impl ColumnWay<'_> {
    /// Returns the way to compute a per-position column on the device in games without side lines, or `None` if there
    /// is none.
    pub(super) fn from_carry(carry: &StageCarry) -> Option<ColumnWay<'_>> {
        let operands = &carry.operands[..];
        let op = match &carry.what {
            Made::Along { what, back } => return Some(ColumnWay::Along(*what, *back)),
            Made::Game(op) => op,
        };
        // A condition on a move is evaluated in the kernel that computes the stage's results, before they are
        // propagated. So it cannot read columns that the stage propagates.
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

    /// Returns true if the device computes the per-position column, and false if the processor does.
    pub(super) fn is_on_device(self) -> bool {
        self != ColumnWay::Told
    }

    /// Returns the operands that the shader reads as masks, and the operand that it reads as a word.
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

    /// Returns the shader that computes the per-position column. The shader reads the mask operands of the column that are
    /// not constant or, for a condition on moves, the results of the condition.
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
