//! Words of movetext in any dialect to SAN as shakmaty reads it.

use shakmaty::san::San;
use shakmaty::{Role, Square};

use super::rules::{Rule, Rules};
use super::visit::Token;
use crate::pgn::Outcome;

/// The longest word that is a move.
const MOVE_BYTES: usize = 32;

/// Signs of null moves besides those that pgn-reader knows.
const NULLS: [&str; 5] = ["z0", "@@@@", "<>", "0000", "null"];

/// Words that say something of a move and are none.
const MARKS: [&str; 10] = ["ep", "e.p.", "e.p", "N", "TN", "D", "mate", "ch", "dbl", "x"];

/// What may follow a move in letters.
const REMARKS: [&str; 6] = ["ep", "e.p", "mate", "ch", "dblch", "N"];

/// What a word means.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Word {
    /// The number of a move, of so many bytes; what follows is another word.
    Number {
        bytes: usize,
        value: u32,
        dotted: bool,
    },
    Result(Outcome),
    /// A move, and the rules by which it is one.
    Move(Token, Rules),
    /// A remark.
    Mark,
    /// Anything else.
    Junk,
}

/// Reads a word that is not empty. Bytes that are no UTF-8 make no move and no result.
pub(super) fn word(bytes: &[u8]) -> Word {
    let text = String::from_utf8_lossy(bytes);
    let text = text.as_ref();
    if MARKS.contains(&text) {
        return Word::Mark;
    }
    if let Some(outcome) = result(text) {
        return Word::Result(outcome);
    }
    let is_move = text.starts_with("0-0") || text.starts_with("0000");
    if !is_move && let Some(number) = number(text) {
        return number;
    }
    match mv(text, bytes.len()) {
        Some((token, rules)) => Word::Move(token, rules),
        None if text.chars().any(|letter| letter.is_ascii_alphanumeric()) => Word::Junk,
        None => Word::Mark,
    }
}

fn number(text: &str) -> Option<Word> {
    let digits = text.len() - text.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let rest = &text[digits..];
    let dots = rest.len() - rest.trim_start_matches(['.', '…']).len();
    let has_letters = text.chars().any(|letter| letter.is_ascii_alphanumeric());
    if digits == 0 {
        return (dots > 0 && has_letters).then_some(Word::Number { bytes: dots, value: 0, dotted: false });
    }
    let is_number =
        dots > 0 || rest.chars().next().is_none_or(|next| next.is_ascii_alphabetic() || !next.is_ascii());
    let value = text[..digits.min(6)].parse().unwrap_or(0);
    Some(if is_number { Word::Number { bytes: digits + dots, value, dotted: dots > 0 } } else { Word::Junk })
}

/// Reads a result, whatever its dashes.
pub(super) fn result(text: &str) -> Option<Outcome> {
    let plain: String = text
        .chars()
        .map(|letter| if matches!(letter, '\u{2010}'..='\u{2015}' | '\u{2212}') { '-' } else { letter })
        .collect();
    match plain.replace('½', "1/2").as_str() {
        "1-0" => Some(Outcome::WhiteWins),
        "0-1" => Some(Outcome::BlackWins),
        "1/2-1/2" | "1/2" => Some(Outcome::Draw),
        _ => None,
    }
}

/// Whether pgn-reader takes the word for a result.
pub(super) fn is_plain_result(text: &str) -> bool {
    matches!(text, "1-0" | "0-1" | "1/2-1/2" | "*" | "1–0" | "0–1" | "½–½" | "1—0" | "0—1" | "½—½" | "½-½")
}

/// Bytes of a result that stands at the end of a move.
pub(super) fn glued_result(bytes: &[u8]) -> usize {
    if bytes[0].is_ascii_digit() {
        return 0;
    }
    let results = [&b"1/2-1/2"[..], b"1-0", b"0-1", b"1/2"];
    let glued = results.into_iter().find(|result| {
        let word = bytes.strip_suffix(*result).filter(|word| !word.is_empty());
        word.is_some_and(|word| mv(&String::from_utf8_lossy(word), word.len()).is_some())
    });
    glued.map_or(0, <[u8]>::len)
}

/// Reads a move.
fn mv(text: &str, bytes: usize) -> Option<(Token, Rules)> {
    if !(2..=MOVE_BYTES).contains(&bytes) {
        return None;
    }
    let mut rules = Rules::default();
    for sign in ["--", "Z0"].iter().chain(&NULLS) {
        if let Some(rest) = text.strip_prefix(sign) {
            suffix(rest, &mut rules)?;
            if NULLS.contains(sign) {
                rules.add(Rule::NullSign);
            }
            return Some((Token::San(San::Null), rules));
        }
    }
    if let Some((san, rest)) = castling(text, &mut rules) {
        suffix(rest, &mut rules)?;
        return Some((Token::San(san), rules));
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
        return Some((Token::Coordinates { from, to, promotion }, rules));
    }
    let letter =
        role.filter(|&role| role != Role::Pawn).map_or(String::new(), |role| role.upper_char().into());
    // A pawn that takes names its file.
    let is_push =
        matches!(role, None | Some(Role::Pawn)) && !hint.starts_with(|hint| matches!(hint, 'a'..='h'));
    if is_taking && is_push {
        rules.add(Rule::MoveSign);
    }
    let sign = if is_taking && !is_push { "x" } else { "" };
    let promotion = promotion.map_or(String::new(), |role| format!("={}", role.upper_char()));
    let san = San::from_ascii(format!("{letter}{hint}{sign}{to}{promotion}").as_bytes()).ok()?;
    Some((Token::San(san), rules))
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

/// The origin as far as it is told, whether something is taken, the target, and what follows.
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
        // A first square that nothing follows is the target.
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

/// Reads a promotion, whatever its form.
fn promotion<'a>(text: &'a str, rules: &mut Rules) -> (Option<Role>, &'a str) {
    let bytes = text.as_bytes();
    let (letter, length) = match bytes {
        [b'(', letter, b')', ..] => (*letter, 3),
        [b'=' | b'/', letter, ..] => (*letter, 2),
        [letter, ..] => (*letter, 1),
        [] => return (None, text),
    };
    if !matches!(letter.to_ascii_uppercase(), b'Q' | b'R' | b'B' | b'N') {
        return (None, text);
    }
    if bytes[0] != b'=' || letter.is_ascii_lowercase() {
        rules.add(Rule::Promotion);
    }
    (Role::from_char(char::from(letter)), &text[length..])
}

/// Whether what follows a move is no part of it.
fn suffix(rest: &str, rules: &mut Rules) -> Option<()> {
    let signs = rest.strip_prefix(['+', '#']).unwrap_or(rest);
    if signs.chars().all(|letter| matches!(letter, '!' | '?')) {
        return Some(());
    }
    rules.add(Rule::Suffix);
    let letters = rest.trim_matches(|letter: char| !letter.is_ascii_alphanumeric());
    (letters.is_empty() || REMARKS.contains(&letters)).then_some(())
}
