//! Draws boards, heat maps and bar charts as vector graphics.
//!
//! Every picture is an `svg` element with a role, a title and a description. Its colours are CSS classes, which `palette.css`
//! defines for light and dark mode. Boards refer to the pieces in [`definitions`]. A page includes the palette and the definitions
//! once each.

mod board;
mod chart;
mod means;
mod pieces;

use maud::{Markup, PreEscaped, html};

pub use board::BoardDrawing;
pub use chart::{ROWS_MAX, bars, heat_map, is_cut, percent, scale};
pub use means::means;
pub use pieces::definitions;

use super::heat::HeatMap;

/// The colours of all pictures, as CSS.
pub const PALETTE: &str = include_str!("svg/palette.css");

/// Returns a heat map as an SVG file.
pub fn heat_map_file(map: &HeatMap) -> String {
    // A file needs its own background, while pictures in a page use the page's background.
    let style = format!("{PALETTE}svg {{ background: var(--paper); }}\n");
    let picture = heat_map(map, "heat", Some(&style)).into_string();
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{picture}\n")
}

/// Returns a board as an SVG file that is `width` pixels wide.
pub fn board_file(diagram: &BoardDrawing, width: u32) -> String {
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(width) height=(width) {
            style { (PreEscaped(PALETTE)) }
            (definitions())
            (diagram.picture())
        }
    };
    picture.into_string()
}

/// Returns an `svg` element of `width` by `height` units that scales to fit its container.
fn picture(
    id: &str,
    class: &str,
    (x, y, width, height): (i32, i32, i32, i32),
    title: &str,
    description: &str,
    inside: Markup,
) -> Markup {
    html! {
        svg xmlns="http://www.w3.org/2000/svg" class=(class) viewBox={ (x) " " (y) " " (width) " " (height) }
            role="img" aria-labelledby={ (id) "-title " (id) "-desc" } {
            title id={ (id) "-title" } { (title) }
            desc id={ (id) "-desc" } { (description) }
            (inside)
        }
    }
}
