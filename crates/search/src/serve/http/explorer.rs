//! Answers requests for lichess's opening explorer.

use super::head::{RequestHead, RequestRefusal};
use crate::explore::{Explored, Explorer, ExplorerRequest, Parameters};
use crate::library::{DatabaseError, Query};
use crate::serve::converse::caught;
use crate::serve::desk::OpenDatabases;
use crate::serve::fault::{ErrorCode, Fault};
use crate::serve::request::MAIN;

/// The beginnings of the URL paths at which a single game can be requested: that of lichess, and an older one that some clients
/// use.
const PGN: [&str; 2] = ["/masters/pgn/", "/master/pgn/"];

/// The media types of answers.
const JSON: &str = "application/json";
const LINES: &str = "application/x-ndjson";
const GAMES: &str = "application/x-chess-pgn";

pub(super) fn is_explorer(path: &str) -> bool {
    matches!(path, "/masters" | "/lichess" | "/player") || game_number(path).is_some()
}

/// Returns the game number at the end of a game's path, as text.
fn game_number(path: &str) -> Option<&str> {
    PGN.iter().find_map(|before| path.strip_prefix(before))
}

/// Answers an explorer request. Returns the media type and the body of the response. After a panic, the client gets the status 500
/// instead of a closed connection.
pub(super) fn answer(
    desk: &OpenDatabases,
    head: &RequestHead,
) -> Result<(&'static str, String), RequestRefusal> {
    caught(|| found(desk, head), |message| RequestRefusal::new(500, message))
}

fn found(desk: &OpenDatabases, head: &RequestHead) -> Result<(&'static str, String), RequestRefusal> {
    let wrong = |fault: Fault| {
        let status = match fault.code {
            ErrorCode::UnknownDatabase => 404,
            ErrorCode::Request | ErrorCode::Query => 400,
            _ => 500,
        };
        RequestRefusal::new(status, fault.message)
    };
    let database = desk.database(MAIN).map_err(wrong)?;
    let failed = |error: DatabaseError| wrong(Fault::from_database(error, ""));
    if let Some(number) = game_number(head.path()) {
        let missing =
            || RequestRefusal::new(404, format!("there is no game `{number}`: games have numbers from 1"));
        let game = database.game(number.parse().map_err(|_| missing())?).map_err(failed)?;
        return Ok((GAMES, game.ok_or_else(missing)?.pgn_text()));
    }
    let path = head.path();
    let parameters = parameters(path, head.query()?)?;
    let asked =
        ExplorerRequest::read(&parameters).map_err(|error| RequestRefusal::new(400, error.to_string()))?;
    let query = Query::parse(&asked.query()).map_err(|error| failed(error.into()))?;
    let explorer = Explorer::new(asked);
    let mut part = explorer.none();
    let scan = database.scan(&query).in_turn(desk.turns());
    let (rest, _) = scan
        .collect_from(&explorer, |scan| {
            // Position tables exist only for files, so a stream from the files is used. If a file has changed, this fails, and all
            // blocks are searched without tables.
            let held = |game| database.held_block(game);
            let tabled = explorer.from_tables(scan.stream(true).ok()?, database.tables(), held);
            part = tabled.part;
            (!tabled.used.is_empty()).then_some(tabled.rest)
        })
        .map_err(failed)?;
    part.add_all(rest);
    let mut json = Explored::new(explorer.asked(), &part).json();
    if let Some(fields) = json.as_object_mut() {
        // The lists that lichess's responses lack, with the request path of each.
        let left_out = [
            ("/masters", "recentGames", &parameters.recent_games),
            ("/player", "topGames", &parameters.top_games),
        ];
        for (_, name, _) in
            left_out.into_iter().filter(|(of, _, asked)| *of == path && asked.as_deref() == Some("0"))
        {
            fields.remove(name);
        }
        if path == "/player" {
            // Lichess's schema requires this field. All games are already indexed here, so no request waits in a queue.
            fields.insert("queuePosition".into(), 0.into());
        }
    }
    Ok(match path {
        "/player" => (LINES, format!("{json}\n")),
        _ => (JSON, json.to_string()),
    })
}

/// Returns the parameters in a query string. Lists default to the lengths that lichess uses.
fn parameters(path: &str, query: Vec<(String, String)>) -> Result<Parameters, RequestRefusal> {
    let (top, recent) = match path {
        "/masters" => ("15", "0"),
        "/player" => ("0", "8"),
        _ => ("4", "4"),
    };
    let mut out = Parameters {
        top_games: Some(top.to_owned()),
        recent_games: Some(recent.to_owned()),
        ..Parameters::default()
    };
    for (name, value) in query {
        let place = match name.as_str() {
            "fen" => &mut out.fen,
            "play" => &mut out.play,
            "since" => &mut out.since,
            "until" => &mut out.until,
            "ratings" => &mut out.ratings,
            "speeds" => &mut out.speeds,
            "modes" => &mut out.modes,
            "player" => &mut out.player,
            "color" => &mut out.color,
            "moves" => &mut out.moves,
            "topGames" => &mut out.top_games,
            "recentGames" => &mut out.recent_games,
            "variant" if !matches!(value.as_str(), "standard" | "chess960" | "fromPosition") => {
                return Err(RequestRefusal::new(400, format!("`variant`: games of `{value}` are not read")));
            }
            // lichess ignores unknown parameters too.
            _ => continue,
        };
        *place = Some(value);
    }
    if path == "/player" && (out.player.is_none() || out.color.is_none()) {
        return Err(RequestRefusal::new(400, "`player` and `color` are missing"));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_refusal() {
        let refused = |message| RequestRefusal::new(500, message);
        assert_eq!(caught(|| Ok(3), refused).unwrap(), 3);
        let panics = || -> Result<(), RequestRefusal> { panic!("a panic of the test") };
        let refusal = format!("{:?}", caught(panics, refused).unwrap_err());
        assert!(refusal.contains("status: 500") && refusal.contains("a panic of the test"), "{refusal}");
    }
}
