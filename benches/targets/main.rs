//! Prints ratios and their targets as one Markdown table. See `benches/README.md`.
//!
//! A row is the ratio of two times that are measured alternately in one run on one machine, so rows from different machines can
//! be compared. All runs of a query on the same games must find the same number of hits.

mod batch;
mod copies;
mod costs;
mod floors;
mod games;
mod inputs;
mod process;
mod reading;
mod scans;
mod screens;
mod table;
mod timing;

use std::process::ExitCode;
use std::time::Instant;

use inputs::{Counts, Inputs};
use table::Row;

/// The state that all measures share.
struct Bench {
    /// The number of times that each piece of work is timed. The shortest time counts.
    runs: usize,
    inputs: Inputs,
    counts: Counts,
}

/// The work of one measurement.
type Work = dyn Fn(&Bench) -> Vec<Row>;

/// A measurement, which returns one or more rows.
struct Measure {
    /// The name of the measurement, in the form `group/what`. The measurement runs if its name contains one of the
    /// filters on the command line.
    name: String,
    run: Box<Work>,
}

impl Measure {
    fn new(name: impl Into<String>, run: impl Fn(&Bench) -> Vec<Row> + 'static) -> Measure {
        Measure { name: name.into(), run: Box::new(run) }
    }
}

/// The arguments on the command line.
struct Args {
    runs: usize,
    /// Only measurements whose names contain one of these strings are run; all of them if there are no strings.
    filters: Vec<String>,
}

const USAGE: &str = "usage: cargo bench --bench targets -- [--runs N] [PART OF A NAME]...";

impl Args {
    /// Parses the arguments. Returns `None` if cargo runs tests rather than benches, because there is nothing to test.
    fn read() -> Result<Option<Args>, String> {
        let mut args = Args { runs: 5, filters: Vec::new() };
        let mut is_bench = false;
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            match word.as_str() {
                "--bench" => is_bench = true,
                "--runs" => {
                    let runs = words.next().and_then(|runs| runs.parse().ok()).filter(|&runs| runs > 0);
                    args.runs = runs.ok_or("--runs wants a number from 1 on")?;
                }
                option if option.starts_with('-') => return Err(format!("there is no option {option}")),
                _ => args.filters.push(word),
            }
        }
        Ok(is_bench.then_some(args))
    }

    fn wants(&self, measure: &Measure) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|filter| measure.name.contains(filter))
    }
}

fn measures() -> Vec<Measure> {
    let groups: [fn() -> Vec<Measure>; 8] = [
        reading::measures,
        floors::measures,
        scans::measures,
        copies::measures,
        screens::measures,
        games::measures,
        batch::measures,
        costs::measures,
    ];
    groups.iter().flat_map(|group| group()).collect()
}

fn main() -> ExitCode {
    // The allocator is set up as in the `orbit` command, whose library is measured here.
    orbit_command::allocator::keep_freed_memory();
    let args = match Args::read() {
        Ok(Some(args)) => args,
        Ok(None) => return ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let measures: Vec<Measure> = measures().into_iter().filter(|measure| args.wants(measure)).collect();
    if measures.is_empty() {
        eprintln!("no measure has such a name\n{USAGE}");
        return ExitCode::from(2);
    }
    let bench = Bench { runs: args.runs, inputs: Inputs::prepare(), counts: Counts::default() };
    table::print_head(&bench);
    for measure in measures {
        eprint!("{} ...", measure.name);
        let begun = Instant::now();
        let rows = (measure.run)(&bench);
        match rows.len() {
            0 => eprintln!(" left out: there are no games for it"),
            _ => eprintln!(" {:.1} s", begun.elapsed().as_secs_f64()),
        }
        rows.iter().for_each(|row| println!("{row}"));
    }
    ExitCode::SUCCESS
}
