//! How the device makes what a stage carries.
//!
//! Each column is made by one shader from masks and words that lie on the device, a game at a time, so games must have no
//! side lines. What is not here the processor makes, and then it makes all that the kernel carries.

use super::walks;
use orbit_plan::{Carried, EdgeTest, GameOp, Leaf, Made, Operand, StageCarry, Walk};

const GAMES: &str = orbit_shaders::GAMES;
const CARRY: &str = orbit_shaders::CARRY;
const SHIFT: &str = orbit_shaders::SHIFT;

/// One way to make a column.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Way<'a> {
    /// Gathered along games, from the positions behind or with `true` from those before.
    Along(Carried, bool),
    /// The mask of children, at their parents.
    MaskToParent,
    /// The mask of parents, at their children.
    MaskToChild,
    /// A word of the children at which masks hold, at their parents; elsewhere this one.
    WordToParent(u64),
    /// A mask at the positions that numbers name.
    MaskFromNumber,
    /// A test of the moves that leave positions, which the kernel of the stage's masks answers, at the positions that
    /// they lead to.
    Edge(EdgeTest),
    /// Where an automaton finds a walk, or with `true` its value.
    Walk(&'a Walk, bool),
    /// Told by the moves of games alone: the processor makes it whatever a stage finds, and it goes up.
    Told,
}

impl Way<'_> {
    /// How something is made in games without side lines; `None` if the device cannot.
    pub(super) fn of(carry: &StageCarry) -> Option<Way<'_>> {
        let operands = &carry.operands[..];
        let op = match &carry.what {
            Made::Along { what, back } => return Some(Way::Along(*what, *back)),
            Made::Game(op) => op,
        };
        // A test is asked beside what the stage finds.
        let is_beside = |operand: &Operand| !matches!(operand, Operand::Carried(_));
        Some(match op {
            GameOp::AnyChild => Way::MaskToParent,
            GameOp::MaskOfParent => Way::MaskToChild,
            GameOp::MaskAt => Way::MaskFromNumber,
            GameOp::CountChildren | GameOp::UnionChildren => Way::WordToParent(0),
            GameOp::FirstChild => match operands {
                [.., Operand::Constant(none)] => Way::WordToParent(*none),
                _ => return None,
            },
            GameOp::Entered(test) if operands.iter().all(is_beside) => Way::Edge(*test),
            GameOp::Leaf(Leaf::Arrived(only)) => Way::Edge(EdgeTest { only: *only, ..EdgeTest::ANY }),
            GameOp::Leaf(Leaf::NullMove) => Way::Edge(EdgeTest { null: true, ..EdgeTest::ANY }),
            GameOp::Leaf(_) => Way::Told,
            GameOp::Own { .. } | GameOp::Numbered
                if operands.iter().all(|operand| matches!(operand, Operand::Constant(_))) =>
            {
                Way::Told
            }
            GameOp::AnyWalk(walk) if walks::fits(walk) => Way::Walk(walk, false),
            GameOp::Walk(walk) if walks::has_numbers(walk) => Way::Walk(walk, true),
            _ => return None,
        })
    }

    /// Whether the device makes it, of what lies there.
    pub(super) fn is_on_device(self) -> bool {
        self != Way::Told
    }

    /// The operands that it reads as masks, and the one that it reads as a word.
    pub(super) fn operands(self, carry: &StageCarry) -> (&[Operand], Option<Operand>) {
        let all = &carry.operands[..];
        match (self, &carry.what) {
            (Way::Along(what, _), _) if what.of_masks() => (all, None),
            (Way::Along(..), _) | (_, Made::Game(GameOp::UnionChildren)) => (&[], all.first().copied()),
            (_, Made::Game(GameOp::CountChildren)) => (all, Some(Operand::Constant(1))),
            (_, Made::Game(GameOp::FirstChild)) => (&all[..1], Some(all[1])),
            (Way::MaskFromNumber, _) => (&all[1..], all.first().copied()),
            (Way::Edge(_) | Way::Told, _) => (&[], None),
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
            Way::Edge(_) => vec![place()],
            _ => {
                let word = |operand: &Operand| match operand {
                    Operand::Constant(0) => "0u".into(),
                    Operand::Constant(_) => "EVERY".into(),
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
            Way::Along(what, back) => {
                let what = match what {
                    Carried::Any => "ANY",
                    Carried::Count => "COUNT",
                    Carried::Nearest => "NEAREST",
                    Carried::Union => "UNION",
                };
                format!("const WHAT = {what};\nconst BACK = {back};\n\n{}{GAMES}\n{CARRY}", of_all())
            }
            Way::MaskToParent => shift("MASK_TO_PARENT", 0),
            Way::MaskToChild | Way::Edge(_) => shift("MASK_TO_CHILD", 0),
            Way::MaskFromNumber => shift("MASK_FROM_NUMBER", 0),
            Way::WordToParent(otherwise) => shift("WORD_TO_PARENT", otherwise),
            Way::Walk(walk, numbers) => format!("{GAMES}\n{}", walks::shader(walk, &masks, numbers)),
            Way::Told => unreachable!("the processor makes it"),
        }
    }
}
