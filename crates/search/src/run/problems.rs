//! Lists the games that were truncated, skipped or repaired, with one line of text for each.

use serde::{Deserialize, Serialize};

use super::{Collector, Part, PartError};
use crate::found::BlockResult;
use crate::report::kind_name;
use orbit_database::MemoryBudget;
use orbit_engine::Wants;
use orbit_reel::{Block, Problem};

/// Lists the games that were truncated, skipped or repaired.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProblemsCollector;

/// The messages about games that were truncated, skipped or repaired, in database order.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ProblemsPart {
    /// The messages, such as `games.pgn: game 1042, byte 3991204, ply 37: Nd7 is ambiguous (cut)`.
    pub lines: Vec<String>,
}

impl Collector for ProblemsCollector {
    type Part = ProblemsPart;

    fn wants(&self) -> Wants {
        Wants::HITS
    }

    fn look(&self, result: &BlockResult, _: &MemoryBudget) -> ProblemsPart {
        ProblemsPart::from_block(&result.block, &result.names.sources)
    }
}

impl ProblemsPart {
    /// Writes the messages about the games of a block. `sources` are the names of the database's sources.
    pub fn from_block(block: &Block, sources: &[String]) -> ProblemsPart {
        let line = |problem| problem_line(block, problem, sources);
        ProblemsPart { lines: block.problems().iter().map(line).collect() }
    }
}

impl Part for ProblemsPart {
    fn merge(&mut self, next: ProblemsPart) -> Result<(), PartError> {
        self.lines.extend(next.lines);
        Ok(())
    }
}

fn problem_line(block: &Block, problem: &Problem, sources: &[String]) -> String {
    let (source, number) = block.number_in_source(problem);
    let source = sources.get(source as usize).map_or("", String::as_str);
    let Problem { offset, ply, reason, .. } = problem;
    let kind = kind_name(problem.kind);
    format!("{source}: game {number}, byte {offset}, ply {ply}: {reason} ({kind})")
}
