//! Draws boards as SVG pictures.

use super::Hit;
use crate::report::{SpanMoves, svg};
use orbit_core::board::{Bitboard, Square};

/// Returns an SVG image of a board. `placement` is a FEN or its first field, `lit` are the squares to highlight, and `arrows` are
/// the start and end squares of arrows, strongest first.
///
/// ```
/// use orbit_search::{Bitboard, board_svg};
///
/// let svg = board_svg("Kings", "8/8/8/4k3/8/4K3/8/8", Bitboard::EMPTY, &[]);
/// assert!(svg.starts_with("<svg") && svg.contains("White: Ke3; Black: Ke5"));
/// ```
pub fn board_svg(title: &str, placement: &str, lit: Bitboard, arrows: &[[Square; 2]]) -> String {
    let area = Bitboard::EMPTY;
    let diagram = svg::BoardDrawing {
        id: "board",
        title,
        placement,
        lit,
        area,
        arrows,
        has_names: true,
        is_flipped: false,
    };
    svg::board_file(&diagram, 360)
}

impl Hit {
    /// Returns an SVG image of the position, with White at the bottom. The squares that the query found are highlighted. Arrows
    /// show the moves that the query matched (its span), or the last move if there is no span.
    pub fn svg(&self) -> String {
        let row = self.game().row();
        let arrows = match &self.span {
            Some(span) => SpanMoves::new(span, &row).arrows(self.node()),
            None => row.move_to(self.node()).map(|mv| [mv.from(), mv.to()]).into_iter().collect(),
        };
        let name = |name: Option<String>| name.unwrap_or_else(|| "?".into());
        let (white, black) = (name(self.game().white()), name(self.game().black()));
        let title = format!("{white} - {black}: {} {}", self.label(), self.san_before().unwrap_or_default());
        board_svg(title.trim_end(), &self.fen(), self.squares(), &arrows)
    }
}
