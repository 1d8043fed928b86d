//! The shapes of the pieces, on squares of 45 units. They were drawn for this program.

use maud::{Markup, html};

/// The outlines of a piece, and the lines drawn inside it.
struct PieceShape {
    letter: char,
    body: &'static [&'static str],
    detail: &'static str,
}

/// The base that all pieces share.
const FOOT: &str = "M11.5 40.2v-2.4a2.4 2.4 0 0 1 2.4-2.4h17.2a2.4 2.4 0 0 1 2.4 2.4v2.4z";

const SHAPES: [PieceShape; 7] = [
    PieceShape {
        letter: 'K',
        body: &[
            "M14.2 27.6h16.6l1.6 7.8h-19.8z",
            "M22.5 17.2c1.4-3.6 4-5 6.6-5 4.2 0 6.6 3.4 6 7.2-.5 3.2-3 5.4-4.3 8.2h-16.6c-1.3-2.8-3.8-5-4.3-8.2-.6-3.8 1.8-7.2 6-7.2 2.6 0 5.2 1.4 6.6 5z",
            "M21 3.8h3v2.6h2.6v3h-2.6v4.4h-3v-4.4h-2.6v-3h2.6z",
        ],
        detail: "M22.5 17.2v10.4M14.4 27.6h16.2M13.4 31.6h18.2",
    },
    PieceShape {
        letter: 'Q',
        body: &[
            "M14.2 27.6h16.6l1.6 7.8h-19.8z",
            "M9.8 13.2l4.4 14.4h16.6l4.4-14.4-6.5 7.6-1.6-10.6-4.6 9.4-4.6-9.4-1.6 10.6z",
            "M9.4 9.4a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.4z",
            "M17.6 6.2a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.4z",
            "M27.4 6.2a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.4z",
            "M35.6 9.4a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.4z",
        ],
        detail: "M14.4 27.6h16.2M13.4 31.6h18.2",
    },
    PieceShape {
        letter: 'R',
        body: &[
            "M15.6 18.5h13.8l1.9 16.9h-17.6z",
            "M12.2 8.2h4.6v3.2h3.4v-3.2h4.6v3.2h3.4v-3.2h4.6v7.3l-3.4 3h-13.8l-3.4-3z",
        ],
        detail: "M16 18.5h13M14.4 31.8h16.2",
    },
    PieceShape {
        letter: 'B',
        body: &[
            "M18.3 30.6h8.4l3.4 4.8h-15.2z",
            "M22.5 9.4c5.1 4 8.3 8.2 8.3 12.7 0 3.9-2 6.6-4.4 8.5h-7.8c-2.4-1.9-4.4-4.6-4.4-8.5 0-4.5 3.2-8.7 8.3-12.7z",
            "M22.5 4.6a2.6 2.6 0 1 0 0 5.2 2.6 2.6 0 0 0 0-5.2z",
        ],
        detail: "M25.9 13.6l-4.6 7.2M17.9 30.6h9.2",
    },
    PieceShape {
        letter: 'N',
        body: &[
            "M31.4 35.4c.9-9.8.1-20.6-8.8-25.3l-.7-4.3-3.5 3.7c-3 1.6-4.8 4.2-5.8 7.4l-3.3 5.5c-.7 1.2-.3 2.7.9 3.4l1.7 1c1 .6 2.2.4 3-.4l1.9-2c2.2-.2 4.2-1 5.7-2.4-.2 4.9-7.4 6.9-8.3 13.4z",
        ],
        detail: "M25.6 15.2c2.6 3.6 3.2 8.6 3 14.6",
    },
    PieceShape {
        letter: 'P',
        body: &[
            "M18.9 21.2h7.2c.3 5.6 1.8 9.8 5 14.2h-17.2c3.2-4.4 4.7-8.6 5-14.2z",
            "M16.4 21.6h12.2c0-1.6-1.6-2.9-3-3.3h-6.2c-1.4.4-3 1.7-3 3.3z",
            "M22.5 7.6a5.6 5.6 0 1 0 0 11.2 5.6 5.6 0 0 0 0-11.2z",
        ],
        detail: "",
    },
    // The symbol for any piece of a colour.
    PieceShape { letter: 'A', body: &["M22.5 11.5a11 11 0 1 0 0 22 11 11 0 0 0 0-22z"], detail: "" },
];

/// Returns the definitions to which boards refer: the squares, their names and the pieces. A page includes them once, before all
/// boards.
pub fn definitions() -> Markup {
    html! {
        svg xmlns="http://www.w3.org/2000/svg" class="definitions" width="0" height="0" aria-hidden="true" {
            defs {
                g id="empty-board" {
                    rect class="squares-light" width="360" height="360" {}
                    path class="squares-dark" d=(dark_squares()) {}
                }
                g id="board-names" { (names(false)) }
                @for shape in &SHAPES {
                    (piece(shape, "white", shape.letter))
                    (piece(shape, "black", shape.letter.to_ascii_lowercase()))
                }
                g id=(name('_').unwrap_or_default()) {
                    circle class="empty" cx="22.5" cy="22.5" r="11" {}
                }
            }
        }
    }
}

/// Returns the labels of files and ranks, which are drawn beside a board.
pub(super) fn names(is_flipped: bool) -> Markup {
    html! {
        g class="names" font-size="13" text-anchor="middle" {
            @for k in 0..8u8 {
                @let at = f64::from(if is_flipped { 7 - k } else { k }) * 45.0;
                text x=(at + 22.5) y="375" { (char::from(b'a' + k)) }
                text x="-9" y=(342.0 - at) { (k + 1) }
            }
        }
    }
}

/// Returns the id of the symbol for a piece letter, or `None` for any other letter.
///
/// The ids begin with `white-` or `black-`, so they differ even if case is ignored.
pub(super) fn name(letter: char) -> Option<String> {
    let known = SHAPES.iter().any(|shape| shape.letter == letter.to_ascii_uppercase());
    match letter {
        '_' => Some("on-empty".into()),
        _ if !known => None,
        _ if letter.is_ascii_uppercase() => Some(format!("white-{letter}")),
        _ => Some(format!("black-{letter}")),
    }
}

fn piece(shape: &PieceShape, color: &str, letter: char) -> Markup {
    let has_foot = shape.letter != 'A';
    html! {
        g id=(name(letter).unwrap_or_default()) class=(color) {
            @for path in shape.body {
                path class="body" d=(path) {}
            }
            @if has_foot {
                path class="body" d=(FOOT) {}
            }
            @if shape.letter == 'N' {
                circle class="eye" cx="17.9" cy="15.6" r="1.5" {}
            }
            @if !shape.detail.is_empty() {
                path class="detail" d=(shape.detail) {}
            }
        }
    }
}

/// Returns a single path that covers all dark squares. a1, at the bottom left, is dark.
fn dark_squares() -> String {
    let squares = (0..64).map(|k| (k % 8, k / 8)).filter(|(column, row)| (column + row) % 2 == 1);
    squares.map(|(column, row)| format!("M{} {}h45v45h-45z", 45 * column, 45 * row)).collect()
}
