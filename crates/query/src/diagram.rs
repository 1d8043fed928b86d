//! Turns a board into a query that finds positions with the same pieces on the same squares.
//!
//! The board is a FEN that specifies the content of some squares and leaves the rest open, as in the pattern searches of other
//! chess programs. The result is a query text, which orbit then handles like any other query.

use shakmaty::Square;

use orbit_core::diagnostic::{Diagnostic, Span};
use orbit_core::fen::{Symbol, ranks};

/// The result of turning a board into a query.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagram {
    /// The text of the query: one designator for each square whose content the board requires, a1 first.
    pub text: String,
    /// Remarks on parts of the board that were ignored. Their spans are byte ranges in the text of the board.
    pub remarks: Vec<Diagnostic>,
}

/// Returns a query that finds the positions that match a board, or an image of the board under `transforms`. The transforms are CQL
/// keywords, the outermost first.
///
/// | in the placement | demands |
/// |---|---|
/// | `KQRBNPkqrbnp` | this piece |
/// | `A`, `a` | any white, any black piece |
/// | `_` | an empty square |
/// | `1` to `8`, `?`, `.` | nothing, for that many squares |
///
/// The second field may be the side to move, `w` or `b`, which is then required. Without this field, or with `-`, either side may
/// be to move. Further FEN fields (castling, en passant, counters) are ignored, because they cannot be seen on a board. Unless
/// these fields are empty, a remark says so.
///
/// # Errors
///
/// Returns the first error of the board, with its location. A board that requires nothing is also an error.
///
/// ```
/// use orbit_query::diagram;
/// let knight = diagram::query("8/8/8/8/3N4/5k2/8/8 b", &["shift", "flip"]).unwrap();
/// assert_eq!(knight.text, "shift flip {btm kf3 Nd4}");
/// ```
pub fn query(board: &str, transforms: &[&str]) -> Result<Diagram, Diagnostic> {
    let mut words = words(board);
    let placement = first(&mut words)?;
    let mut filters: Vec<String> =
        men(board, placement)?.into_iter().map(|(square, letter)| format!("{letter}{square}")).collect();
    if let Some(turn) = words.next() {
        match &board[turn.start..turn.end] {
            "w" => filters.insert(0, "wtm".into()),
            "b" => filters.insert(0, "btm".into()),
            "-" => {}
            _ => {
                let label = "expected `w`, `b`, or `-` for either";
                return Err(Diagnostic::error(turn, "this is no side to move", label));
            }
        }
    }
    let remarks = words.next().map(|first| remark(board, first)).into_iter().flatten().collect();
    let mut text = String::new();
    transforms.iter().for_each(|transform| text.extend([transform, " "]));
    match &filters[..] {
        [one] => text.push_str(one),
        all => text.extend(["{", &all.join(" "), "}"]),
    }
    Ok(Diagram { text, remarks })
}

/// Returns a query whose value is the similarity of a position to a board, in percent. The similarity is twice the number of men
/// that stand on the same squares in both, divided by the number of men in the position plus the number of men on the board. With
/// transforms, the query compares the position with the most similar image of the board.
///
/// The board uses the letters that [`query`] describes. All fields after the placement are ignored. Unless these fields are empty,
/// a remark says so.
///
/// # Errors
///
/// Returns the first error of the board, with its location. A board that requires nothing is also an error.
///
/// ```
/// use orbit_query::diagram;
/// let knight = diagram::similar("8/8/8/8/3N4/5k2/8/8", &["shift"]).unwrap();
/// assert_eq!(knight.text, "200 * (shift similar \"8/8/8/8/3N4/5k2/8/8\") / (2 + #[Aa])");
/// ```
pub fn similar(board: &str, transforms: &[&str]) -> Result<Diagram, Diagnostic> {
    let mut words = words(board);
    let placement = first(&mut words)?;
    let men = men(board, placement)?.len();
    let placement = &board[placement.start..placement.end];
    let transforms: String = transforms.iter().flat_map(|transform| [transform, " "]).collect();
    let remarks = words.next().map(|first| remark(board, first)).into_iter().flatten().collect();
    Ok(Diagram { text: format!("200 * ({transforms}similar \"{placement}\") / ({men} + #[Aa])"), remarks })
}

/// Returns the location of the first field of a board, which is its placement.
fn first(words: &mut impl Iterator<Item = Span>) -> Result<Span, Diagnostic> {
    words.next().ok_or_else(|| Diagnostic::error(Span::new(0, 0), "the board is empty", EXPECTED))
}

const EXPECTED: &str = "expected eight ranks such as `8/8/8/8/3N4/5k2/8/8`, from rank 8 down";

/// Returns the location of the placement, the first field of a FEN.
pub(super) fn placement(fen: &str) -> Result<Span, Diagnostic> {
    first(&mut words(fen))
}

/// Reads a placement. Returns the squares whose content it requires, from a1 to h8, each with the letter on the board. A
/// placement without such a square is an error.
pub(super) fn men(board: &str, placement: Span) -> Result<Vec<(Square, char)>, Diagnostic> {
    let text = &board[placement.start..placement.end];
    let mut found: Vec<(Square, char)> = Vec::new();
    let mut count = 0;
    for rank_text in ranks(text) {
        let start = placement.start + rank_text.start;
        let span = Span::new(start, start + rank_text.text.len());
        count += 1;
        if count > 8 {
            return Err(Diagnostic::error(
                span,
                "a ninth rank",
                "expected eight, from rank 8 down to rank 1",
            ));
        }
        let rank = 8 - count;
        for (at, file, symbol) in rank_text.symbols() {
            match symbol {
                Symbol::Squares(1..=8) | Symbol::Letter('?' | '.') => {}
                Symbol::Letter(letter) if "KQRBNPkqrbnpAa_".contains(letter) => {
                    if file < 8 {
                        found.push((Square::new(8 * rank + file), letter));
                    }
                }
                _ => {
                    let letter = symbol.letter();
                    let at = span.start + at;
                    let label = "expected a piece (`A` and `a` for any), `_`, `?`, or a digit from 1 to 8";
                    let span = Span::new(at, at + letter.len_utf8());
                    return Err(Diagnostic::error(span, format!("`{letter}` is no piece"), label));
                }
            }
        }
        let file = rank_text.files();
        if file != 8 {
            let span = Span::new(span.start, span.end.max(span.start + 1));
            let message = format!("rank {} has {file} squares", rank + 1);
            return Err(Diagnostic::error(span, message, "expected pieces and digits that add up to 8"));
        }
    }
    if count < 8 {
        return Err(Diagnostic::error(placement, format!("only {count} ranks"), EXPECTED));
    }
    if found.is_empty() {
        let label = "expected a piece, or `_` for a square that must be empty";
        return Err(Diagnostic::error(placement, "the board demands nothing", label)
            .help("digits, `?` and `.` stand for squares on which anything may be"));
    }
    found.sort_unstable();
    Ok(found)
}

/// Returns the remark that the fields from `first` on are ignored. Returns `None` if all these fields are empty (`-`).
fn remark(board: &str, first: Span) -> Option<Diagnostic> {
    let rest: Vec<Span> = words(&board[first.start..])
        .map(|word| Span::new(first.start + word.start, first.start + word.end))
        .filter(|word| &board[word.start..word.end] != "-")
        .collect();
    let span = rest.first()?.to(*rest.last()?);
    let label = "castling, en passant and counters are no part of a board";
    Some(Diagnostic::note(span, "these fields have no effect", label))
}

fn words(text: &str) -> impl Iterator<Item = Span> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(|letter: char| !letter.is_whitespace())?;
        let end = text[start..].find(char::is_whitespace).map_or(text.len(), |len| start + len);
        at = end;
        Some(Span::new(start, end))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_square_of_the_board_is_one_designator() {
        let text = |board: &str| query(board, &[]).unwrap().text;
        assert_eq!(text("8/8/8/8/8/8/8/7R"), "Rh1");
        assert_eq!(text("k??????K/8/8/8/8/8/pp6/R......_"), "{Ra1 _h1 pa2 pb2 ka8 Kh8}");
        assert_eq!(text("8/8/8/8/8/8/A6a/8 -"), "{Aa2 ah2}");
        assert_eq!(text("  8/8/8/8/8/8/8/7R   w  "), "{wtm Rh1}");
        let start = text("rnbqkbnr/pppppppp/________/8/8/8/PPPPPPPP/RNBQKBNR");
        assert_eq!(start.split(' ').count(), 40);
        assert!(crate::parse(&start).is_ok());
    }

    #[test]
    fn later_fields_are_remarked_on_if_they_say_anything() {
        let remarks = |board: &str| query(board, &[]).unwrap().remarks;
        assert_eq!(remarks("8/8/8/8/8/8/8/7R w - -"), []);
        let remark = &remarks("8/8/8/8/8/8/8/7R w KQkq - 0 1")[0];
        assert_eq!((remark.span.start, remark.span.end), (19, 29));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (board, span, part) in [
            ("", (0, 0), "the board is empty"),
            ("8/8/8/8/8/8/8/8", (0, 15), "demands nothing"),
            ("8/8/8/8/8/8/8/?7 w", (0, 16), "demands nothing"),
            ("8/8/8/8/8/8/8/R", (14, 15), "rank 1 has 1 squares"),
            ("8/8/8/8/8/8/RRRRRRRRR/8", (12, 21), "rank 2 has 9 squares"),
            ("8/8//8/8/8/8/8", (4, 5), "rank 6 has 0 squares"),
            ("8/8/8/8/8/8/R7", (0, 14), "only 7 ranks"),
            ("8/8/8/8/8/8/R7/8/8", (17, 18), "a ninth rank"),
            ("8/8/8/8/8/8/R7/7x", (16, 17), "`x` is no piece"),
            ("8/8/8/8/8/8/R7/7é", (16, 18), "`é` is no piece"),
            ("8/8/8/8/8/8/R7/8 x", (17, 18), "no side to move"),
            ("Nd4", (1, 2), "`d` is no piece"),
        ] {
            let error = query(board, &[]).unwrap_err();
            assert_eq!((error.span.start, error.span.end), span, "{board}");
            assert!(error.message.contains(part), "{board}: {error}");
        }
    }
}
