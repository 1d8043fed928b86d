//! Summarizes a run in a few lines.

use std::cmp::Reverse;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use orbit_reel::{ProblemKind, Totals};

/// The number of games and of positions with hits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct HitTotals {
    /// The number of games with hits.
    pub games: u64,
    /// The number of hits.
    pub positions: u64,
}

/// The duration of each phase of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Phases {
    /// The time for parsing and planning the query.
    pub planning: Duration,
    /// The time for reading games and evaluating positions, which run in parallel.
    pub scanning: Duration,
}

/// Returns lines about games, positions, hits and time, each with its numbers as fields of a JSON object. `is_part` is true if the
/// database was only partly read; percentages are then left out because they would be misleading. `how` names the engine and the
/// number of threads.
pub fn summary_lines(
    totals: &Totals,
    hits: HitTotals,
    phases: Phases,
    is_part: bool,
    how: &str,
) -> Vec<(String, Value)> {
    let percent = |part: u64, of: u64| match of {
        _ if is_part => String::new(),
        0 => String::new(),
        _ => format!(" ({:.2}%)", 100.0 * part as f64 / of as f64),
    };
    let mut lines = totals_lines(totals);
    let hits_line = format!(
        "hits: {} games{}, {} positions{}",
        grouped(hits.games),
        percent(hits.games, totals.games()),
        grouped(hits.positions),
        percent(hits.positions, totals.positions)
    );
    lines.push((hits_line, json!({ "hits": hits })));
    let Phases { planning, scanning } = phases;
    let rate = totals.positions as f64 / scanning.as_secs_f64().max(1e-9);
    let time_line = format!(
        "query and plan {:.3} s, reading and scanning {:.3} s, total {:.3} s; {} positions/s ({how})",
        planning.as_secs_f64(),
        scanning.as_secs_f64(),
        (planning + scanning).as_secs_f64(),
        grouped(rate as u64)
    );
    lines.push((time_line, phases.fields(totals)));
    lines
}

/// Returns the numbers in [`totals_line`] as fields of an object.
pub fn totals_fields(totals: &Totals) -> Value {
    let Totals { whole, cut, skipped, positions, .. } = *totals;
    let games = json!({ "all": totals.games(), "whole": whole, "cut": cut, "skipped": skipped });
    json!({ "games": games, "positions": positions })
}

/// Returns a line about games and positions, followed by one line for each kind of problem and reason. Each line has its numbers as
/// fields of an object.
pub fn totals_lines(totals: &Totals) -> Vec<(String, Value)> {
    let mut lines = vec![(totals_line(totals), totals_fields(totals))];
    let reasons = reasons(totals).map(|((kind, reason), games)| {
        let fields = json!({ "kind": kind_name(*kind), "reason": reason, "games": games });
        (reason_line((*kind, reason), *games), json!({ "problem": fields }))
    });
    lines.extend(reasons);
    lines
}

impl Phases {
    /// Returns the duration of the run in seconds, and its speed in positions per second. `totals` contains the number of positions
    /// that the run read.
    pub fn fields(&self, totals: &Totals) -> Value {
        let [planning, scanning] = [self.planning, self.scanning].map(|time| time.as_secs_f64());
        let rate = totals.positions as f64 / scanning.max(1e-9);
        let seconds = json!({ "planning": planning, "scanning": scanning, "total": planning + scanning });
        json!({ "seconds": seconds, "positions_per_second": rate as u64 })
    }
}

/// Returns lines about the transformed copies with the most hits, at most `lines_max`. Each line has the number of the copy (from
/// 1, in the order of the orbit, the set of all copies), its number of matching positions, and its name. A last line gives the
/// number of copies with any hits.
pub fn copy_lines(counts: &[u64], names: &[String], lines_max: usize) -> Vec<String> {
    let mut copies: Vec<(usize, u64)> = counts.iter().copied().enumerate().collect();
    copies.retain(|copy| copy.1 > 0);
    copies.sort_by_key(|&(copy, count)| (Reverse(count), copy));
    let mut lines: Vec<String> = Vec::new();
    for &(copy, count) in copies.iter().take(lines_max) {
        let name = names.get(copy).map_or("", String::as_str);
        lines.push(format!("{:>6}  {:>13} positions  {name}", copy + 1, grouped(count)));
    }
    lines.push(format!("{} of {} copies hit", grouped(copies.len() as u64), grouped(counts.len() as u64)));
    lines
}

/// Returns the word for a kind of problem.
pub fn kind_name(kind: ProblemKind) -> &'static str {
    match kind {
        ProblemKind::Note => "repaired",
        ProblemKind::Cut => "cut",
        ProblemKind::Skipped => "skipped",
        ProblemKind::SideLine => "trimmed",
    }
}

/// Returns a line about games and positions:
/// `1,234 games (1,200 whole, 30 cut, 4 skipped), 99,000 positions, 7,000 of them in 800 side lines`.
pub fn totals_line(totals: &Totals) -> String {
    let in_side_lines = match totals.side_lines {
        0 => String::new(),
        1 => format!(", {} of them in 1 side line", grouped(totals.side_positions)),
        lines => format!(", {} of them in {} side lines", grouped(totals.side_positions), grouped(lines)),
    };
    format!(
        "{} games ({} whole, {} cut, {} skipped), {} positions{in_side_lines}",
        grouped(totals.games()),
        grouped(totals.whole),
        grouped(totals.cut),
        grouped(totals.skipped),
        grouped(totals.positions)
    )
}

/// Returns one line for each kind of problem and reason. The most serious kind is first, and within a kind the most frequent
/// reason.
pub fn reason_lines(totals: &Totals) -> Vec<String> {
    reasons(totals).map(|((kind, reason), games)| reason_line((*kind, reason), *games)).collect()
}

/// Iterates over the kinds of problems and their reasons, with the number of games for each. The most serious kind is first, and
/// within a kind the most frequent reason.
fn reasons(totals: &Totals) -> impl Iterator<Item = (&(ProblemKind, String), &u64)> {
    let mut reasons: Vec<_> = totals.reasons.iter().collect();
    reasons.sort_by_key(|&((kind, _), &count)| (Reverse(*kind), Reverse(count)));
    reasons.into_iter()
}

fn reason_line((kind, reason): (ProblemKind, &str), games: u64) -> String {
    format!("  {} {}: {reason}", grouped(games), kind_name(kind))
}

/// Returns a line about side lines that were not searched, if there are any. `variations` is true if side lines are searched.
pub fn side_lines_line(side_lines: u64, variations: bool) -> Option<String> {
    let are = if side_lines == 1 { "side line was" } else { "side lines were" };
    let remedy = match variations {
        false => "--variations searches side lines as well",
        true => "--problems FILE lists why",
    };
    (side_lines > 0).then(|| format!("{} {are} not searched: {remedy}", grouped(side_lines)))
}

/// Returns a sentence for the user about extra bytes after the end of a reel (a file of packed games). `bytes` is their number.
pub fn behind_sentence(bytes: u64) -> String {
    format!(
        "{} bytes behind its end are no part of the reel and not read: an append that was interrupted or is going on wrote them, or \
         another program",
        grouped(bytes)
    )
}

/// Formats a number with commas between thousands.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        let cases = [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")];
        for (number, text) in cases {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn copies_are_sorted_by_their_counts() {
        let lines = copy_lines(&[0, 5, 1000, 5], &["a", "b", "c", "d"].map(String::from), 2);
        assert_eq!(
            lines,
            ["     3          1,000 positions  c", "     2              5 positions  b", "3 of 4 copies hit"]
        );
    }
}
