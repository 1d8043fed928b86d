//! The names of transforms, from orbit itself, CQL and chessops.
//!
//! orbit's names are in kebab-case. CQL names (one word in lower case) and chessops names (camel case) are also accepted. Some
//! words have opposite meanings in CQL and chessops. For these words, the meaning depends on the spelling, and a warning explains
//! it:
//!
//! | spelling | exchanged ranks or files |
//! |---|---|
//! | `flipVertical` (chessops), `flip-vertical`, `flip_vertical` (shakmaty) | 1 <-> 8 |
//! | `flipvertical` (CQL) | a <-> h |
//! | `flipHorizontal` (chessops), `flip-horizontal`, `flip_horizontal` (shakmaty) | a <-> h |
//! | `fliphorizontal` (CQL) | 1 <-> 8 |
//!
//! `shift-left` is refused because it is ambiguous: squares that leave the board could be dropped, as in CQL, or wrap around, as in
//! chessops' `shiftLeft`.

use super::{SquareTransform, Transform};
use crate::board::Dihedral;
use crate::diagnostic::{Diagnostic, Span};

/// The version of CQL that defines the meaning of `shift`, `shifthorizontal` and similar words.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Shifts {
    /// Squares that leave the board are dropped.
    #[default]
    Cql6,
    /// Squares that leave the board are dropped, and squares on the trailing edge both move and stay in place. This works for sets
    /// of squares, but not for pieces.
    Cql5,
}

/// One transform of a sequence, with the place of its name in the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TransformStep {
    /// The transform.
    pub transform: Transform,
    /// The place of the word in the text.
    pub span: Span,
    /// A warning if CQL and chessops give this word opposite meanings.
    pub warning: Option<Diagnostic>,
}

/// Returns the name of a symmetry of the board.
pub const fn of_dihedral(dihedral: Dihedral) -> &'static str {
    match dihedral {
        Dihedral::Identity => "identity",
        Dihedral::Rotate90Ccw => "rotate90",
        Dihedral::Rotate180 => "rotate180",
        Dihedral::Rotate270Ccw => "rotate270",
        Dihedral::ReflectRanks => "flip-ranks",
        Dihedral::ReflectFiles => "flip-files",
        Dihedral::ReflectMain => "flip-diagonal",
        Dihedral::ReflectAnti => "flip-anti-diagonal",
    }
}

/// All transforms whose names take no numbers, each with its names. The first name of each row is orbit's own.
const FIXED: &[(&[&str], Transform)] = &[
    (&["identity"], turn(Dihedral::Identity)),
    (
        &["flip-ranks", "fliphorizontal", "flipVertical", "flip-vertical", "flip_vertical"],
        turn(Dihedral::ReflectRanks),
    ),
    (
        &["flip-files", "flipvertical", "flipHorizontal", "flip-horizontal", "flip_horizontal"],
        turn(Dihedral::ReflectFiles),
    ),
    (&["flip-diagonal", "flipdiagonal", "flipDiagonal", "flip_diagonal"], turn(Dihedral::ReflectMain)),
    (&["flip-anti-diagonal", "flipoffdiagonal", "flip_anti_diagonal"], turn(Dihedral::ReflectAnti)),
    (&["rotate90", "rotate-90", "rotate90-ccw"], turn(Dihedral::Rotate90Ccw)),
    (&["rotate180", "rotate-180", "view-from-black"], turn(Dihedral::Rotate180)),
    (&["rotate270", "rotate-270", "rotate90-cw"], turn(Dihedral::Rotate270Ccw)),
    (&["flip-colors", "flipcolor", "flip-color", "reversecolor"], Transform::Colors),
    (&["normalize-chess960"], Transform::KingSide),
    (&["shiftLeft"], Transform::Squares(SquareTransform::Wrap(-1, 0))),
    (&["shiftRight"], Transform::Squares(SquareTransform::Wrap(1, 0))),
    (&["shiftUp"], Transform::Squares(SquareTransform::Wrap(0, 1))),
    (&["shiftDown"], Transform::Squares(SquareTransform::Wrap(0, -1))),
];

/// Names that take numbers after colons, as in `shift:1:2`. For each number, the row contains a step (files, ranks), which is
/// multiplied by the number.
const SHIFTS: &[(&str, &[(i32, i32)])] = &[
    ("shift", &[(1, 0), (0, 1)]),
    ("shifthorizontal", &[(1, 0)]),
    ("shiftvertical", &[(0, 1)]),
    ("shiftmaindiagonal", &[(1, 1)]),
    ("shiftoffdiagonal", &[(1, -1)]),
    ("smear", &[(1, 0), (0, 1)]),
    ("wrap", &[(1, 0), (0, 1)]),
    ("wrap-left", &[(-1, 0)]),
    ("wrap-right", &[(1, 0)]),
    ("wrap-up", &[(0, 1)]),
    ("wrap-down", &[(0, -1)]),
];

/// The meaning of each name, for `orbit transform --help`.
pub const HELP: &str =
    "  flip-ranks           reflects ranks, 1 <-> 8; CQL: fliphorizontal, chessops: flipVertical
  flip-files           reflects files, a <-> h; CQL: flipvertical, chessops: flipHorizontal
  flip-diagonal        reflects in the diagonal a1-h8; CQL: flipdiagonal, chessops: flipDiagonal
  flip-anti-diagonal   reflects in the diagonal h1-a8; CQL: flipoffdiagonal
  rotate90             turns a1 to h1; also rotate180 (or view-from-black), rotate270
  flip-colors          reflects ranks and swaps the colours of pieces, of pockets, of remaining
                       checks and of the side to move; CQL: flipcolor, reversecolor
  shift:F:R            moves pieces F files to the right and R ranks up, and drops those that leave
                       the board; also shifthorizontal:F, shiftvertical:R, shiftmaindiagonal:N,
                       shiftoffdiagonal:N
  wrap:F:R             moves pieces in the same way; those that leave the board come in at the
                       opposite edge; also wrap-left:N, wrap-right, wrap-up, wrap-down; chessops:
                       shiftLeft, shiftRight, shiftUp, shiftDown
  smear:F:R            shifts a set of squares as CQL 5 does: squares on the edge that the shift
                       leaves stay in the set (only for --squares)
  normalize-chess960   flip-files if White's king is on the files a to d, else nothing
  identity             changes nothing";

const fn turn(dihedral: Dihedral) -> Transform {
    Transform::Squares(SquareTransform::Dihedral(dihedral))
}

/// Reads names separated by commas. The transforms are to be applied from left to right.
///
/// # Errors
///
/// Returns the first word that is not a name, or whose numbers are wrong, with its place.
///
/// ```
/// use orbit_core::positions::names::{parse, Shifts};
/// assert_eq!(parse("flip-vertical,rotate90", Shifts::Cql6).unwrap().len(), 2);
/// assert!(parse("flipvertical", Shifts::Cql6).unwrap()[0].warning.is_some());
/// ```
pub fn parse(text: &str, shifts: Shifts) -> Result<Vec<TransformStep>, Diagnostic> {
    let mut start = 0;
    text.split(',')
        .map(|word| {
            let span = Span::new(start, start + word.len());
            start = span.end + 1;
            step(word, span, shifts)
        })
        .collect()
}

fn step(word: &str, span: Span, shifts: Shifts) -> Result<TransformStep, Diagnostic> {
    let fixed = FIXED.iter().find(|(names, _)| names.contains(&word));
    if let Some(&(_, transform)) = fixed {
        return Ok(TransformStep { transform, span, warning: warning(word, span) });
    }
    let mut parts = word.split(':');
    let name = parts.next().unwrap_or_default();
    let Some((_, units)) = SHIFTS.iter().find(|(known, _)| *known == name) else {
        return Err(unknown(word, span));
    };
    let numbers: Vec<&str> = parts.collect();
    let (files, ranks) = offset(name, &numbers, units, span)?;
    let map = match (name, shifts) {
        _ if name.starts_with("wrap") => SquareTransform::Wrap(files, ranks),
        ("smear", _) | (_, Shifts::Cql5) => SquareTransform::Smear(small(files), small(ranks)),
        _ => SquareTransform::Shift(small(files), small(ranks)),
    };
    Ok(TransformStep { transform: Transform::Squares(map), span, warning: None })
}

/// Clamps an offset to at most 8 files or ranks, since a larger shift has the effect of a shift by 8.
fn small(offset: i32) -> i8 {
    offset.clamp(-8, 8) as i8
}

/// Reads the numbers of a shift and returns its offset in files and ranks. `wrap-left` and similar names shift by 1 if no number is
/// given.
fn offset(name: &str, numbers: &[&str], units: &[(i32, i32)], span: Span) -> Result<(i32, i32), Diagnostic> {
    let numbers = if numbers.is_empty() && name.starts_with("wrap-") { &["1"] } else { numbers };
    let wanted = match units {
        [_] => format!("write how far, such as `{name}:2`"),
        _ => format!("write how many files to the right and ranks up, such as `{name}:2:-1`"),
    };
    if numbers.len() != units.len() {
        return Err(Diagnostic::error(
            span,
            format!("`{name}` wants {} after colons", count(units.len())),
            wanted,
        ));
    }
    let mut sum = (0i32, 0i32);
    for (text, (files, ranks)) in numbers.iter().zip(units) {
        let number: i16 = text.parse().map_err(|_| {
            Diagnostic::error(span, format!("`{text}` is no number of squares"), wanted.clone())
        })?;
        sum = (sum.0 + files * i32::from(number), sum.1 + ranks * i32::from(number));
    }
    Ok(sum)
}

fn count(numbers: usize) -> &'static str {
    if numbers == 1 { "a number" } else { "two numbers" }
}

/// Returns a warning if CQL and chessops give the word opposite meanings.
fn warning(word: &str, span: Span) -> Option<Diagnostic> {
    let plain: String = word.to_ascii_lowercase().replace(['-', '_'], "");
    let (is_vertical, stem) = match plain.as_str() {
        "flipvertical" => (true, "vertical"),
        "fliphorizontal" => (false, "horizontal"),
        _ => return None,
    };
    let is_cql = plain == word;
    let squares = if is_vertical == is_cql { "files, a <-> h" } else { "ranks, 1 <-> 8" };
    let whose = if is_cql { "CQL" } else { "chessops" };
    let title = stem[..1].to_ascii_uppercase() + &stem[1..];
    let message = format!("CQL's `flip{stem}` and chessops' `flip{title}` are opposites");
    let label = format!("taken as in {whose}: it reflects {squares}");
    Some(Diagnostic::warning(span, message, label).help("write `flip-ranks` or `flip-files` to be plain"))
}

fn unknown(word: &str, span: Span) -> Diagnostic {
    let one_of = |label: &str| Diagnostic::error(span, format!("`{word}` is not one transform"), label);
    match word {
        "flip" | "dihedral" | "flipdihedral" => {
            return one_of("CQL's name for all eight: choose one, such as `flip-files`")
                .help("`--canonical dihedral` chooses one of the eight, the same for all images");
        }
        "shift-left" | "shift-right" | "shift-up" | "shift-down" => {
            let (name, numbers) = match &word[6..] {
                "left" => ("left", "-1:0"),
                "right" => ("right", "1:0"),
                "up" => ("up", "0:1"),
                _ => ("down", "0:-1"),
            };
            return Diagnostic::error(span, format!("`{word}` could mean two things"), "drop what leaves the board?")
                .help(format!(
                    "write `shift:{numbers}` to drop it, as CQL does, or `wrap-{name}` to let it come in again, as \
                     chessops does"
                ));
        }
        _ => {}
    }
    let plain = |name: &str| name.to_ascii_lowercase().replace(['-', '_'], "");
    let names = FIXED.iter().flat_map(|(names, _)| names.iter()).chain(SHIFTS.iter().map(|(name, _)| name));
    let near = names.copied().find(|name| plain(name) == plain(word));
    let label = match near {
        Some(name) => format!("write `{name}`"),
        None if word.is_empty() => "expected a name before and after each comma".into(),
        None => "expected a name such as `flip-ranks`, `rotate90`, `flip-colors` or `shift:1:0`".into(),
    };
    Diagnostic::error(span, format!("there is no transform `{word}`"), label)
        .help("`orbit transform --help` lists all names")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(word: &str) -> Transform {
        parse(word, Shifts::Cql6).unwrap()[0].transform
    }

    #[test]
    fn every_symmetry_is_read_by_the_name_it_is_written_with() {
        for dihedral in Dihedral::ALL {
            assert_eq!(one(of_dihedral(dihedral)), turn(dihedral));
        }
    }

    #[test]
    fn the_spelling_decides_and_a_warning_says_so() {
        let ranks = ["flip-ranks", "fliphorizontal", "flipVertical", "flip-vertical", "flip_vertical"];
        let files = ["flip-files", "flipvertical", "flipHorizontal", "flip-horizontal", "flip_horizontal"];
        for (words, dihedral, squares) in
            [(ranks, Dihedral::ReflectRanks, "1 <-> 8"), (files, Dihedral::ReflectFiles, "a <-> h")]
        {
            for (k, word) in words.into_iter().enumerate() {
                let step = parse(word, Shifts::Cql6).unwrap().remove(0);
                assert_eq!(step.transform, turn(dihedral), "{word}");
                assert_eq!(step.warning.is_some(), k > 0, "{word}");
                if let Some(warning) = step.warning {
                    assert!(warning.label.ends_with(squares), "{word}: {warning}");
                    assert_eq!(warning.label.contains("CQL"), k == 1, "{word}: {warning}");
                }
            }
        }
    }

    #[test]
    fn shifts_take_their_numbers() {
        use SquareTransform::*;
        for (word, map) in [
            ("shift:2:-3", Shift(2, -3)),
            ("shifthorizontal:-1", Shift(-1, 0)),
            ("shiftvertical:7", Shift(0, 7)),
            ("shiftmaindiagonal:2", Shift(2, 2)),
            ("shiftoffdiagonal:2", Shift(2, -2)),
            ("shift:300:0", Shift(8, 0)),
            ("smear:1:1", Smear(1, 1)),
            ("wrap:9:-9", Wrap(9, -9)),
            ("wrap-left", Wrap(-1, 0)),
            ("wrap-down:3", Wrap(0, -3)),
            ("shiftLeft", Wrap(-1, 0)),
            ("shiftUp", Wrap(0, 1)),
        ] {
            assert_eq!(one(word), Transform::Squares(map), "{word}");
        }
        let smeared = parse("shift:1:0,wrap:1:0", Shifts::Cql5).unwrap();
        assert_eq!(smeared[0].transform, Transform::Squares(Smear(1, 0)));
        assert_eq!(smeared[1].transform, Transform::Squares(Wrap(1, 0)), "chessops' shifts are no dialect");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (text, span, part) in [
            ("flip-ranks,flip", (11, 15), "choose one"),
            ("rotate45", (0, 8), "expected a name"),
            ("Flip-Ranks", (0, 10), "write `flip-ranks`"),
            ("shift-left", (0, 10), "could mean two things"),
            ("shift", (0, 5), "wants two numbers"),
            ("shift:1", (0, 7), "wants two numbers"),
            ("wrap-left:x", (0, 11), "`x` is no number"),
            ("rotate90,", (9, 9), "before and after each comma"),
            ("wrap:99999:0", (0, 12), "no number of squares"),
        ] {
            let error = parse(text, Shifts::Cql6).unwrap_err();
            assert_eq!((error.span.start, error.span.end), span, "{text}");
            assert!(error.to_string().contains(part), "{text}: {error}");
        }
    }
}
