//! Finds the web addresses of games.

use super::{GameHeader, tags};

/// The beginning of all addresses on lichess.
const LICHESS: &str = "https://lichess.org/";
/// The length of a game's id. In the address of a player's own game, four more characters follow it.
const ID_BYTES: usize = 8;
/// The pages of lichess whose names look like the ids of games.
const PAGES: [&str; 5] = ["analysis", "features", "practice", "streamer", "training"];

/// Returns the address of a game's page on lichess or chess.com, from the tag `Site`, `Link` or `GameURL`. On lichess, if `ply` is
/// given, the page opens at that ply of the main line.
pub fn url(game: &impl GameHeader, ply: Option<u32>) -> Option<String> {
    let lichess = |text: &String| {
        let place = ply.map_or(String::new(), |ply| format!("#{ply}"));
        on_lichess(text).map(|id| format!("{LICHESS}{id}{place}"))
    };
    let addresses = addresses(game);
    let known = |text: &&String| text.starts_with("https://www.chess.com/") || text.starts_with(LICHESS);
    addresses.iter().find_map(lichess).or_else(|| addresses.iter().find(known).cloned())
}

/// Returns the id of a game that was played on lichess: the eight characters by which lichess names it. They are read from the same
/// tags as the address. Addresses of other pages, such as studies and broadcasts, contain no such id.
pub fn lichess_id(game: &impl GameHeader) -> Option<String> {
    addresses(game).iter().find_map(|text| on_lichess(text)?.get(..ID_BYTES).map(str::to_owned))
}

/// Returns the web addresses in the tags of a game.
fn addresses(game: &impl GameHeader) -> Vec<String> {
    let address = |name: &str| {
        let text = tags::text(game.tag_named(name)?).into_owned();
        let is_plain =
            text.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'<' | b'>'));
        (is_plain && text.starts_with("https://")).then_some(text)
    };
    ["Site", "Link", "GameURL"].into_iter().filter_map(address).collect()
}

/// Returns the id at the end of the address of a game's page on lichess, with the four characters that may follow it. Only the side
/// from which the board is seen, a query and a fragment may come after it.
fn on_lichess(address: &str) -> Option<&str> {
    let path = address.strip_prefix(LICHESS)?.split(['#', '?']).next()?;
    let (id, side) = path.split_once('/').unwrap_or((path, ""));
    let is_id = (id.len() == ID_BYTES || id.len() == ID_BYTES + 4)
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && !PAGES.contains(&id);
    (is_id && matches!(side, "" | "white" | "black")).then_some(id)
}
