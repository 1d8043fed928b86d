//! Converts movetext tokens in any notation to the SAN that shakmaty reads.

use shakmaty::san::San;
use shakmaty::{Rank, Role, Square};

use super::rules::{Rule, Rules};
use super::visit::MovetextToken;
use orbit_pgn::Outcome;

/// The maximum length in bytes of a token that can be a move.
const MOVE_BYTES: usize = 32;

/// The notations of null moves that pgn-reader does not recognise.
const NULLS: [&str; 5] = ["z0", "@@@@", "<>", "0000", "null"];

/// Tokens that annotate a move and are not moves themselves.
const MARKS: [&str; 10] = ["ep", "e.p.", "e.p", "N", "TN", "D", "mate", "ch", "dbl", "x"];

/// The tokens that may directly follow a move.
const REMARKS: [&str; 6] = ["ep", "e.p", "mate", "ch", "dblch", "N"];

/// The meaning of a token.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum WitnessWord {
    /// A move number of `bytes` bytes. The text after it is another token.
    Number {
        bytes: usize,
        value: u32,
        dotted: bool,
    },
    Result(Outcome),
    /// A move, and the rules needed to read it.
    Move(MovetextToken, Rules),
    /// A remark on a move.
    Mark,
    /// Anything else.
    Junk,
}

/// Returns the characters of a text, each with its length in bytes. Bytes that are not UTF-8 are read as Windows-1252 if movetext
/// may contain that character, and otherwise as U+FFFD.
pub(super) fn letters(bytes: &[u8]) -> Vec<(char, usize)> {
    let mut out = Vec::new();
    for chunk in bytes.utf8_chunks() {
        out.extend(chunk.valid().chars().map(|letter| (letter, letter.len_utf8())));
        out.extend(chunk.invalid().iter().map(|&byte| match byte {
            0x85 => ('…', 1),
            0x96 | 0x97 => ('–', 1),
            0xa0 => ('\u{a0}', 1),
            0xbd => ('½', 1),
            _ => (char::REPLACEMENT_CHARACTER, 1),
        }));
    }
    out
}

/// Returns whether a non-ASCII character is a blank.
pub(super) fn is_wide_blank(letter: char) -> bool {
    matches!(
        letter,
        '\u{85}'
            | '\u{a0}'
            | '\u{1680}'
            | '\u{2000}'..='\u{200f}'
            | '\u{2028}'..='\u{202f}'
            | '\u{205f}'
            | '\u{2060}'
            | '\u{3000}'
            | '\u{feff}'
    )
}

fn is_wide_dash(letter: char) -> bool {
    matches!(
        letter,
        '\u{ad}' | '\u{2010}'..='\u{2015}' | '\u{2043}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}'
    )
}

/// Returns the text with all dashes of any kind replaced by `-`.
fn with_plain_dashes(bytes: &[u8]) -> String {
    letters(bytes).into_iter().map(|(letter, _)| if is_wide_dash(letter) { '-' } else { letter }).collect()
}

/// Reads a token that is not empty.
pub(super) fn word(bytes: &[u8]) -> WitnessWord {
    let text = with_plain_dashes(bytes);
    let text = text.as_str();
    if MARKS.contains(&text) {
        return WitnessWord::Mark;
    }
    if let Some(outcome) = result(text) {
        return WitnessWord::Result(outcome);
    }
    let is_move = text.starts_with("0-0") || text.starts_with("0000");
    if !is_move
        && !bytes[0].is_ascii_alphabetic()
        && let Some(outcome) = result_among_signs(bytes)
    {
        return WitnessWord::Result(outcome);
    }
    if !is_move && let Some(number) = number(&letters(bytes)) {
        return number;
    }
    match mv(bytes) {
        Some((token, rules)) => WitnessWord::Move(token, rules),
        None if text.chars().any(|letter| letter.is_alphabetic() || letter.is_ascii_digit()) => {
            WitnessWord::Junk
        }
        None => WitnessWord::Mark,
    }
}

fn number(letters: &[(char, usize)]) -> Option<WitnessWord> {
    let text: String = letters.iter().map(|(letter, _)| letter).collect();
    let digits = text.len() - text.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let rest = &text[digits..];
    let dots = letters[digits..].iter().take_while(|(letter, _)| matches!(letter, '.' | '…'));
    let dots = dots.map(|(_, bytes)| bytes).sum::<usize>();
    let has_letters = text.chars().any(|letter| letter.is_ascii_alphanumeric());
    if digits == 0 {
        return (dots > 0 && has_letters).then_some(WitnessWord::Number {
            bytes: dots,
            value: 0,
            dotted: false,
        });
    }
    let is_number =
        dots > 0 || rest.chars().next().is_none_or(|next| next.is_ascii_alphabetic() || !next.is_ascii());
    let value = text[..digits.min(6)].parse().unwrap_or(0);
    Some(if is_number {
        WitnessWord::Number { bytes: digits + dots, value, dotted: dots > 0 }
    } else {
        WitnessWord::Junk
    })
}

/// Reads a result whose dashes are plain.
fn result(text: &str) -> Option<Outcome> {
    let text = text
        .replace(['\u{2044}', '\u{2215}', '／'], "/")
        .replace('０', "0")
        .replace('１', "1")
        .replace('２', "2");
    match text.replace('½', "1/2").as_str() {
        "1-0" => Some(Outcome::WhiteWins),
        "0-1" => Some(Outcome::BlackWins),
        "1/2-1/2" | "1/2" => Some(Outcome::Draw),
        _ => None,
    }
}

/// Reads a result with other characters before or after it.
fn result_among_signs(bytes: &[u8]) -> Option<Outcome> {
    let text = str::from_utf8(bytes).ok()?;
    let bare = text.trim_matches(|letter: char| !letter.is_alphanumeric());
    if bare == text { None } else { result(&with_plain_dashes(bare.as_bytes())) }
}

/// Reads a result from its first digit, its dash and the rest.
pub(super) fn parted_result(digit: char, dash: char, rest: &[u8]) -> Option<Outcome> {
    let is_dash = dash == '-' || is_wide_dash(dash);
    let joined = format!("{digit}-{}", with_plain_dashes(rest));
    if !is_dash || !matches!(digit, '0' | '1' | '０' | '１') {
        return None;
    }
    let among_signs = || str::from_utf8(rest).ok().and_then(|_| result_among_signs(joined.as_bytes()));
    result(&joined).or_else(among_signs)
}

/// Returns whether pgn-reader recognises a token as a result.
pub(super) fn is_plain_result(text: &str) -> bool {
    matches!(text, "1-0" | "0-1" | "1/2-1/2" | "*" | "1–0" | "0–1" | "½–½" | "1—0" | "0—1" | "½—½" | "½-½")
}

/// Returns the length in bytes of a result that is joined to the end of a move, including one sign after the result. Returns 0 if
/// there is no such result.
pub(super) fn glued_result(bytes: &[u8]) -> usize {
    if bytes[0].is_ascii_digit() {
        return 0;
    }
    let has_sign = bytes.len() > 1 && bytes.last().is_some_and(|last| b".,:'\"`".contains(last));
    let stem = &bytes[..bytes.len() - usize::from(has_sign)];
    if !matches!(stem.last(), Some(b'0' | b'1' | b'2')) {
        return 0;
    }
    let is_digit = |at: &usize| matches!(stem[*at], b'0' | b'1');
    let mut places = (1..stem.len()).filter(is_digit);
    let glued =
        places.find(|&at| result(&with_plain_dashes(&stem[at..])).is_some() && mv(&stem[..at]).is_some());
    glued.map_or(0, |at| bytes.len() - at)
}

/// The maximum length of a token that may begin with castling and contain another token, in bytes.
const GLUED_BYTES_MAX: usize = 64;

/// If another token follows castling without a blank in between, returns the length of this token in bytes. Otherwise returns 0.
pub(super) fn glued_to_castling(bytes: &[u8]) -> usize {
    if bytes.len() > GLUED_BYTES_MAX {
        return 0;
    }
    let letters = letters(bytes);
    let sign = letters[0].0;
    if !matches!(sign, 'O' | '0' | 'o') || mv(bytes).is_some() {
        return 0;
    }
    let mut ends = Vec::new();
    let mut at = 1;
    for pair in letters[1..].chunks(2).take(2) {
        match pair {
            [(dash, dash_bytes), (letter, _)] if (*dash == '-' || is_wide_dash(*dash)) && *letter == sign => {
                at += dash_bytes + 1;
                ends.push(at);
            }
            _ => break,
        }
    }
    let is_glued = |end: &usize| {
        let rest = &bytes[*end..];
        !rest.is_empty()
            && (matches!(
                word(rest),
                WitnessWord::Result(_) | WitnessWord::Move(..) | WitnessWord::Number { dotted: true, .. }
            ) || glued_to_castling(rest) > 0)
    };
    ends.into_iter().rev().find(is_glued).map_or(0, |end| bytes.len() - end)
}

/// Reads a move.
fn mv(bytes: &[u8]) -> Option<(MovetextToken, Rules)> {
    if !(2..=MOVE_BYTES).contains(&bytes.len()) {
        return None;
    }
    let text = with_plain_dashes(bytes);
    let text = text.as_str();
    let mut rules = Rules::default();
    if letters(bytes).iter().any(|(letter, _)| is_wide_dash(*letter)) {
        rules.add(Rule::Dashes);
    }
    for sign in ["--", "Z0"].iter().chain(&NULLS) {
        if let Some(rest) = text.strip_prefix(sign) {
            suffix(rest, &mut rules)?;
            if NULLS.contains(sign) {
                rules.add(Rule::NullSign);
            }
            return Some((MovetextToken::San(San::Null), rules));
        }
    }
    if let Some((san, rest)) = castling(text, &mut rules) {
        suffix(rest, &mut rules)?;
        return Some((MovetextToken::San(san), rules));
    }
    let (role, rest) = role(text, &mut rules);
    let (hint, is_taking, to, rest) = squares(rest, &mut rules)?;
    let takes_promotion = matches!(role, None | Some(Role::Pawn));
    let (promotion, rest) = if takes_promotion { promotion(rest, &mut rules) } else { (None, rest) };
    suffix(rest, &mut rules)?;
    if role.is_none()
        && let [file, rank] = hint.as_bytes()
    {
        let from = Square::from_ascii(&[*file, *rank]).ok()?;
        rules.add(Rule::Coordinates);
        return Some((MovetextToken::Coordinates { from, to, promotion }, rules));
    }
    let letter =
        role.filter(|&role| role != Role::Pawn).map_or(String::new(), |role| role.upper_char().into());
    // A pawn that captures must name its file.
    let is_push =
        matches!(role, None | Some(Role::Pawn)) && !hint.starts_with(|hint| matches!(hint, 'a'..='h'));
    if is_taking && is_push {
        rules.add(Rule::MoveSign);
    }
    let sign = if is_taking && !is_push { "x" } else { "" };
    let promotion = promotion.map_or(String::new(), |role| format!("={}", role.upper_char()));
    let san = San::from_ascii(format!("{letter}{hint}{sign}{to}{promotion}").as_bytes()).ok()?;
    Some((MovetextToken::San(san), rules))
}

fn castling<'a>(text: &'a str, rules: &mut Rules) -> Option<(San, &'a str)> {
    const WAYS: [(&str, &str); 8] = [
        ("O-O-O", "O-O-O"),
        ("0-0-0", "O-O-O"),
        ("o-o-o", "O-O-O"),
        ("OOO", "O-O-O"),
        ("O-O", "O-O"),
        ("0-0", "O-O"),
        ("o-o", "O-O"),
        ("OO", "O-O"),
    ];
    let (way, san) = WAYS.iter().find(|(way, _)| text.starts_with(way))?;
    if !way.contains('-') || way.starts_with('o') {
        rules.add(Rule::Castling);
    }
    Some((San::from_ascii(san.as_bytes()).ok()?, &text[way.len()..]))
}

fn role<'a>(text: &'a str, rules: &mut Rules) -> (Option<Role>, &'a str) {
    let Some(first) = text.chars().next() else { return (None, text) };
    let rest = &text[first.len_utf8()..];
    match first {
        'K' | 'Q' | 'R' | 'B' | 'N' | 'P' => (Role::from_char(first), rest),
        '♔'..='♟' => {
            rules.add(Rule::Figurines);
            let letters = ['K', 'Q', 'R', 'B', 'N', 'P'];
            (Role::from_char(letters[(first as usize - '♔' as usize) % 6]), rest)
        }
        _ => (None, text),
    }
}

/// Splits a move into four parts: the origin as far as it is written, a flag for captures, the target, and the rest of the text.
fn squares<'a>(text: &'a str, rules: &mut Rules) -> Option<(&'a str, bool, Square, &'a str)> {
    let square = |text: &str| text.get(..2).and_then(|text| Square::from_ascii(text.as_bytes()).ok());
    let is_file = |letter: Option<&u8>| letter.is_some_and(|letter| (b'a'..=b'h').contains(letter));
    let is_rank = |letter: Option<&u8>| letter.is_some_and(|letter| (b'1'..=b'8').contains(letter));
    let bytes = text.as_bytes();
    let hints = match (bytes.first(), bytes.get(1)) {
        (file, rank) if is_file(file) && is_rank(rank) => &[2, 0][..],
        (hint, _) if is_file(hint) || is_rank(hint) => &[1],
        _ => &[0],
    };
    for &hint in hints {
        let rest = &text[hint..];
        let sign = rest.chars().next().filter(|letter| matches!(letter, 'x' | 'X' | ':' | '-'));
        let after = &rest[usize::from(sign.is_some())..];
        // If no second square follows, the first square is the target.
        let Some(to) = square(after).filter(|_| hint > 0 || hints.len() == 1 || sign.is_none()) else {
            continue;
        };
        if matches!(sign, Some('X' | ':' | '-')) {
            rules.add(Rule::MoveSign);
        }
        return Some((&text[..hint], matches!(sign, Some('x' | 'X' | ':')), to, &after[2..]));
    }
    None
}

/// Reads a promotion in any form.
fn promotion<'a>(text: &'a str, rules: &mut Rules) -> (Option<Role>, &'a str) {
    let is_between = |letter: char| matches!(letter, '=' | '/' | '(' | ':' | '-') || is_blank(letter);
    let rest = text.trim_start_matches(is_between);
    let Some(first) = rest.chars().next() else { return (None, text) };
    let letter = match first {
        '♕' | '♛' => 'Q',
        '♖' | '♜' => 'R',
        '♗' | '♝' => 'B',
        '♘' | '♞' => 'N',
        letter => letter,
    };
    if !matches!(letter.to_ascii_uppercase(), 'Q' | 'R' | 'B' | 'N') {
        return (None, text);
    }
    let is_plain = text.starts_with('=') && text[1..].starts_with(['Q', 'R', 'B', 'N']);
    if !is_plain {
        rules.add(Rule::Promotion);
    }
    let rest = &rest[first.len_utf8()..];
    (Role::from_char(letter), rest.trim_start_matches(is_blank).strip_prefix(')').unwrap_or(rest))
}

fn is_blank(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\0' | '\x0b' | '\x0c' | '\x1a') || is_wide_blank(letter)
}

/// Returns whether a move may be a pawn move to the last rank but names no promotion.
pub(super) fn lacks_promotion(token: MovetextToken) -> bool {
    let (role, from, to) = match token {
        MovetextToken::San(San::Normal { role, rank, to, promotion: None, .. }) => (role, rank, to),
        MovetextToken::Coordinates { from, to, promotion: None } => (Role::Pawn, Some(from.rank()), to),
        _ => return false,
    };
    let before = match to.rank() {
        Rank::Eighth => Rank::Seventh,
        Rank::First => Rank::Second,
        _ => return false,
    };
    role == Role::Pawn && from.is_none_or(|from| from == before)
}

/// Checks the text after a move. Returns `None` if it contains anything but signs and remarks. Records a rule unless the text
/// consists of an optional `+` or `#` and any number of `!` and `?`.
fn suffix(rest: &str, rules: &mut Rules) -> Option<()> {
    let signs = rest.strip_prefix(['+', '#']).unwrap_or(rest);
    if signs.chars().all(|letter| matches!(letter, '!' | '?')) {
        return Some(());
    }
    rules.add(Rule::Suffix);
    let letters = rest.trim_matches(|letter: char| !letter.is_ascii_alphanumeric());
    (letters.is_empty() || REMARKS.contains(&letters)).then_some(())
}
