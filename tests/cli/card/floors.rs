//! Tests how the program counts the operations in shaders, and the floors that it measures on any device.

use orbit_engine::{
    PreparedQuery,
    gpu::{GpuDevice, GpuOptions, kernel},
};
use orbit_plan::PlanOptions;
use wgpu::naga::{self, BinaryOperator, Expression, Literal, Module, Statement, TypeInner};

use crate::adapter::needs_adapter;
use crate::card_program::floors::{
    ADD, AT_ONCE, CHAINS, EXTENT_BYTES, FLOORS, FloorDevice, STEP_OPERATIONS, STEPS, VECTOR_BYTES, WORKGROUP,
    chains,
};
use crate::card_program::work::operations;

fn module() -> Module {
    naga::front::wgsl::parse_str(FLOORS).unwrap_or_else(|error| panic!("{}", error.emit_to_string(FLOORS)))
}

fn constant(module: &Module, name: &str) -> u64 {
    let found = module.constants.iter().find(|(_, constant)| constant.name.as_deref() == Some(name));
    let (_, constant) = found.unwrap_or_else(|| panic!("no constant {name}"));
    match module.global_expressions[constant.init] {
        Expression::Literal(Literal::U32(word)) => u64::from(word),
        ref other => panic!("{name} is {other:?}"),
    }
}

#[test]
fn the_shader_is_what_is_counted() {
    let module = module();
    let constants = [("FLOOR_WORKGROUP", WORKGROUP), ("AT_ONCE", AT_ONCE), ("STEPS", STEPS)];
    for (name, value) in constants {
        assert_eq!(constant(&module, name), value, "{name}");
    }
    let names: Vec<&str> = module.entry_points.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["read_all", "copy_all", "compute"]);
    assert!(module.entry_points.iter().all(|entry| entry.workgroup_size == [WORKGROUP as u32, 1, 1]));
    let (_, extent) = module.types.iter().find(|(_, ty)| ty.name.as_deref() == Some("Extent")).unwrap();
    let TypeInner::Struct { members, span } = &extent.inner else { panic!("Extent is no struct") };
    assert_eq!(u64::from(*span), EXTENT_BYTES);
    let offsets: Vec<_> = members.iter().map(|it| (it.name.clone().unwrap_or_default(), it.offset)).collect();
    let expected = [("vectors", 0), ("invocations", 4), ("turns", 8), ("add", 12)];
    assert_eq!(offsets, expected.map(|(name, offset)| (name.to_string(), offset)));
}

/// The shader has as many steps in an iteration of its loop, and as many operations in a step, as the computed rate assumes.
#[test]
fn operations_are_counted_as_they_are_written() {
    let module = module();
    let (_, next) = module.functions.iter().find(|(_, it)| it.name.as_deref() == Some("next")).unwrap();
    let found = next.expressions.iter().filter_map(|(_, expression)| match expression {
        Expression::Binary { op, .. } => Some(*op),
        _ => None,
    });
    let found: Vec<BinaryOperator> = found.collect();
    assert_eq!(found.len() as u64, STEP_OPERATIONS);
    let wanted = [BinaryOperator::Add, BinaryOperator::ShiftRight, BinaryOperator::ExclusiveOr];
    assert!(wanted.iter().all(|op| found.contains(op)), "{found:?}");
    fn calls(block: &naga::Block) -> u64 {
        let of = |statement: &Statement| match statement {
            Statement::Call { .. } => 1,
            Statement::Block(inner) => calls(inner),
            Statement::Loop { body, continuing, .. } => calls(body) + calls(continuing),
            Statement::If { accept, reject, .. } => calls(accept) + calls(reject),
            _ => 0,
        };
        block.iter().map(of).sum()
    }
    // A call does one step of four chains.
    assert_eq!(4 * calls(&module.entry_points[2].function.body), CHAINS * STEPS);
}

/// A device that omits steps or computes something else is detected.
#[test]
fn wrong_answers_are_seen() {
    assert_ne!(chains(1, 1), chains(1, 2));
    assert_ne!(chains(0, 3), chains(1, 3));
    // One chain is computed by hand: (0 + 1 + ADD) ^ (1 >> 5), and so on.
    let mut word = 1u32;
    for _ in 0..STEPS {
        word = word.wrapping_add(ADD) ^ (word >> 5);
    }
    let all = (0..8u32).fold(0, |all, k| {
        let mut word = k;
        (0..STEPS).for_each(|_| word = word.wrapping_add(ADD) ^ (word >> 5));
        all ^ word
    });
    assert_eq!(chains(0, 1), all);
    assert_ne!(chains(0, 1), word);
}

#[test]
fn floors_are_measured_and_right() {
    needs_adapter();
    let device = GpuDevice::open(GpuOptions::default()).unwrap();
    let device = FloorDevice { gpu: &device, memory_bytes: u64::MAX };
    let read = device.read(40 << 20).unwrap();
    let copy = device.copy(40 << 20).unwrap();
    let operations = device.operations().unwrap();
    eprintln!("{read:?}\n{copy:?}\n{operations:?}");
    for floor in [read, copy, operations] {
        assert!(floor.is_right && floor.rate > 1e6, "{floor:?}");
    }
    assert_eq!(read.amount % (VECTOR_BYTES * AT_ONCE * WORKGROUP), 0);
    assert!((32 << 20..=40 << 20).contains(&read.amount), "{}", read.amount);
}

/// Returns the number of operations of a query's kernel on a segment.
fn counted(text: &str, variant: &str) -> u64 {
    let query = orbit_query::parse(text).unwrap_or_else(|error| panic!("{error}")).query;
    let plan = PreparedQuery::new(query, PlanOptions::default()).unwrap().planner.hits();
    let variant = variant.parse().unwrap_or_else(|error| panic!("{error}"));
    operations(&kernel(&plan, variant).unwrap()).expect("it can be read")
}

/// The counts of operations are those that a person counts in the shader.
#[test]
fn operations_are_those_of_the_shader() {
    // `r4 = r2 & ~r0 & ~r1 & ~r3` is computed on pairs. `r5 = non_empty(r4 & ...)` takes the intersection, one union and one
    // comparison of halves, a negation and a selection. Then the bit is put into its place.
    let evaluate = 12 + (2 + 2 + 1 + 2) + 3;
    // A square is needed as a set, and as part of a move: whether it is on the board, its place in its half, its bit, and the
    // half.
    let (square, named) = (8, 8);
    // The code, whether the move moves a piece, both squares and what stays; for each plane, its bit of the code and three
    // operations on pairs; and which moves are rare.
    let play = 1 + 1 + 2 * named + 4 + 4 * (2 + 3 * 2) + 3;
    // The branch with the most operations is castling: two squares, the rank and the kind; then the side, king and rook, and
    // their planes.
    let castles = 4 + 1 + 1 + 1 + 2 * (2 + square) + 2 + 3 * 2 + 3;
    // Test the end of the game; compute the slot, the side to move and the ply.
    let advance = 2 + 1 + 2 + 1 + play + castles;
    // The loop, the move that is taken from its word, the shift of the word, and the number of the slot.
    let slot = 2 + 1 + 5 + 2 + advance;
    // The loop over words, and the place of a word in memory.
    let word = 2 + 2;
    let work = counted("Ra1", "default");
    assert_eq!(work, 32 * (evaluate + slot) + 8 * word);
    // With two lanes, one lane replays half of the slots in vain, and each lane checks whether a slot is its own.
    let pairs = counted("Ra1", "lanes2");
    assert_eq!(pairs, 32 * evaluate + 48 * (slot + 5) + 12 * word);
    // A word that is a single integer counts as two. Only taking its lower half and joining two halves are additional.
    let [pairs, wide] = ["default", "u64"].map(|variant| counted("{#P > 3 #p > 3}", variant));
    let ratio = wide as f64 / pairs as f64;
    assert!((0.8..1.2).contains(&ratio), "{ratio}");
    // The body of a loop counts as often as it runs.
    let text = "flip {xray (R n k) Pa2}";
    let [literal, looped] = ["default", "looped"].map(|variant| counted(text, variant));
    assert!(literal < looped && looped < literal + literal / 5, "{literal}, {looped}");
}
