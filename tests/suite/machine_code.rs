//! Tests plans that are compiled to machine code at run time.

use std::path::Path;

use orbit_engine::{
    Engine, PreparedQuery, Wants,
    cpu::{Cpu, Isa, MachineCode},
};
use orbit_plan::PlanOptions;
use orbit_reel::Block;

use crate::common::{blocks_of, every_nth_game};

/// Queries with chains inside shifts, tables, attacks, numbers, several stages (parts of the plan that run first), and operations
/// that cannot be compiled.
const DEAR: [&str; 7] = [
    "shift flip flipcolor {R[a-c1-2] not P[a-c2-3] k[g-h7-8]}",
    "flip {Kg1 Rf1 P[f2,g2,h2] Nf3 Bg2}",
    "(flip count {xray (R n k) Pa2}) > 1",
    "#passedpawns + (#P * #p) / 3 > 9",
    "shift flip {Nf3 pe5} find shift {Ng5 nc6}",
    "check or mate or pin from r through N to K",
    "shift flip flipcolor {Nd4 kf3 legal --}",
];

/// Returns every `nth` sample game, as one block (group of games).
fn sample(nth: usize) -> Block {
    every_nth_game(&blocks_of(Path::new("games/sample.pgn")), 0, nth)
}

fn engine(text: &str, isa: Isa, code: MachineCode) -> Cpu {
    let query = orbit_query::parse(text).unwrap_or_else(|error| panic!("{text}: {}", error.message)).query;
    let prepared = PreparedQuery::new(query, PlanOptions::default()).unwrap();
    Cpu::with(prepared.plans().unwrap(), isa, code)
}

#[test]
fn plans_that_are_compiled_while_they_run_answer_the_same() {
    // There are so few games that the first run is too short to justify compilation.
    let block = sample(50);
    let outputs = Wants::VALUES | Wants::ALL_COPIES;
    for isa in Isa::available() {
        for text in DEAR {
            let [never, dear] =
                [MachineCode::Never, MachineCode::WhenDear].map(|code| engine(text, isa, code));
            let expected = never.answer(&block, outputs).unwrap();
            assert!(!dear.is_compiled());
            assert_eq!(dear.answer(&block, outputs).unwrap(), expected, "{text}, {}, by kernels", isa.name());
            assert!(!dear.is_compiled(), "{text} is compiled at once");
            let has_code = isa.name() != "base";
            let (mut runs, most) = (1, if has_code { 1000 } else { 3 });
            while runs < most && !dear.is_compiled() {
                assert_eq!(
                    dear.answer(&block, outputs).unwrap(),
                    expected,
                    "{text}, {}, run {runs}",
                    isa.name()
                );
                runs += 1;
            }
            assert_eq!(dear.is_compiled(), has_code, "{text}, {}", isa.name());
            assert_eq!(dear.answer(&block, outputs).unwrap(), expected, "{text}, {}, compiled", isa.name());
            assert!(!never.is_compiled());
        }
    }
}

/// If a plan (code for the fast engines) would run for long on a large block, it is compiled first.
#[test]
fn dear_plans_are_compiled_before_a_long_block() {
    for isa in Isa::available() {
        let [never, dear] =
            [MachineCode::Never, MachineCode::WhenDear].map(|code| engine(DEAR[0], isa, code));
        let block = sample(1);
        let expected = never.answer(&block, Wants::HITS).unwrap();
        assert_eq!(dear.answer(&block, Wants::HITS).unwrap(), expected, "{}", isa.name());
        assert_eq!(dear.is_compiled(), isa.name() != "base", "{}", isa.name());
    }
}

#[test]
fn plans_that_are_cheap_are_never_compiled() {
    let block = sample(1);
    for text in ["true", "Ke1", "wtm"] {
        let cpu = engine(text, Isa::detected(), MachineCode::default());
        for _ in 0..3 {
            cpu.answer(&block, Wants::HITS).unwrap();
        }
        assert!(!cpu.is_compiled(), "{text}");
    }
}
