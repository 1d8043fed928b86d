//! Tests the explorer, which counts the moves played in a position. The expected counts come from games that pgn-reader parses
//! and shakmaty replays. Positions count as equal if their FENs without counters are equal.

mod tabled;

use std::collections::{BTreeMap, BTreeSet};

use orbit_chess::{Database, DatabaseOptions, Query};
use orbit_search::explore::{Explored, Explorer, ExplorerRequest, Parameters};
use serde_json::Value;
use shakmaty::fen::Fen;
use shakmaty::san::SanPlus;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, CastlingSide, Chess, Move, Position as _};

use crate::common::openings::epd;
use crate::database::SAMPLE;
use crate::stats::next::{Played, sample};

/// For each move, the numbers of White's wins, draws and Black's wins. Games that end in the position have no entry.
type Sums = BTreeMap<String, [u64; 3]>;

fn asked(parameters: Parameters) -> ExplorerRequest {
    ExplorerRequest::read(&parameters).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the explorer's response as JSON and as text.
fn explored(database: &Database, parameters: Parameters) -> (Value, String) {
    let asked = asked(parameters);
    let query = Query::parse(&asked.query()).unwrap();
    let explorer = Explorer::new(asked);
    let (part, _) = database.scan(&query).collect(&explorer).unwrap();
    let explored = Explored::new(explorer.asked(), &part);
    (explored.json(), explored.text())
}

fn all(fen: &str) -> Parameters {
    Parameters { fen: Some(fen.to_owned()), moves: Some("500".into()), ..Parameters::default() }
}

fn count(value: &Value) -> [u64; 3] {
    ["white", "draws", "black"].map(|name| value[name].as_u64().unwrap())
}

/// Counts the moves played in the position `place`, in games that shakmaty has replayed. Each game is paired with the names of
/// its positions. A game that reaches the position several times counts only for the last move played there.
fn counted(games: &[(Played, Vec<String>)], place: &str) -> (Sums, [u64; 3]) {
    let (mut moves, mut total) = (Sums::new(), [0; 3]);
    for (game, names) in games {
        let visits: Vec<usize> = (0..names.len()).filter(|&at| names[at] == place).collect();
        let Some(&last) = visits.last() else { continue };
        let at = visits.iter().rev().find(|&&at| at < game.moves.len()).copied().unwrap_or(last);
        let result = ["1-0", "1/2-1/2", "0-1"].iter().position(|result| *result == game.result).unwrap();
        total[result] += 1;
        if let Some(&mv) = game.moves.get(at) {
            let san = SanPlus::from_move(game.positions[at].clone(), mv).to_string();
            moves.entry(san).or_default()[result] += 1;
        }
    }
    (moves, total)
}

/// Hits are grouped by position, whatever moves led there. The groups must equal those computed with shakmaty.
#[test]
fn hits_are_grouped_by_position() {
    let mut due: BTreeMap<String, (BTreeSet<usize>, u64)> = BTreeMap::new();
    for (number, game) in sample().iter().enumerate() {
        for chess in game.positions.iter().filter(|chess| chess.is_check()) {
            let (games, positions) = due.entry(epd(chess)).or_default();
            games.insert(number);
            *positions += 1;
        }
    }
    let due: BTreeMap<String, (u64, u64)> =
        due.into_iter().map(|(place, (games, positions))| (place, (games.len() as u64, positions))).collect();
    let database = Database::open([SAMPLE]).unwrap();
    let counts = database.scan(&Query::parse("check").unwrap()).statistics("position").unwrap();
    let rows = counts.rows(&"position".parse().unwrap());
    let found: BTreeMap<String, (u64, u64)> =
        rows.iter().map(|row| (row.keys[0].to_string(), (row.hit.games, row.hit.positions))).collect();
    assert!(found == due, "{} positions, {} due", found.len(), due.len());
    assert!(due.values().any(|count| count.0 >= 10) && due.values().any(|count| count.1 > count.0));
    // The first row is for the position that occurs in the most games.
    assert_eq!(rows[0].hit.games, due.values().map(|count| count.0).max().unwrap());
}

#[test]
fn positions_are_counted_as_shakmaty_counts_them() {
    let named = |game: Played| {
        let names = game.positions.iter().map(epd).collect();
        (game, names)
    };
    let games: Vec<(Played, Vec<String>)> = sample().into_iter().map(named).collect();
    let database = Database::open([SAMPLE]).unwrap();
    let mut places: BTreeMap<&String, usize> = BTreeMap::new();
    games.iter().flat_map(|(_, names)| names).for_each(|place| *places.entry(place).or_default() += 1);
    // These are the 25 most frequent positions. Many of them are reached in several ways.
    let mut often: Vec<(usize, &String)> = places.iter().map(|(place, count)| (*count, *place)).collect();
    often.sort_unstable_by(|a, b| b.cmp(a));
    let mut chosen: Vec<&String> = often.iter().take(25).map(|(_, place)| *place).collect();
    let kinds: [fn(&Move) -> bool; 4] = [
        |mv| mv.castling_side() == Some(CastlingSide::KingSide),
        |mv| mv.castling_side() == Some(CastlingSide::QueenSide),
        |mv| mv.is_en_passant(),
        |mv| mv.is_promotion(),
    ];
    for kind in kinds {
        let found = games.iter().flat_map(|(game, names)| names.iter().zip(&game.moves));
        chosen.extend(found.filter(|(_, mv)| kind(mv)).map(|(place, _)| place).take(3));
    }
    assert_eq!(chosen.len(), 37);
    let mut names = Vec::new();
    for place in chosen {
        let (due, total) = counted(&games, place);
        let (json, text) = explored(&database, all(&format!("{place} 0 1")));
        let moves = json["moves"].as_array().unwrap();
        let found: Sums =
            moves.iter().map(|one| (one["san"].as_str().unwrap().to_owned(), count(one))).collect();
        assert_eq!(found, due, "{place}");
        assert_eq!(count(&json), total, "{place}");
        assert!(text.contains(&format!("{place} 0 1\n")), "{text}");
        // The UCI notation must denote the same move as the SAN. In Chess960, UCI writes castling as the king capturing its own
        // rook.
        let chess: Chess = place.parse::<Fen>().unwrap().into_position(CastlingMode::Chess960).unwrap();
        for one in moves {
            let mv = one["san"].as_str().unwrap().parse::<SanPlus>().unwrap().san.to_move(&chess).unwrap();
            assert_eq!(one["uci"], UciMove::from_chess960(mv).to_string(), "{place}");
        }
        names.extend(found.into_keys());
    }
    let has = |part: &str| names.iter().any(|name| name.contains(part));
    assert!(["O-O", "O-O-O", "=Q", "x"].into_iter().all(has), "{names:?}");
}

/// The number of games that reach a position by other moves must equal the number of shakmaty's games that contain the position
/// but do not start with the given moves.
#[test]
fn games_that_transpose_are_counted() {
    let games = sample();
    let database = Database::open([SAMPLE]).unwrap();
    let mut transposed = 0;
    for (number, plies) in [(0, 4), (5, 6), (40, 7), (300, 8), (301, 5), (700, 3), (999, 6), (2, 0)] {
        let (way, place) = (&games[number].moves[..plies], epd(&games[number].positions[plies]));
        let has = |game: &&Played| game.positions.iter().any(|chess| epd(chess) == place);
        let other = games.iter().filter(has).filter(|game| !game.moves.starts_with(way)).count();
        let words: Vec<String> = way.iter().map(|mv| mv.to_uci(CastlingMode::Standard).to_string()).collect();
        let play = Some(words.join(","));
        let (json, text) = explored(&database, Parameters { play, ..Parameters::default() });
        let told = (plies > 0).then_some(other as u64);
        assert_eq!(json.get("byOtherMoves").and_then(Value::as_u64), told, "{words:?}");
        let total: u64 = count(&json).iter().sum();
        let line = format!("\n{other} of {total} games came to this position by other moves\n");
        assert_eq!(text.contains(&line), plies > 0 && other > 0, "{text}");
        transposed += other;
        // If the position is given as a FEN, the request contains no moves, so the response has no number of games that reach the
        // position by other moves.
        let (json, _) = explored(&database, all(&format!("{place} 0 1")));
        assert!(json.get("byOtherMoves").is_none(), "{json}");
    }
    assert!(transposed > 10, "{transposed}");
}

const GAMES: &str = r#"
[Event "Rated Blitz game"]
[Site "https://lichess.org/abcdefgh"]
[White "Ann"]
[Black "Bob"]
[WhiteElo "2500"]
[BlackElo "2300"]
[Date "2015.03.07"]
[TimeControl "300+3"]
[Result "1-0"]

1. d4 Nf6 2. c4 e6 1-0

[Event "Open"]
[White "Bob"]
[Black "Ann"]
[WhiteElo "2310"]
[Date "2016.??.??"]
[TimeControl "15+0"]
[Result "1/2-1/2"]

1. c4 e6 2. d4 Nf6 3. Nc3 1/2-1/2

[Event "Casual Rapid game"]
[White "Cid"]
[Black "Dan"]
[Date "2015.02.28"]
[Result "0-1"]

1. c4 Nf6 2. d4 e6 3. Nc3 (3. Nf3) 3... Bb4 4. Qd2 Ba5 5. Qd1 Bb4 6. Qc2 0-1

[White "Eve"]
[Black "Fay"]
[Result "*"]

1. d4 e6 2. c4 Nf6 3. g3 *

[White "Passing"]
[Black "Fay"]
[Result "1-0"]

1. e4 Nf6 2. e5 d5 3. exd6 1-0

[White "No passing"]
[Black "Fay"]
[Result "0-1"]

1. e4 d6 2. e5 Nf6 3. Nc3 d5 0-1

[White "Rights"]
[Black "Fay"]
[Result "1-0"]

1. d4 Nf6 2. c4 e6 3. Nc3 Bb4 4. Rb1 Ba5 5. Ra1 Bb4 6. e3 1-0

[White "Fischerandom"]
[Black "Hal"]
[Variant "Chess960"]
[FEN "rk2r3/pppppppp/8/8/8/8/PPPPPPPP/RK2R3 w KQkq - 0 1"]
[Result "1-0"]

1. O-O O-O-O 1-0
"#;

fn games() -> Database {
    DatabaseOptions::new().variations(true).open_bytes("games", GAMES.as_bytes().to_vec()).unwrap()
}

fn after(play: &str) -> Parameters {
    Parameters { play: Some(play.to_owned()), ..Parameters::default() }
}

/// Returns the moves in an explorer's response, each in the form `san uci: white draws black`.
fn shown(json: &Value) -> Vec<String> {
    let one = |one: &Value| {
        let [white, draws, black] = count(one);
        format!("{} {}: {white} {draws} {black}", one["san"].as_str().unwrap(), one["uci"].as_str().unwrap())
    };
    json["moves"].as_array().unwrap().iter().map(one).collect()
}

#[test]
fn transpositions_are_one_position() {
    let (json, text) = explored(&games(), after("1. d4 Nf6 2.c4 e6"));
    assert_eq!(shown(&json), ["Nc3 b1c3: 1 1 1", "g3 g2g3: 0 0 0"]);
    // Games that end in the position are included in the sums, unless they have no result.
    assert_eq!(count(&json), [2, 1, 1]);
    assert_eq!(json["opening"]["name"], "Indian Defense: Normal Variation");
    assert!(text.contains("(end)") && text.contains("total") && text.contains("  20.0 %"), "{text}");
    let top = &json["topGames"][0];
    assert_eq!(
        (&top["id"], &top["white"]["rating"], &top["winner"]),
        (&"abcdefgh".into(), &2500.into(), &"white".into())
    );
    assert_eq!(
        (&top["speed"], &top["mode"], &top["month"]),
        (&"blitz".into(), &"rated".into(), &"2015-03".into())
    );
    let recent = json["recentGames"].as_array().unwrap();
    let ids: Vec<&str> = recent.iter().map(|game| game["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["2", "abcdefgh", "3"]);
    assert_eq!(
        (&recent[0]["uci"], &recent[0]["speed"], &recent[0]["month"]),
        (&"b1c3".into(), &"ultraBullet".into(), &Value::Null)
    );
    // The mean rating is that of the players who played the move. If only one game has the move, that game is shown.
    let (json, _) = explored(&games(), after("d2d4,g8f6"));
    assert_eq!(shown(&json), ["c4 c2c4: 2 0 0"]);
    assert_eq!((&json["moves"][0]["averageRating"], &json["moves"][0]["game"]), (&2500.into(), &Value::Null));
    let (json, _) = explored(&games(), after("c4 e6"));
    assert_eq!(
        (&json["moves"][0]["game"]["id"], &json["moves"][0]["averageRating"]),
        (&"2".into(), &2310.into())
    );
}

#[test]
fn rights_and_captures_in_passing_tell_positions_apart() {
    let can_take = "rnbqkb1r/ppp1pppp/5n2/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3";
    assert_eq!(shown(&explored(&games(), all(can_take)).0), ["exd6 e5d6: 1 0 0"]);
    assert_eq!(count(&explored(&games(), all(&can_take.replace("d6", "-"))).0), [0; 3]);
    // The position follows a double step of a pawn that no enemy pawn can capture en passant.
    let (json, _) = explored(&games(), all("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1"));
    assert_eq!(shown(&json), ["Nf6 g8f6: 1 0 0", "d6 d7d6: 0 0 1"]);
    // A game counts only for the last move played in the position. The position in which White has lost a castling right is a
    // different one.
    let bishop = "rnbqk2r/pppp1ppp/4pn2/8/1bPP4/2N5/PP2PPPP/R1BQKBNR w KQkq - 2 4";
    assert_eq!(shown(&explored(&games(), all(bishop)).0), ["Qc2 d1c2: 0 0 1", "Rb1 a1b1: 1 0 0"]);
    let without = bishop.replace("KQkq", "Kkq");
    assert_eq!(shown(&explored(&games(), all(&without)).0), ["e3 e2e3: 1 0 0"]);
    let start = "rk2r3/pppppppp/8/8/8/8/PPPPPPPP/RK2R3 w KQkq - 0 1";
    assert_eq!(shown(&explored(&games(), all(start)).0), ["O-O b1e1: 1 0 0"]);
    let next = Parameters { play: Some("b1e1".into()), ..all(start) };
    assert_eq!(shown(&explored(&games(), next).0), ["O-O-O b8a8: 1 0 0"]);
}

#[test]
fn the_first_word_of_the_event_is_the_mode() {
    let events = [
        "Rated",
        "rated blitz game",
        "RATED-2024",
        "Casual game",
        "Casuals Cup",
        "RatedChess Open",
        "Rated2",
        "Ratedé",
        "The Rated Cup",
    ];
    let game = |event: &&str| format!("[Event \"{event}\"]\n[Result \"1-0\"]\n\n1. e4 1-0\n\n");
    let games: String = events.iter().map(game).collect();
    let database = DatabaseOptions::new().open_bytes("games", games.into_bytes()).unwrap();
    let total = |modes: &str| {
        let parameters = Parameters { modes: Some(modes.to_owned()), ..Parameters::default() };
        count(&explored(&database, parameters).0)[0]
    };
    assert_eq!(["rated", "casual", "rated,casual", ""].map(total), [3, 1, 4, 9]);
}

#[test]
fn games_are_chosen_as_lichess_chooses_them() {
    let play = "d4 Nf6 c4 e6";
    let total = |parameters: Parameters| {
        count(&explored(&games(), Parameters { play: Some(play.into()), ..parameters }).0)
    };
    let text = |text: &str| Some(text.to_owned());
    let none = Parameters::default;
    assert_eq!(total(Parameters { since: text("2015-03"), ..none() }), [1, 1, 0]);
    assert_eq!(total(Parameters { until: text("2015-02"), ..none() }), [0, 0, 1]);
    assert_eq!(total(Parameters { since: text("2015"), until: text("2015"), ..none() }), [1, 0, 1]);
    assert_eq!(total(Parameters { speeds: text("ultraBullet,rapid"), ..none() }), [0, 1, 0]);
    assert_eq!(total(Parameters { ratings: text("2200"), ..none() }), [1, 1, 0]);
    assert_eq!(total(Parameters { ratings: text("0,2500"), ..none() }), [0, 0, 0]);
    assert_eq!(total(Parameters { modes: text("casual"), ..none() }), [0, 0, 1]);
    assert_eq!(total(Parameters { player: text("Ann"), ..none() }), [1, 1, 0]);
    assert_eq!(total(Parameters { player: text("Ann"), color: text("black"), ..none() }), [0, 1, 0]);
    for (parameters, message) in [
        (Parameters { since: text("x"), ..none() }, "`since`: `x` is no date"),
        (Parameters { until: text("2015 or white~x"), ..none() }, "`until`: `2015 or white~x` is no date"),
        (Parameters { speeds: text("slow"), ..none() }, "`speeds`: `slow` is none of ultrabullet, "),
        (Parameters { modes: text("rated,x"), ..none() }, "`modes`: `x` is none of rated, casual"),
        (Parameters { ratings: text("high"), ..none() }, "`ratings`: `high` is no whole number"),
        (
            Parameters { ratings: text("2000,99999999999"), ..none() },
            "`ratings`: `99999999999` is too large: the largest number is 4294967295",
        ),
        (
            Parameters { moves: text("99999999999999999999"), ..none() },
            "`moves`: `99999999999999999999` is too large",
        ),
        (Parameters { color: text("white"), ..none() }, "`color`: it is that of a player"),
        (Parameters { player: text("A"), color: text("red"), ..none() }, "`color`: `red` is neither"),
        (Parameters { moves: text("-1"), ..none() }, "`moves`: `-1` is no whole number"),
        (Parameters { fen: text("8/8 w"), ..none() }, "`fen`: "),
        (
            Parameters { fen: text("8/8/8/8/8/8/8/8 w - - 0 1"), ..none() },
            "`fen`: the position cannot be played from",
        ),
        (Parameters { play: text("e4 e4"), ..none() }, "`play`: `e4` is no legal move there"),
        (Parameters { play: Some("e4 ".repeat(4000)), ..none() }, "`play`: the value is longer than"),
    ] {
        let error = ExplorerRequest::read(&parameters).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
}
