//! Finds the first and the last byte of a game's text, and the bytes to write between two games.
//!
//! The text of a game extends from its first byte to the first byte of the next game, without trailing blanks. It therefore
//! includes comments and prose after the terminator. If the next game begins within a line, the text ends with the terminator
//! instead, since the rest of the line might be read differently after other text.

use super::lex::{self, BOM, EVENT, at_line_start, is_eol};
use super::parse::GameParser;
use super::tokenizer::{Event, Tokenizer};
use super::{Game, ParseOptions};

/// Returns the text of the first game of `text`. There must be no other text before the game. `game_bytes_max` is the value of
/// [`Options::game_bytes_max`](super::Options::game_bytes_max) with which the game was read.
pub fn first_game(text: &[u8], game_bytes_max: usize) -> &[u8] {
    let end = end(text, Tokenizer::new(text, game_bytes_max)).unwrap_or(text.len());
    trimmed(&text[..end])
}

/// Like [`first_game`], but for a text that may continue. Returns `None` if the first game may not be complete yet.
pub fn game_text(text: &[u8], game_bytes_max: usize) -> Option<&[u8]> {
    let lines = &text[..memchr::memrchr2(b'\n', b'\r', text)? + 1];
    end(lines, Tokenizer::partial(lines, game_bytes_max)).map(|end| trimmed(&text[..end]))
}

/// Reads a text that contains exactly one game. Returns `None` if it contains several games or none.
pub fn read_game(text: &[u8], options: &ParseOptions) -> Option<Game> {
    let mut games = read(text, options).into_iter();
    games.next().filter(|_| games.next().is_none())
}

/// Returns the bytes to write between the texts of two games to make a reader find both games unchanged. Usually these are line
/// ends like those of the first text. If the first game has no terminator and line ends are not enough, a terminator `*` is added,
/// which keeps the game's result unknown. If even that is not enough, because the first text has an unclosed comment or the second
/// text is only a result, the second game gets a tag `[Event "?"]`.
pub fn separator(before: &[u8], after: &[u8]) -> Vec<u8> {
    let eol = line_end(before);
    let empty_line = eol.repeat(2);
    // A line that begins with `[Event "` always begins a game, so line ends are enough.
    if after.starts_with(EVENT) {
        return empty_line;
    }
    let alone = [main_lines(before), main_lines(after)].concat();
    let terminated = [eol, b"*", &empty_line].concat();
    let tagged = [&empty_line, &b"[Event \"?\"]"[..], eol].concat();
    let reads_alike = |between: &Vec<u8>| {
        let together = main_lines(&[before, between, after].concat());
        let pairs = || alone.iter().zip(&together);
        alone.len() == together.len() && pairs().all(|(alone, together)| is_same(alone, together))
    };
    [empty_line, terminated].into_iter().find(reads_alike).unwrap_or(tagged)
}

/// Returns the line end of the first line of a text, or LF if the text has only one line.
pub fn line_end(text: &[u8]) -> &'static [u8] {
    match text[lex::line_end(text, 0)..] {
        [b'\r', b'\n', ..] => b"\r\n",
        [b'\r', ..] => b"\r",
        _ => b"\n",
    }
}

fn is_same(a: &Game, b: &Game) -> bool {
    (a.start, &a.moves, a.outcome, &a.tags) == (b.start, &b.moves, b.outcome, &b.tags)
}

fn main_lines(text: &[u8]) -> Vec<Game> {
    read(text, &ParseOptions::default())
}

fn read(text: &[u8], options: &ParseOptions) -> Vec<Game> {
    let mut games = Vec::new();
    GameParser::new(options).pgn(text, 0, usize::MAX, &mut |game| games.push(game.clone()));
    games
}

/// Returns the end of the first game, or `None` if no other game follows it.
fn end(text: &[u8], mut tokenizer: Tokenizer<'_>) -> Option<usize> {
    let mut terminated = None;
    let mut is_open = false;
    loop {
        tokenizer.skip_plain();
        match tokenizer.next()? {
            Event::Start(at) if is_open => {
                return Some(terminated.filter(|_| !at_line_start(text, at)).unwrap_or(at));
            }
            Event::Start(_) => is_open = true,
            Event::End(_) => terminated = Some(tokenizer.position()),
            _ => {}
        }
    }
}

/// Removes blanks from the end of a text. Also removes a byte order mark at the start of the last line: in a text that was joined
/// from several files, it is the beginning of the next file.
fn trimmed(text: &[u8]) -> &[u8] {
    let mut text = text.trim_ascii_end();
    while let Some(rest) = text.strip_suffix(BOM)
        && rest.last().is_some_and(|&byte| is_eol(byte))
    {
        text = rest.trim_ascii_end();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_goes_to_the_next_one() {
        let text = "1. e4 1-0 {after} so\n%x\n\n\u{feff}[White \"b\"]\n\n1. d4 *".as_bytes();
        assert_eq!(first_game(text, 1 << 20), b"1. e4 1-0 {after} so\n%x");
        assert_eq!(game_text(text, 1 << 20), Some(&b"1. e4 1-0 {after} so\n%x"[..]));
        assert_eq!(game_text(&text[..30], 1 << 20), None);
        assert_eq!(first_game(b"1. e4", 1 << 20), b"1. e4");
    }

    #[test]
    fn games_are_kept_apart() {
        for (before, after, expected) in [
            ("1. e4 *", "[White \"b\"]\n1. d4", "\n\n"),
            ("1. e4 ;x", "[White \"b\"]\n1. d4", "\n\n"),
            ("[White \"a\"]\r\n", "[Event \"b\"]", "\r\n\r\n"),
            ("[White \"a\"]", "[White \"b\"]", "\n\n"),
            ("[White \"a\"]", "[Black \"b\"]", "\n*\n\n"),
            ("[White \"a\"]\r1. e4", "1. d4 *", "\r\r"),
            ("1. e4", "2. Nf3 *", "\n*\n\n"),
            ("1. e4", "1-0", "\n\n[Event \"?\"]\n"),
            ("1. e4 (1. d4", "2. Nf3 *", "\n\n[Event \"?\"]\n"),
            ("1. e4 {open", "[White \"b\"]\n1. d4", "\n\n[Event \"?\"]\n"),
        ] {
            let between = separator(before.as_bytes(), after.as_bytes());
            assert_eq!(String::from_utf8_lossy(&between), expected, "{before} | {after}");
            let games = main_lines(&[before.as_bytes(), &between, after.as_bytes()].concat());
            assert_eq!(games.len(), 2, "{before} | {after}");
        }
    }
}
