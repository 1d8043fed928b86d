//! Shows the squares of hits: as tables and heat maps in the terminal, as SVG, and in reports.

use std::path::Path;

use orbit_search::report::findings::{Findings, NO_HEAT_MAP, OrbitFindings, TransformSum};
use orbit_search::report::heat::{HeatMap, Palette};
use orbit_search::report::{grouped, page::page, svg};
use serde_json::json;

use super::common::Out;
use super::failure::Failure;
use super::sink::Sink;
use super::terminal;

/// The kind of picture that a file contains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Picture {
    /// An SVG file with a heat map.
    Svg,
    /// An HTML page with the complete report.
    Page,
}

/// Prints the number of hits for each kind of transform, and the heat maps.
pub(super) fn print_heat(findings: &Findings, is_json: bool) -> Result<(), Failure> {
    let mut out = Out::new();
    let orbit = findings.orbit.as_ref();
    let maps: Vec<&HeatMap> = heat_maps(findings).into_iter().flatten().collect();
    if is_json {
        let (symmetries, colors) = orbit.map(|orbit| (&orbit.symmetries, &orbit.colors)).unzip();
        out.json(&json!({ "symmetries": symmetries, "colors": colors, "maps": maps }))?;
        return out.finish();
    }
    if let Some(orbit) = orbit {
        for line in sums(orbit) {
            out.line(line)?;
        }
    }
    let is_in_colour = terminal::has_colors_on_stdout();
    let variable = |name: &str| std::env::var(name).ok().filter(|_| name != "NO_COLOR" || !is_in_colour);
    let palette = Palette::from_terminal(is_in_colour, variable);
    for map in &maps {
        out.line("")?;
        out.drawn(&map.text(palette))?;
    }
    if maps.is_empty() {
        out.line(NO_HEAT_MAP)?;
    }
    out.finish()
}

/// Returns the heat maps that exist: one of the squares on which transformed copies of the pattern matched, and one of the squares
/// that are the query's value.
pub(super) fn heat_maps(findings: &Findings) -> [Option<&HeatMap>; 2] {
    [findings.orbit.as_ref().and_then(|orbit| orbit.heat.as_ref()), findings.squares.as_ref()]
}

/// Returns lines about the transformed copies of a pattern: first the number of copies with hits, then the numbers of hits and
/// copies for each kind of transform.
fn sums(orbit: &OrbitFindings) -> Vec<String> {
    let hit = format!("{} of {} copies hit", grouped(orbit.copies_hit), grouped(orbit.copies_total));
    let sums = orbit.symmetries.iter().chain(orbit.colors.iter().filter(|_| orbit.colors.len() > 1));
    let line = |sum: &TransformSum| {
        format!("{:>13} hits of {:>5} copies  {}", grouped(sum.positions), grouped(sum.copies), sum.transform)
    };
    std::iter::once(hit).chain(sums.map(line)).collect()
}

/// Writes a picture of the findings to a temporary file, and renames the file when it is complete.
pub(super) fn write(picture: Picture, findings: &Findings, sink: Sink) -> Result<(), Failure> {
    let text = match picture {
        Picture::Page => page(findings),
        Picture::Svg => match heat_maps(findings).into_iter().flatten().next() {
            Some(map) => svg::heat_map_file(map),
            None => {
                let path = sink.path().unwrap_or(Path::new("-")).display();
                return Err(Failure::Other(format!("{path}: {NO_HEAT_MAP}")));
            }
        },
    };
    sink.write_whole(text.as_bytes())
}
