//! Writes the positions of hits, one per line, as FEN or as EPD with operations.
//!
//! Source: the PGN standard, section 16.2,
//! <https://ia902908.us.archive.org/26/items/pgn-standard-1994-03-12/PGN_standard_1994-03-12.txt>.

use std::borrow::Cow;

use super::row::{Row, Rows};
use crate::found::Found;
use orbit_core::board::Color;
use orbit_core::fen::ListLine;
use orbit_core::game::{date, tags};
use orbit_core::visible::is_hidden;
use orbit_reel::GameRow;

/// Appends the rows of a game as FEN. Returns the number of hits.
pub(super) fn write_fen(found: &Found, game: &GameRow, rows: Rows, out: &mut Vec<u8>) -> usize {
    found.rows(game, rows, |row| {
        out.extend_from_slice(row.fen.as_bytes());
        out.push(b'\n');
    })
}

/// Appends the rows of a game as EPD. Returns the number of hits. The operations are `sm` (the next move), `hmvc` and `fmvn` (the
/// last two fields of a FEN), `id` (players, event and date), `c0` (game and ply, and in a side line also its name and the node)
/// and `c1` (the move that led to the position, with its number).
pub(super) fn write_epd(found: &Found, game: &GameRow, rows: Rows, out: &mut Vec<u8>) -> usize {
    let mut id = None;
    found.rows(game, rows, |row| {
        let id = id.get_or_insert_with(|| id_of(game));
        out.extend_from_slice(line(row, id).as_bytes());
    })
}

fn line(row: &Row, id: &str) -> String {
    let fen = ListLine::split(row.fen.as_bytes());
    let position = String::from_utf8_lossy(fen.position);
    let [clock, full] = fen.counters.map(|counter| String::from_utf8_lossy(counter.unwrap_or_default()));
    // `sm` must be in SAN, so null moves and moves in coordinate notation are left out.
    let is_san = !row.next.is_empty() && !row.next.contains('-') || row.next.starts_with("O-O");
    let next = if is_san { format!(" sm {};", row.next) } else { String::new() };
    let (game, ply) = (row.game.number(), row.ply);
    let line = match &*row.line {
        "" => String::new(),
        line => format!(" of ({line}), node {}", row.node),
    };
    let led = row.san.as_ref().map_or(String::new(), |san| format!(" c1 \"{} {san}\";", row.label));
    format!(
        "{position}{next} hmvc {clock}; fmvn {full}; id \"{id}\"; c0 \"game {game}, ply {ply}{line}\";{led}\n"
    )
}

/// Returns the `id` of a game: `Carlsen, Magnus - Caruana, Fabiano, Sinquefield Cup, 2014.08.27`. Quotes are replaced, because an
/// EPD string cannot contain them. Control characters are replaced too, because position lists are displayed on terminals.
fn id_of(game: &GameRow) -> String {
    let players = match (tags::player(game, Color::White), tags::player(game, Color::Black)) {
        (None, None) => None,
        (white, black) => {
            let name = |name: Option<Cow<str>>| name.map_or(String::from("?"), Cow::into_owned);
            Some(Cow::Owned(format!("{} - {}", name(white), name(black))))
        }
    };
    let parts = [players, tags::known(game, "Event"), date::known_text(game)];
    let parts: Vec<Cow<str>> = parts.into_iter().flatten().collect();
    // Other programs read a backslash as the beginning of an escape sequence.
    let clean = |letter: char| match letter {
        '\\' => '/',
        letter if letter == '"' || is_hidden(letter) => '\'',
        letter => letter,
    };
    parts.join(", ").chars().map(clean).collect()
}
