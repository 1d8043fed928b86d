//! Warnings that follow from the copies of a query before it runs.

use super::{Filter, FilterRef, Orbit, OrbitRef};
use crate::AsOrbit as _;
use orbit_core::diagnostic::Diagnostic;
use orbit_query::tree::{Counted, Kind as _};

/// Warns of ranges that no number of matching copies can be in: `flip 9 K`.
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

/// A transform around another one can only remove copies from it, so the inner one is checked as it is written.
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
