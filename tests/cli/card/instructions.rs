//! Tests the tables of instruction counts, and the choice of a table by the card's manufacturer.

use orbit_engine::gpu::Variant;

use super::TARGET;
use crate::card_program::instructions::{Vendor, changed, per_position, per_turn};
use crate::card_program::measure::Roofs;
use crate::card_program::{REPLAY, twelve};

const AMD: &str = include_str!("../../../benches/kernels.tsv");
const NVIDIA: &str = include_str!("../../../benches/card/instructions.tsv");

/// Returns a cell's value, given the column and the first cells of its row.
fn cell(table: &str, row: &str, column: usize) -> f64 {
    let line = table.lines().find(|line| line.starts_with(&format!("{row}\t")));
    let line = line.unwrap_or_else(|| panic!("no row {row}"));
    line.split('\t').nth(column).unwrap().parse().unwrap_or_else(|_| panic!("no number in {line}"))
}

#[test]
fn tables_have_every_query_that_is_measured() {
    let names = include_str!("../../../benches/kernels/queries.tsv");
    let queries = twelve() + "\n" + REPLAY;
    let queries: Vec<&str> = queries.lines().filter_map(|line| Some(line.split_once('\t')?.1)).collect();
    assert_eq!(queries.len(), 13);
    for query in queries {
        let each = per_position(query, Variant::default(), Vendor::Amd);
        assert!(each.is_some(), "{query}: benches/kernels.tsv has no number; add the query to its list");
        let kernel = names.lines().find_map(|line| line.strip_suffix(&format!("\t{query}"))).unwrap();
        // An unknown value is written as `-`.
        let has_row = NVIDIA.lines().any(|line| line.starts_with(&format!("{kernel}\t")));
        assert!(has_row, "{query}: benches/card/instructions.tsv has no row {kernel}");
    }
}

#[test]
fn counts_are_of_the_shaders_as_they_are() {
    let old = changed();
    assert!(
        old.is_empty(),
        "{old:?} have changed: count again, or see the head of benches/card/instructions.tsv"
    );
}

/// The instruction count per position and the instruction rate of the card must come from the same manufacturer's table.
#[test]
fn a_card_is_compared_with_the_table_of_its_maker() {
    let rdna = cell(AMD, "navi21\tknight-672\t0\thits", 13);
    let amd = rdna.min(cell(AMD, "vega10\tknight-672\t0\thits", 13));
    let nvidia = cell(NVIDIA, "knight-672", 1);
    assert!(nvidia != amd);
    let cases = [(Vendor::Amd, amd), (Vendor::Nvidia, nvidia), (Vendor::Other, amd.min(nvidia))];
    for (vendor, each) in cases {
        let roofs = Roofs { instructions: Some(1e13), vendor, ..Roofs::default() };
        let found = roofs.by_instructions(TARGET, Variant::default());
        assert_eq!(found, (Some(each), Some(1e13 / each)), "{vendor:?}");
        // The variant with 64-bit integers executes fewer instructions, but no table lists their count.
        let wide = "u64".parse().unwrap();
        assert_eq!(roofs.by_instructions(TARGET, wide), (None, None));
        assert_eq!(roofs.by_instructions("Qd4", Variant::default()), (None, None));
    }
    let turns = [cell(AMD, "navi21\tfloor\t0\tfloor", 13), cell(NVIDIA, "floor", 1)];
    let found = [Vendor::Amd, Vendor::Nvidia, Vendor::Other].map(per_turn);
    assert_eq!(found, [turns[0], turns[1], turns[0].max(turns[1])]);
}

#[test]
fn makers_are_known_by_names() {
    let cases = [
        ("NVIDIA H200", "NVIDIA 570.86.15", Vendor::Nvidia),
        ("GeForce GTX 1080", "NVIDIA 390.157", Vendor::Nvidia),
        ("AMD Radeon RX 6800 (RADV NAVI21)", "radv Mesa 22.3.6", Vendor::Amd),
        ("AMD Radeon Pro 5500M", "", Vendor::Amd),
        ("Intel(R) Arc(tm) A770 Graphics", "Intel open-source Mesa driver Mesa 23.2.1", Vendor::Other),
        ("llvmpipe (LLVM 15.0.6, 256 bits)", "llvmpipe Mesa 22.3.6 (LLVM 15.0.6)", Vendor::Other),
    ];
    for (name, driver, vendor) in cases {
        assert_eq!(Vendor::from_driver(name, driver), vendor, "{name}");
    }
}
