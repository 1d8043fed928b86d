//! Boards with pieces.

use maud::{Markup, html};

use super::{picture, pieces};
use orbit_core::board::{Bitboard, Square};
use orbit_core::fen::{Symbol, ranks};

/// A board with its pieces.
#[derive(Clone, Copy, Debug)]
pub struct BoardDrawing<'a> {
    /// The prefix of all `id` attributes of the board. It must be unique in a page.
    pub id: &'a str,
    /// A short description of the picture.
    pub title: &'a str,
    /// A FEN, or only its placement field. `A`, `a` and `_` represent any white piece, any black piece and a square that must be
    /// empty. Nothing after the first error is drawn.
    pub placement: &'a str,
    /// The squares that are highlighted.
    pub lit: Bitboard,
    /// The squares that are marked with a dot.
    pub area: Bitboard,
    /// The moves that are drawn as arrows, as pairs of squares. The first arrow is emphasized.
    pub arrows: &'a [[Square; 2]],
    /// True if the names of the files and ranks are drawn beside the board.
    pub has_names: bool,
    /// True if the board is drawn with Black's side at the bottom.
    pub is_flipped: bool,
}

impl BoardDrawing<'_> {
    /// Returns the picture. The page that contains it must also contain [`super::definitions`].
    pub fn picture(&self) -> Markup {
        let pieces = pieces_of(self.placement);
        let view = if self.has_names { (-16, -1, 377, 379) } else { (-1, -1, 362, 362) };
        let at = |square: Square| {
            let (column, row) = (square.file() as i32, 7 - square.rank() as i32);
            if self.is_flipped { (45 * (7 - column), 45 * (7 - row)) } else { (45 * column, 45 * row) }
        };
        let inside = html! {
            use href="#empty-board" {}
            @for square in self.lit {
                @let (x, y) = at(square);
                rect class="lit" x=(f64::from(x) + 1.25) y=(f64::from(y) + 1.25) width="42.5" height="42.5" {}
            }
            @for square in self.area {
                @let (x, y) = at(square);
                circle class="area" cx=(f64::from(x) + 22.5) cy=(f64::from(y) + 22.5) r="7" {}
            }
            rect class="edge" width="360" height="360" {}
            @for &(square, letter) in &pieces {
                @let (x, y) = at(square);
                @if let Some(name) = pieces::name(letter) {
                    use href={ "#" (name) } x=(x) y=(y) {}
                }
            }
            @for (index, &[from, to]) in self.arrows.iter().enumerate().rev() {
                path class=(if index == 0 { "arrow first" } else { "arrow" }) d=(arrow(at(from), at(to))) {}
            }
            @if self.has_names && self.is_flipped { (pieces::names(true)) }
            @else if self.has_names { use href="#board-names" {} }
        };
        picture(self.id, "board", view, self.title, &self.words(&pieces), inside)
    }

    /// Describes the board in words, for screen readers: `White: Kg1 Qd1; Black: Ke8; marked: d1`.
    fn words(&self, pieces: &[(Square, char)]) -> String {
        let list = |test: &dyn Fn(char) -> bool| {
            let mut sorted: Vec<_> = pieces.iter().filter(|(_, letter)| test(*letter)).collect();
            sorted.sort_by_key(|(square, letter)| ("KQRBNPA_".find(letter.to_ascii_uppercase()), *square));
            sorted
                .iter()
                .map(|(square, letter)| format!(" {}{square}", letter.to_ascii_uppercase()))
                .collect()
        };
        let squares = |set: Bitboard| set.into_iter().map(|square| format!(" {square}")).collect();
        let arrows = self.arrows.iter().map(|[from, to]| format!(" {from}-{to}")).collect();
        let parts: [(&str, String); 6] = [
            ("White", list(&|letter| letter.is_ascii_uppercase())),
            ("Black", list(&|letter| letter.is_ascii_lowercase())),
            ("empty", list(&|letter| letter == '_')),
            ("lit", squares(self.lit)),
            ("marked", squares(self.area)),
            ("arrows", arrows),
        ];
        let parts = parts.iter().filter(|(_, list)| !list.is_empty());
        let words: Vec<String> = parts.map(|(name, list)| format!("{name}:{list}")).collect();
        if words.is_empty() { "an empty board".into() } else { words.join("; ") }
    }
}

/// Returns the outline of an arrow from the centre of one square to the centre of another. `from` and `to` are the top left
/// corners of these squares.
fn arrow(from: (i32, i32), to: (i32, i32)) -> String {
    let middle = |(x, y): (i32, i32)| (f64::from(x) + 22.5, f64::from(y) + 22.5);
    let ((x, y), (tip_x, tip_y)) = (middle(from), middle(to));
    let length = (tip_x - x).hypot(tip_y - y).max(1.0);
    let (along_x, along_y) = ((tip_x - x) / length, (tip_y - y) / length);
    // Each corner of the outline is a pair: its distance along the arrow, and its distance to the left of it. The distances along
    // the arrow are `tail`, `neck` and `tip`.
    let (tail, neck, tip) = (8.0, length - 16.0, length - 2.0);
    let outline =
        [(tail, 2.5), (neck, 3.5), (neck, 10.0), (tip, 0.0), (neck, -10.0), (neck, -3.5), (tail, -2.5)];
    let corner = |(forward, left): (f64, f64)| {
        format!("{:.1} {:.1}", x + along_x * forward + along_y * left, y + along_y * forward - along_x * left)
    };
    format!("M{}Z", outline.map(corner).join("L"))
}

/// Returns the squares with their piece letters, up to the first error in the placement.
fn pieces_of(placement: &str) -> Vec<(Square, char)> {
    let field = placement.split([' ', '[']).next().unwrap_or_default();
    let symbols = ranks(field)
        .take(8)
        .flat_map(|rank| rank.symbols().map(move |(_, file, symbol)| (8 * (7 - rank.index), file, symbol)));
    let letters = symbols.filter_map(|(first, file, symbol)| match symbol {
        Symbol::Letter(letter) => Some((first, file, letter)),
        Symbol::Squares(_) | Symbol::Promoted => None,
    });
    letters
        .take_while(|&(_, file, _)| file < 8)
        .filter(|&(.., letter)| pieces::name(letter).is_some())
        .map(|(first, file, letter)| (Square::new(first + file), letter))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagram(placement: &str) -> String {
        drawn(placement, false)
    }

    fn drawn(placement: &str, is_flipped: bool) -> String {
        let lit = Bitboard::from(Square::D4);
        let area = Bitboard::from(Square::H8);
        let has_names = true;
        let arrows = &[[Square::D4, Square::F5], [Square::A1, Square::A8]];
        let title = "a < b";
        BoardDrawing { id: "b", title, placement, lit, area, arrows, has_names, is_flipped }
            .picture()
            .into_string()
    }

    #[test]
    fn black_is_at_the_bottom_of_a_flipped_board() {
        let text = drawn("7k/8/8/8/3N4/5k2/8/R6_", true);
        for part in [
            r##"<use href="#black-k" x="0" y="315"></use>"##,
            r##"<use href="#white-R" x="315" y="0"></use>"##,
            r#"<rect class="lit" x="181.25" y="136.25""#,
            r#"<text x="22.5" y="375">h</text>"#,
            "White: Ra1 Nd4; Black: Kf3 Kh8",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(text.contains(r#"<text x="-9" y="27">1</text>"#) && !text.contains("#board-names"), "{text}");
    }

    #[test]
    fn pieces_stand_where_the_fen_has_them() {
        let text = diagram("7k/8/8/8/3N4/5k2/8/R6_ w - - 0 1");
        for part in [
            r##"<use href="#black-k" x="315" y="0"></use>"##,
            r##"<use href="#white-N" x="135" y="180"></use>"##,
            r##"<use href="#black-k" x="225" y="225"></use>"##,
            r##"<use href="#white-R" x="0" y="315"></use>"##,
            r##"<use href="#on-empty" x="315" y="315"></use>"##,
            r#"<rect class="lit" x="136.25" y="181.25""#,
            r#"<circle class="area" cx="337.5" cy="22.5""#,
            "a &lt; b</title>",
            "White: Ra1 Nd4; Black: Kf3 Kh8; empty: _h1; lit: d4; marked: h8; arrows: d4-f5 a1-a8</desc>",
        ] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
        assert_eq!(text.matches("<use").count(), 7, "the board, five pieces, the names of files and ranks");
    }

    #[test]
    fn what_is_no_placement_is_left_out() {
        for (placement, pieces) in [
            ("", 0),
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[Qn] w", 32),
            ("Q~7/8", 1),
            ("99999999999k/8", 0),
            ("x1k/é/K", 2),
            ("k/k/k/k/k/k/k/k/k/k/k", 8),
        ] {
            assert_eq!(pieces_of(placement).len(), pieces, "{placement}");
        }
        assert!(diagram("").contains("<use"));
    }
}
