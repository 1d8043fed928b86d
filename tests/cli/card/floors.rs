//! Tests the measurement of floors. A *floor* is a device's speed limit, which no kernel can exceed.

use orbit_engine::gpu::{GpuDevice, GpuOptions};
use wgpu::naga::{self, Expression, Literal, Module, TypeInner};

use crate::adapter::needs_adapter;
use crate::card_program::floors::{
    ADD, AT_ONCE, EXTENT_BYTES, FLOORS, FloorDevice, STEPS, VECTOR_BYTES, WORKGROUP, chains,
};
use crate::card_program::instructions::{Vendor, per_turn};

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
fn the_shader_has_the_constants_of_the_program() {
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

/// The measurements of floors (a device's speed limits) must detect a device that skips steps or computes wrong results.
#[test]
fn wrong_answers_are_seen() {
    assert_ne!(chains(1, 1), chains(1, 2));
    assert_ne!(chains(0, 3), chains(1, 3));
    // The expected value of one chain, step by step: (0 + 1 + ADD) ^ (1 >> 5), and so on.
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
    let instructions = device.instructions(per_turn(Vendor::Other)).unwrap();
    eprintln!("{read:?}\n{copy:?}\n{instructions:?}");
    for floor in [read, copy, instructions] {
        assert!(floor.is_right && floor.rate > 1e6, "{floor:?}");
    }
    assert_eq!(read.amount % (VECTOR_BYTES * AT_ONCE * WORKGROUP), 0);
    assert!((32 << 20..=40 << 20).contains(&read.amount), "{}", read.amount);
}
