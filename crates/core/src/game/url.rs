//! Finds the web addresses of games.

use super::{GameHeader, tags};

/// Returns the address of a game's page on lichess or chess.com, from the tag `Site`, `Link` or `GameURL`. On lichess, if `ply` is
/// given, the page opens at that ply of the main line.
pub fn url(game: &impl GameHeader, ply: Option<u32>) -> Option<String> {
    let address = |name| {
        let text = tags::text(game.tag_named(name)?).into_owned();
        let is_plain =
            text.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'<' | b'>'));
        (is_plain && text.starts_with("https://")).then_some(text)
    };
    let lichess = |text: &String| {
        let id = text.strip_prefix("https://lichess.org/")?.split(['#', '?', '/']).next()?;
        let is_id = matches!(id.len(), 8 | 12) && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let place = ply.map_or(String::new(), |ply| format!("#{ply}"));
        is_id.then(|| format!("https://lichess.org/{id}{place}"))
    };
    let names = ["Site", "Link", "GameURL"];
    let addresses: Vec<String> = names.iter().filter_map(|name| address(name)).collect();
    let known = |text: &&String| {
        text.starts_with("https://www.chess.com/") || text.starts_with("https://lichess.org/")
    };
    addresses.iter().find_map(lichess).or_else(|| addresses.iter().find(known).cloned())
}
