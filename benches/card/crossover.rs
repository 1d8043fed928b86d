//! Computes the number of positions above which the card is faster than the processor.
//!
//! The card starts a scan late, because it must first be opened and the kernel compiled. From then on, it runs as fast as games
//! are streamed to it. The processor starts at once. Reading the games takes the same time for both.

use orbit_search::executor::positions_for_card;
use serde_json::{Value, json};

/// The database sizes, in positions, for which the times of the card and the processor are listed.
const SIZES: [u64; 6] = [1_000_000, 10_000_000, 100_000_000, 500_000_000, 1_000_000_000, 10_000_000_000];

/// The costs of a scan for one query, or for several queries at once: the compile time in seconds, and the positions per second
/// on the processor and on the card.
pub struct Costs {
    pub compile_s: f64,
    pub cpu: f64,
    pub card: f64,
}

/// Returns a row for each query that was measured alone, and for each number of queries that were measured together. Rows that lack
/// one of their measurements are left out.
pub fn rows(rows: &[Value]) -> Vec<Value> {
    let number = |row: &Value, field: &str| row[field].as_f64();
    let open = rows.iter().find(|row| row["kind"] == "device").and_then(|row| number(row, "open_s"));
    let Some(open) = open else { return Vec::new() };
    let find = |kind: &str, name: &Value| {
        rows.iter().find(|row| row["kind"] == *kind && row["name"] == *name && row["agree"] == true)
    };
    // Only the first row of a kernel contains the compilation time, because later rows reuse the compiled kernel.
    let compiled = |of: &Value| {
        let is_same = |row: &&Value| row["query"] == of["query"] && row["variant"] == of["variant"];
        rows.iter().filter(is_same).find_map(|row| number(row, "compile_s"))
    };
    let mut out = Vec::new();
    for streamed in rows.iter().filter(|row| row["kind"] == "streamed" && row["agree"] == true) {
        let name = &streamed["name"];
        let costs = (|| {
            Some(Costs {
                compile_s: compiled(streamed)?,
                cpu: number(find("cpu", name)?, "positions_s")?,
                card: number(streamed, "positions_s")?,
            })
        })();
        out.extend(costs.map(|costs| costs.row(name.as_str().unwrap_or_default(), open, 1)));
    }
    for shared in rows.iter().filter(|row| row["kind"] == "shared" && row["agree"] == true) {
        let queries = shared["queries"].as_u64().unwrap_or(0);
        let costs = (|| {
            Some(Costs {
                compile_s: number(shared, "compile_s")?,
                cpu: number(shared, "cpu_positions_s")?,
                card: number(shared, "streamed_positions_s")?,
            })
        })();
        out.extend(costs.map(|costs| costs.row(&format!("{queries} queries at once"), open, queries)));
    }
    out
}

impl Costs {
    /// Returns the number of positions above which the card is faster; `None` if it never is.
    pub fn from(&self, open_s: f64) -> Option<u64> {
        let gain = 1.0 / self.cpu - 1.0 / self.card;
        let from = (open_s + self.compile_s) / gain;
        (gain > 0.0 && from < 1e15).then_some(from.ceil() as u64)
    }

    pub fn row(&self, name: &str, open_s: f64, queries: u64) -> Value {
        let sizes = SIZES.map(|positions| {
            let (cpu, card) = (positions as f64 / self.cpu, positions as f64 / self.card);
            json!({ "positions": positions, "cpu_s": cpu, "card_s": open_s + self.compile_s + card })
        });
        json!({
            "kind": "crossover",
            "name": name,
            "queries": queries,
            "open_s": open_s,
            "compile_s": self.compile_s,
            "cpu_positions_s": self.cpu,
            "card_positions_s": self.card,
            "from_positions": self.from(open_s),
            "sizes": sizes,
        })
    }
}

/// Returns the number of positions above which `--engine auto` uses a card, and the threshold that the measurements suggest: the
/// median of `from_positions` over the rows of single queries, without those in which the card is never faster.
pub fn auto(rows: &[Value], software: bool) -> Value {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    let single = rows.iter().filter(|row| row["kind"] == "crossover" && row["queries"] == 1);
    let (mut from, mut never): (Vec<u64>, usize) = (Vec::new(), 0);
    for row in single {
        match row["from_positions"].as_u64() {
            Some(positions) => from.push(positions),
            None => never += 1,
        }
    }
    from.sort_unstable();
    let middle = from.get(from.len() / 2).copied().filter(|_| from.len() > never);
    json!({
        "cores": cores,
        "takes_this_device": !software,
        "from_positions_today": positions_for_card(cores),
        "from_positions_measured": middle,
        "positions_a_thread_today": positions_for_card(1),
        "positions_a_thread_measured": middle.map(|positions| positions.div_ceil(cores as u64)),
    })
}
