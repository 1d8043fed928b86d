//! Finds mistakes in a query by examining the copies of its transforms, and returns warnings before the query runs.

use super::{Filter, FilterRef, Orbit, OrbitRef};
use crate::AsOrbit as _;
use orbit_core::diagnostic::Diagnostic;
use orbit_query::tree::{Counted, Kind as _};

/// Returns warnings about ranges that the number of matching copies can never reach, as in `flip 9 K`: `flip` has at most 8 copies.
///
/// ```
/// use orbit_transforms::{expand, warnings};
/// use orbit_query::parse;
/// let said = |text| warnings(&expand(&parse(text).unwrap().query.body).unwrap());
/// assert_eq!(said("flip 9 K")[0].message, "the range 9 of this transform never matches");
/// assert!(said("flip 1 K").is_empty());
/// ```
pub fn warnings(filter: &Filter) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    visit(filter.node(), &mut out);
    out
}

/// Collects the warnings for a filter and its operands. An outer transform can only remove copies of an inner one, so the inner
/// transform is checked as written.
fn visit(filter: FilterRef, out: &mut Vec<Diagnostic>) {
    let Some(orbit) = filter.orbit() else {
        return filter.each_child(&mut |child| visit(child, out));
    };
    if let OrbitRef::Counted(counted, orbit) = orbit {
        out.extend(never(counted, orbit));
    }
    visit(orbit.base(), out);
}

fn never(counted: Counted, orbit: &Orbit) -> Option<Diagnostic> {
    let Counted::Range(lo, hi) = counted else { return None };
    let copies = orbit.copies.len();
    let range = if lo == hi { lo.to_string() } else { format!("{lo} {hi}") };
    let warning = |label: String| {
        Diagnostic::warning(orbit.span, format!("the range {range} of this transform never matches"), label)
    };
    if lo > hi {
        return Some(warning("the range runs backwards".into()).help(format!("write `{hi} {lo}`")));
    }
    if hi >= 0 && i64::from(lo) <= copies as i64 {
        return None;
    }
    let number = if copies == 1 { "1 distinct copy".into() } else { format!("{copies} distinct copies") };
    let label = format!("the filter has {number}: from 0 to {copies} match");
    Some(warning(label).help("the value of `count`, in place of the range, is how many match"))
}
