//! Tests `orbit player` end to end. Its figures must equal those computed with pgn-reader and shakmaty.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::fs;
use std::io::Cursor;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;

use pgn_reader::{RawTag, Reader, SanPlus, Visitor};
use serde_json::Value;
use shakmaty::{Chess, Color, Move, Piece, Position as _, Role, Square};

use crate::common::openings::{epd, listed};
use crate::program::{SAMPLE, run_in, stdout};

const PLAYER: &str = "Carlsen, Magnus";
/// The spellings of the player's name in the sample.
const SPELLINGS: [&str; 4] = ["Carlsen,M", "Carlsen, Magnus", "Carlsen, M.", "Carlsen,Magnus"];

/// A game as parsed by pgn-reader and shakmaty.
struct Played {
    tags: HashMap<String, String>,
    /// The positions: one more than the number of moves.
    positions: Vec<Chess>,
    moves: Vec<Move>,
}

struct Reading;

impl Visitor for Reading {
    type Tags = HashMap<String, String>;
    type Movetext = Played;
    type Output = Played;

    fn begin_tags(&mut self) -> ControlFlow<Played, Self::Tags> {
        ControlFlow::Continue(HashMap::new())
    }

    fn tag(&mut self, tags: &mut Self::Tags, name: &[u8], value: RawTag<'_>) -> ControlFlow<Played> {
        let name = String::from_utf8(name.to_vec()).unwrap();
        tags.insert(name, value.decode_utf8().unwrap().into_owned());
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Self::Tags) -> ControlFlow<Played, Played> {
        ControlFlow::Continue(Played { tags, positions: vec![Chess::new()], moves: Vec::new() })
    }

    fn san(&mut self, game: &mut Played, san: SanPlus) -> ControlFlow<Played> {
        let mut chess = game.positions.last().unwrap().clone();
        let mv = san.san.to_move(&chess).unwrap();
        chess.play_unchecked(mv);
        game.positions.push(chess);
        game.moves.push(mv);
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, game: Played) -> Played {
        game
    }
}

/// Returns the player's side; `None` if the player did not play in the game.
fn side(game: &Played) -> Option<Color> {
    let is_his = |tag| SPELLINGS.contains(&&*game.tags[tag]);
    if is_his("White") { Some(Color::White) } else { is_his("Black").then_some(Color::Black) }
}

/// Returns an invented rating for a name. Some names, and one spelling of the player's name, have none.
fn rating(name: &str) -> Option<u32> {
    let sum: u32 = name.bytes().map(u32::from).sum();
    match SPELLINGS.iter().position(|spelling| *spelling == name) {
        Some(1) => None,
        Some(_) => Some(2700),
        None => (!sum.is_multiple_of(11)).then_some(2000 + sum * 37 % 700),
    }
}

/// Returns the sample with invented ratings, both as text and as games replayed by shakmaty.
fn rated_sample() -> (String, Vec<Played>) {
    let mut text = String::new();
    for line in fs::read_to_string(SAMPLE).unwrap().lines() {
        writeln!(text, "{line}").unwrap();
        for side in ["White", "Black"] {
            let name = line.strip_prefix(&format!("[{side} \"")).and_then(|rest| rest.strip_suffix("\"]"));
            if let Some(rating) = name.and_then(rating) {
                writeln!(text, "[{side}Elo \"{rating}\"]").unwrap();
            }
        }
    }
    let mut reader = Reader::new(Cursor::new(text.clone()));
    let mut games = Vec::new();
    while let Some(game) = reader.read_game(&mut Reading).unwrap() {
        games.push(game);
    }
    assert_eq!(games.len(), 1000);
    (text, games)
}

/// The figures for some games: the numbers of games, wins, draws and losses; and for the rated games, their number, the player's
/// score and the expected score.
#[derive(Clone, Copy, Default)]
struct Sum {
    counts: [u64; 4],
    rated: u64,
    points: f64,
    expected: f64,
}

impl Sum {
    fn add(&mut self, game: &Played, side: Color) {
        let lost = side.fold_wb("0-1", "1-0");
        let points = match &*game.tags["Result"] {
            "1/2-1/2" => 0.5,
            result if result == lost => 0.0,
            _ => 1.0,
        };
        self.counts[0] += 1;
        self.counts[(3.0 - 2.0 * points) as usize] += 1;
        let elo = |side: Color| game.tags.get(side.fold_wb("WhiteElo", "BlackElo"));
        if let (Some(own), Some(other)) = (elo(side), elo(!side)) {
            let behind = other.parse::<f64>().unwrap() - own.parse::<f64>().unwrap();
            self.rated += 1;
            self.points += points;
            self.expected += 1.0 / (1.0 + 10_f64.powf(behind / 400.0));
        }
    }

    /// Compares the figures that the test has computed with those in a row of the profile that the command wrote.
    #[track_caller]
    fn compare(&self, row: &Value) {
        let counts = ["games", "wins", "draws", "losses"].map(|name| row[name].as_u64().unwrap());
        assert_eq!((counts, row["rated"].as_u64()), (self.counts, Some(self.rated)), "{row}");
        if self.rated == 0 {
            assert!(row["expected"].is_null() && row["difference"].is_null(), "{row}");
            return;
        }
        let rated = self.rated as f64;
        let close = |value: &Value, due: f64| (value.as_f64().unwrap() - due).abs() < 1e-6;
        assert!(close(&row["expected"], self.expected / rated), "{row}");
        assert!(close(&row["difference"]["value"], (self.points - self.expected) / rated), "{row}");
        assert!(close(&row["rated_score"]["value"], self.points / rated), "{row}");
    }
}

#[test]
fn figures_are_those_that_shakmaty_counts() {
    let (text, games) = rated_sample();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("games.pgn"), text).unwrap();
    let (code, json, stderr) = run_in(folder.path(), &["player", "--json", PLAYER, "games.pgn"]);
    assert_eq!(code, Some(0), "{stderr}");
    let profile: Value = serde_json::from_str(&json).unwrap();

    // Openings are compared by name only, because a player's page does not show ECO codes.
    let listed: HashMap<String, String> = listed().into_iter().map(|(epd, (_, name))| (epd, name)).collect();
    let mut sums = [Sum::default(); 2];
    let mut openings = [BTreeMap::<String, Sum>::new(), BTreeMap::new()];
    for (game, side) in games.iter().filter_map(|game| Some((game, side(game)?))) {
        let at = side.fold_wb(0, 1);
        sums[at].add(game, side);
        let name = game.positions.iter().take(41).rev().find_map(|chess| listed.get(&epd(chess))).unwrap();
        let family = name.split(':').next().unwrap();
        openings[at].entry(family.to_owned()).or_default().add(game, side);
    }
    assert_eq!([sums[0].counts, sums[1].counts], [[103, 49, 38, 16], [82, 33, 34, 15]]);
    assert_eq!(profile["others"], 815);
    for (at, sum) in sums.iter().enumerate() {
        assert!(sum.rated > 50 && sum.rated < sum.counts[0], "{}", sum.rated);
        sum.compare(&profile["sides"][at]);
        let table = &profile["openings"][at];
        let rows = table["openings"].as_array().unwrap();
        rows.iter().for_each(|row| openings[at][row["name"].as_str().unwrap()].compare(row));
        let least = rows.iter().map(|row| row["games"].as_u64().unwrap()).min().unwrap();
        let names: Vec<&str> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
        let rest: Vec<_> = openings[at].iter().filter(|(name, _)| !names.contains(&name.as_str())).collect();
        assert!(rest.iter().all(|(_, sum)| sum.counts[0] <= least));
        assert_eq!((rows.len(), table["more"].as_u64()), (10, Some(rest.len() as u64)));
        let games: u64 = rest.iter().map(|(_, sum)| sum.counts[0]).sum();
        assert_eq!(table["rest"]["games"], games);
    }
    compare_chains(&profile, &games);
    compare_gaps(&profile, &games, &listed);
}

/// Compares the figures for the theme French chain, `flipcolor {not [x] Pd4 Pe5 pd5 pe6}`, with figures computed from the games'
/// moves.
#[track_caller]
fn compare_chains(profile: &Value, games: &[Played]) {
    let chain = |chess: &Chess, side: Color| {
        let square = |name: &str| {
            let square: Square = name.parse().unwrap();
            if side.is_white() { square } else { square.flip_vertical() }
        };
        let has = |name: &str, color| {
            chess.board().piece_at(square(name)) == Some(Piece { color, role: Role::Pawn })
        };
        has("d4", side) && has("e5", side) && has("d5", !side) && has("e6", !side)
    };
    let (mut player, mut own, mut opponent, mut others) = (0, 0, 0, 0);
    for game in games {
        let has = |wanted: Color| {
            let quiet = |at: &usize| game.moves.get(*at).is_none_or(|mv| !mv.is_capture());
            (0..game.positions.len()).filter(quiet).any(|at| chain(&game.positions[at], wanted))
        };
        let sides = [Color::White, Color::Black].map(has);
        match side(game) {
            Some(side) => {
                player += u64::from(sides.contains(&true));
                own += u64::from(sides[side.fold_wb(0, 1)]);
                opponent += u64::from(sides[side.fold_wb(1, 0)]);
            }
            None => others += u64::from(sides.contains(&true)),
        }
    }
    let themes = profile["themes"].as_array().unwrap();
    let theme = themes.iter().find(|theme| theme["theme"] == "french-chain").unwrap();
    let count = |value: &Value| [&value["games"], &value["of"]].map(|count| count.as_u64().unwrap());
    assert_eq!((count(&theme["player"]), count(&theme["field"])), ([player, 185], [others, 815]));
    assert_eq!(theme["has_pattern"], serde_json::json!([own, opponent]));
    assert_eq!((player, others), (3, 53));
    let difference = player as f64 / 185.0 - others as f64 / 815.0;
    assert!((theme["difference"]["value"].as_f64().unwrap() - difference).abs() < 1e-9, "{theme}");
}

/// Checks the *gaps* of the profile: the openings in which the player scores less than the ratings predict. The scores and the
/// largest gap must equal those computed from the games.
#[track_caller]
fn compare_gaps(profile: &Value, games: &[Played], listed: &HashMap<String, String>) {
    let mut passed: BTreeMap<(bool, &str), Sum> = BTreeMap::new();
    for (game, side) in games.iter().filter_map(|game| Some((game, side(game)?))) {
        let mut names: Vec<&str> = game.positions[1..]
            .iter()
            .take(40)
            .filter_map(|chess| Some(&**listed.get(&epd(chess))?))
            .collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            passed.entry((side.is_white(), name)).or_default().add(game, side);
        }
    }
    let below = |sum: &Sum| (sum.points - sum.expected) / sum.rated as f64;
    let gaps = profile["gaps"].as_array().unwrap();
    assert!(!gaps.is_empty());
    for gap in gaps {
        passed[&(gap["side"] == "White", gap["name"].as_str().unwrap())].compare(gap);
        assert!(gap["rated"].as_u64().unwrap() >= 5 && gap["difference"]["value"].as_f64().unwrap() < 0.0);
    }
    let least = passed.values().filter(|sum| sum.rated >= 5).map(below).fold(0.0, f64::min);
    assert!((gaps[0]["difference"]["value"].as_f64().unwrap() - least).abs() < 1e-6);
}

/// Returns a game's date, with unknown components replaced so that they sort after all known ones.
fn date(game: &Played) -> [u32; 3] {
    let mut parts = game.tags["Date"].split('.').map(|part| part.parse().unwrap_or(u32::MAX));
    std::array::from_fn(|_| parts.next().unwrap())
}

/// A novelty: the number of half-moves that lead to the new position; the number of earlier games that reached the position before
/// the last of these half-moves; and the moves that these games played there, each with its number of games.
type Novelty = (usize, usize, BTreeMap<String, u64>);

/// Returns each game's novelty, computed by brute force; `None` for a game without a new position.
fn novelties(games: &[Played]) -> Vec<Option<Novelty>> {
    let names: Vec<Vec<String>> = games.iter().map(|game| game.positions.iter().map(epd).collect()).collect();
    let mut order: Vec<usize> = (0..games.len()).collect();
    order.sort_by_key(|&index| (date(&games[index]), index));
    let mut found = vec![None; games.len()];
    let mut seen: HashMap<&str, Vec<usize>> = HashMap::new();
    for index in order {
        let new = names[index].iter().position(|name| !seen.contains_key(name.as_str()));
        found[index] = new.map(|new| {
            let before = new.checked_sub(1).map_or("", |before| &names[index][before]);
            let earlier = seen.get(before).cloned().unwrap_or_default();
            let mut moves = BTreeMap::new();
            for &other in &earlier {
                let here = (0..games[other].moves.len()).filter(|&at| names[other][at] == before);
                let san = |at: usize| {
                    SanPlus::from_move(games[other].positions[at].clone(), games[other].moves[at]).to_string()
                };
                let played: BTreeSet<String> = here.map(san).collect();
                played.into_iter().for_each(|san| *moves.entry(san).or_default() += 1);
            }
            (new, earlier.len(), moves)
        });
        for name in &names[index] {
            let games = seen.entry(name).or_default();
            if games.last() != Some(&index) {
                games.push(index);
            }
        }
    }
    found
}

#[test]
fn novelties_are_those_that_shakmaty_finds() {
    let (text, games) = rated_sample();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("games.pgn"), text).unwrap();
    let found = novelties(&games);
    // The condition restricts only the player's games. A novelty is a position that occurs in no earlier game of the whole file.
    for (condition, since) in [("date>=0001", 0), ("date>=2010", 2010)] {
        let (code, json, stderr) =
            run_in(folder.path(), &["player", "--json", PLAYER, "games.pgn", "--where", condition]);
        assert_eq!(code, Some(0), "{stderr}");
        let told = serde_json::from_str::<Value>(&json).unwrap()["novelties"].take();
        let mut sums = [Sum::default(); 4];
        let mut due = Vec::new();
        for (index, game) in games.iter().enumerate().filter(|(_, game)| date(game)[0] >= since) {
            let Some(side) = side(game) else { continue };
            let moved = found[index].as_ref().filter(|(plies, ..)| *plies > 0);
            let by = moved.map(|(plies, ..)| usize::from(game.positions[plies - 1].turn() != side));
            let new_start = if found[index].is_some() { 3 } else { 2 };
            sums[by.unwrap_or(new_start)].add(game, side);
            if let (Some((plies, earlier, moves)), Some(0)) = (moved, by) {
                due.push((std::cmp::Reverse(*earlier), date(game), index, *plies, moves));
            }
        }
        sums.iter().enumerate().for_each(|(at, sum)| sum.compare(&told["games"][at]));
        assert!(sums[0].counts[0] > 30 && sums[1].counts[0] > 30, "{told}");
        due.sort();
        let rows = told["listed"].as_array().unwrap();
        assert_eq!((rows.len(), told["left_out"].as_u64()), (due.len().min(20), Some(0)));
        for (row, (earlier, _, index, plies, moves)) in rows.iter().zip(due) {
            let game = &games[index];
            let side = side(game).unwrap();
            let san = SanPlus::from_move(game.positions[plies - 1].clone(), game.moves[plies - 1]);
            let number = format!("{}{}", plies.div_ceil(2), if plies % 2 == 1 { "." } else { "..." });
            assert_eq!(row["move"], format!("{number} {san}"));
            assert_eq!((&row["fen"], &row["ply"]), (&epd(&game.positions[plies]).into(), &plies.into()));
            assert_eq!((&row["game"], &row["games_before"]), (&(index + 1).into(), &earlier.0.into()));
            assert_eq!(row["side"], side.fold_wb("White", "Black"));
            assert_eq!(row["opponent"], *game.tags[side.fold_wb("Black", "White")]);
            let elo = game.tags.get(side.fold_wb("BlackElo", "WhiteElo"));
            assert_eq!(row["opponent_rating"].as_u64().map(|elo| elo.to_string()), elo.cloned());
            let result = match &*game.tags["Result"] {
                "1/2-1/2" => "drawn",
                result if result == side.fold_wb("1-0", "0-1") => "won",
                _ => "lost",
            };
            assert_eq!(row["result"], result);
            let before = row["before"].as_array().unwrap();
            let counts: Vec<u64> = before.iter().map(|played| played["games"].as_u64().unwrap()).collect();
            assert!(counts.is_sorted_by(|a, b| a >= b), "{row}");
            let told = before.iter().map(|played| played["san"].as_str().unwrap().to_owned()).zip(counts);
            assert_eq!(&told.collect::<BTreeMap<String, u64>>(), moves);
        }
    }
}

/// A game whose start position is new has no new move, but does not repeat an earlier game either.
#[test]
fn games_with_a_new_start_position_are_counted_apart() {
    let folder = tempfile::tempdir().unwrap();
    let game = |year: u32, [white, black]: [&str; 2], rest: &str| {
        format!("[White \"{white}\"]\n[Black \"{black}\"]\n[Date \"{year}.01.01\"]\n{rest}\n\n")
    };
    let games = [
        game(2001, ["Ann", "Bob"], "\n1. e4 e5 1-0"),
        game(2002, ["Ann", "Bob"], "\n1. e4 e5 1/2-1/2"),
        game(2003, ["Ann", "Bob"], "\n1. d4 d5 1-0"),
        game(2004, ["Bob", "Ann"], "\n1. c4 1-0"),
        game(2005, ["Bob", "Ann"], "[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n\n1. e4 0-1"),
    ];
    fs::write(folder.path().join("games.pgn"), games.concat()).unwrap();
    let run = |args: &[&str]| {
        let (code, stdout, stderr) = run_in(folder.path(), args);
        assert_eq!(code, Some(0), "{args:?}: {stderr}");
        stdout
    };
    let profile: Value = serde_json::from_str(&run(&["player", "-q", "--json", "Ann", "games.pgn"])).unwrap();
    let rows = profile["novelties"]["games"].as_array().unwrap();
    let rows: Vec<(&str, u64, u64)> = rows
        .iter()
        .map(|row| {
            let [games, wins] = ["games", "wins"].map(|count| row[count].as_u64().unwrap());
            (row["name"].as_str().unwrap(), games, wins)
        })
        .collect();
    let due = [
        ("the player", 1, 1),
        ("the opponent", 1, 0),
        ("no new move", 1, 0),
        ("the start position is new", 2, 2),
    ];
    assert_eq!(rows, due);
    assert!(run(&["player", "-q", "Ann", "games.pgn"]).contains("\nthe start position is new      2"));
}

/// Two openings with equal results are both listed, unless they were played in the same games.
#[test]
fn gaps_with_equal_results_are_told_apart_by_their_games() {
    let folder = tempfile::tempdir().unwrap();
    let games = |moves: &str| {
        let tags = "[White \"Bob\"]\n[Black \"Ann\"]\n[WhiteElo \"2000\"]\n[BlackElo \"2000\"]";
        format!("{tags}\n\n{moves}\n\n").repeat(5)
    };
    let games =
        [games("1. e4 c5 2. Nf3 1-0"), games("1. d4 d5 2. c4 e6 1-0"), games("1. c4 e5 0-1")].concat();
    fs::write(folder.path().join("games.pgn"), games).unwrap();
    let (code, json, stderr) = run_in(folder.path(), &["player", "-q", "--json", "Ann", "games.pgn"]);
    assert_eq!(code, Some(0), "{stderr}");
    let profile: Value = serde_json::from_str(&json).unwrap();
    let gaps = profile["gaps"].as_array().unwrap();
    let names: Vec<&str> = gaps.iter().map(|gap| gap["name"].as_str().unwrap()).collect();
    // The other names, such as the Sicilian Defense, cover the same games as one of these, and are not longer.
    assert_eq!(names, ["King's Pawn Game", "Queen's Gambit Declined"]);
}

/// Standard input can be read only once, so novelties cannot be searched for.
#[test]
fn novelties_need_files_that_can_be_read_again() {
    let one = |input: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_orbit"));
        command.args(["player", "-q", "Carlsen, Magnus", input]).current_dir(env!("CARGO_MANIFEST_DIR"));
        let output = command.stdin(fs::File::open(SAMPLE).unwrap()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let (before, section) = text.split_once("\nNovelties\n").unwrap();
        let (section, after) = section.split_once("\nStructures and themes\n").unwrap();
        let before: Vec<&str> = before.lines().skip(4).collect();
        (section.trim_end().to_owned(), [before.join("\n"), after.to_owned()])
    };
    let (piped, file) = (one("-"), one("games/sample.pgn"));
    assert!(
        piped.0.starts_with("Novelties are not looked for") && piped.0.lines().count() == 1,
        "{}",
        piped.0
    );
    assert_eq!(piped.1, file.1);
    let heads =
        ["new move by", "move "].map(|head| file.0.lines().filter(|line| line.starts_with(head)).count());
    assert_eq!(heads, [1, 1], "{}", file.0);
}

/// The sample's profile must have the same figures as text, as a page and as JSON, and also if the games come from a reel (packed
/// games).
#[test]
fn text_page_and_json_have_the_same_figures() {
    let text = stdout(&["player", PLAYER, "games/sample.pgn"]);
    for line in [
        "185 of 1,000 games in games/sample.pgn, 2001 to 2016.",
        "Names taken together, with their games: `Carlsen,M` 179, `Carlsen, Magnus` 3, `Carlsen, M.` 2, `Carlsen,Magnus` 1.",
        "No game has a result and the ratings of both players, so no score can be expected.",
        "White    103   49     38    16  66.0 % (56.4-74.4)",
        "Sicilian Defense            20    8      5     7   52.5 %",
        "rook against rook               21    8      9     4  59.5 %",
        "No game of the player has clocks (`%clk` in comments).",
    ] {
        assert!(text.lines().any(|shown| shown == line), "{line}\n{text}");
    }
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let (code, stdout, stderr) = run_in(folder.path(), args);
        assert_eq!(code, Some(0), "{args:?}: {stderr}");
        stdout
    };
    fs::copy(SAMPLE, folder.path().join("sample.pgn")).unwrap();
    assert_eq!(run(&["player", "-q", "-j", "1", PLAYER, "sample.pgn", "-o", "player.html"]), "");
    let page = fs::read_to_string(folder.path().join("player.html")).unwrap();
    let json = run(&["player", "-q", "--json", PLAYER, "sample.pgn"]);
    let embedded =
        page.split("id=\"findings\">").nth(1).and_then(|rest| rest.split("</script>").next()).unwrap();
    let [embedded, printed] = [embedded, &json].map(|text| serde_json::from_str::<Value>(text).unwrap());
    assert_eq!(embedded, printed);
    for part in [
        "<h1 dir=\"auto\">Carlsen, Magnus</h1>",
        "default-src 'none'",
        "Endings reached in 185 games",
        "<bdi>French chain</bdi></th><td>3</td><td>1.6 %</td><td>53</td><td>6.5 %</td><td>-4.9 (-7.1 to -1.5)</td>",
    ] {
        assert!(page.contains(part), "{part}");
    }
    run(&["index", "-q", "sample.pgn", "-o", "sample.reel"]);
    let of_reel = run(&["player", "-q", "--json", PLAYER, "sample.reel"]);
    let [of_reel, mut printed] = [&of_reel, &json].map(|text| serde_json::from_str::<Value>(text).unwrap());
    printed["sources"] = of_reel["sources"].clone();
    printed["comments_read"] = false.into();
    assert_eq!(of_reel, printed);
}

/// A file that contains only games of one player. The field (the players with whom the player is compared) then consists of the
/// opponents.
const OWN: &str = "[White \"Ann\"]\n[Black \"Bob\"]\n[Result \"1-0\"]\n[TimeControl \"60+0\"]\n\n\
    1. e4 {[%clk 0:01:00]} e6 {[%clk 0:00:59]} 2. d4 {[%clk 0:00:50]} d5 {[%clk 0:00:05]} 3. e5 {[%clk 0:00:40]} c5 1-0\n\n\
    [White \"Cid\"]\n[Black \"Ann\"]\n[Result \"1-0\"]\n[TimeControl \"60+0\"]\n\n\
    1. e4 {[%clk 0:01:00]} e6 {[%clk 0:00:59]} 2. d4 d5 3. e5 c5 {[%clk 0:00:06]} 1-0\n\n";

#[test]
fn the_field_of_own_games_is_the_opponents() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("own.pgn"), OWN).unwrap();
    let run = |args: &[&str]| {
        let (code, stdout, stderr) = run_in(folder.path(), args);
        assert_eq!(code, Some(0), "{args:?}: {stderr}");
        stdout
    };
    let text = run(&["player", "-q", "Ann", "own.pgn"]);
    for part in [
        "There is no game of others, so the field is the opponents in the same 2 games",
        "2 games of the player have clocks.",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let profile: Value = serde_json::from_str(&run(&["player", "-q", "--json", "Ann", "own.pgn"])).unwrap();
    let themes = profile["themes"].as_array().unwrap();
    let theme = themes.iter().find(|theme| theme["theme"] == "french-chain").unwrap();
    // Ann has the French chain as White, and Cid faces it.
    assert_eq!((&theme["player"]["games"], &theme["field"]["games"]), (&1.into(), &1.into()));
    assert_eq!(theme["difference"]["value"], 0.0);
    let clock = &profile["clock"];
    let counts = |name: &str| ["games", "of"].map(|count| clock[name][count].as_u64().unwrap());
    // 5 of 60 seconds are less than a tenth of the time; 6 seconds are not.
    assert_eq!((counts("player"), counts("opponent")), ([0, 2], [1, 2]));
}

/// Games with evaluations: moves in a won position, a mistake, a missed mate, and positions without an evaluation.
const EVALUATED: &str = "[White \"Ann\"]\n[Black \"Bob\"]\n[Result \"1-0\"]\n[TimeControl \"60+0\"]\n\n\
    1. e4 {[%eval 0.3] [%clk 0:01:00]} e6 {[%eval 0.2] [%clk 0:00:31]} 2. d4 {[%eval -0.4] [%clk 0:00:30]} \
    d5 {[%eval 1.65] [%clk 0:00:06]} 3. e5 {[%eval 12.5] [%clk 0:00:05]} c5 {[%eval #2] [%clk 0:00:05]} \
    4. c3 {[%eval 7] [%clk 0:00:04]} Nc6 {[%clk 0:00:04]} 5. Nf3 {[%eval -1]} Bd7 {[%eval -1]} 1-0\n\n\
    [White \"Cid\"]\n[Black \"Ann\"]\n[Result \"1-0\"]\n\n1. e4 {[%eval 0.3]} e6 1-0\n\n";

#[test]
fn losses_are_added_up_by_side_and_time() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("own.pgn"), EVALUATED).unwrap();
    let run = |args: &[&str]| {
        let (code, stdout, stderr) = run_in(folder.path(), args);
        assert_eq!(code, Some(0), "{args:?}: {stderr}");
        stdout
    };
    let text = run(&["player", "-q", "Ann", "own.pgn"]);
    let section = text.split("\nLosses of moves\n").nth(1).unwrap().split("\n\nHow to").next().unwrap();
    let lines: Vec<&str> = section.lines().collect();
    assert!(lines[0].starts_with("The losses of moves are known in 1 game of the player."), "{section}");
    // Expected losses. Ann: 2. d4 loses 0.6 with half a minute left, 3. e5 loses nothing, and 4. c3 loses three pawns of ten.
    // Bob: 1... e6 loses nothing, 2... d5 loses 2.05, 3... c5 loses nothing, because both evaluations count as ten pawns, and
    // 5... Bd7 loses nothing and has no clock time.
    let due = "
Moves of the player: their losses in pawns, by the time that is left after the move
time left                          moves  mean loss  0.5 and more  1 and more   2 and more (95 %)
half of the starting time or more      1       0.60       100.0 %       0.0 %    0.0 % (0.0-79.3)
less than a tenth                      2       1.50        50.0 %      50.0 %   50.0 % (9.5-90.5)
all moves                              3       1.20        66.7 %      33.3 %   33.3 % (6.1-79.2)

Moves of the opponents: their losses in pawns, by the time that is left after the move
time left                          moves  mean loss  0.5 and more  1 and more   2 and more (95 %)
half of the starting time or more      1       0.00         0.0 %       0.0 %    0.0 % (0.0-79.3)
a tenth to half                        1       2.05       100.0 %     100.0 % 100.0 % (20.7-100.0)
less than a tenth                      1       0.00         0.0 %       0.0 %    0.0 % (0.0-79.3)
no clock or starting time              1       0.00         0.0 %       0.0 %    0.0 % (0.0-79.3)
all moves                              4       0.51        25.0 %      25.0 %   25.0 % (4.6-69.9)";
    let words = |text: &str| {
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
    };
    assert_eq!(words(&lines[2..].join("\n")), words(due.trim_start_matches('\n')));
    assert!(run(&["player", "-q", "Cid", "own.pgn"]).contains("No game of the player has evaluations"));
}

/// The total loss of a player's moves, over all amounts of remaining time, must equal the total that a search for these moves
/// finds.
#[test]
fn losses_are_those_of_a_search() {
    let games = "tests/data/games/measures.pgn";
    let (player, side) = ("Eljanov, Pavel", ["btm", "wtm"]);
    let profile: Value = serde_json::from_str(&stdout(&["player", "-q", "--json", player, games])).unwrap();
    for (of, query) in ["player", "opponents"].into_iter().zip(side) {
        let rows = stdout(&[
            "scan",
            "-q",
            "--player",
            player,
            "--format",
            "jsonl",
            "--columns",
            "loss",
            query,
            games,
        ]);
        let losses: Vec<f64> = rows
            .lines()
            .filter_map(|row| serde_json::from_str::<Value>(row).unwrap()["loss"].as_f64())
            .collect();
        let all = profile["losses"][of].as_array().unwrap().last().unwrap();
        assert_eq!(
            (all["remaining_time"].as_str(), all["moves"].as_u64()),
            (Some("all moves"), Some(losses.len() as u64))
        );
        let mean = losses.iter().sum::<f64>() / losses.len() as f64;
        assert!((all["mean_loss"].as_f64().unwrap() - mean).abs() < 1e-9, "{all} {mean}");
        for (name, least) in [("half_pawn", 0.5), ("one_pawn", 1.0), ("two_pawns", 2.0)] {
            let share = losses.iter().filter(|loss| **loss >= least).count() as f64 / losses.len() as f64;
            assert!(share > 0.0 && (all[name]["value"].as_f64().unwrap() - share).abs() < 1e-9, "{name}");
        }
    }
}

/// If one of the sources is a reel without comments, no comments are read. The profile must not say that games have no clocks.
#[test]
fn a_reel_without_comments_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let reel = folder.path().join("bare.reel");
    let (games, reel) = ("tests/data/games/measures.pgn", reel.to_str().unwrap());
    stdout(&["index", "-q", games, "-o", reel]);
    let profile = |sources: &[&str]| stdout(&[&["player", "-q", "Eljanov, Pavel"], sources].concat());
    let unread = "At least one of the files is a reel without comments";
    for sources in [&[reel][..], &[games, reel]] {
        let profile = profile(sources);
        assert_eq!(
            (profile.matches(unread).count(), profile.contains("No game of the player has clocks")),
            (2, false)
        );
    }
    assert!(!profile(&[games]).contains(unread));
}

#[test]
fn what_cannot_be_shown_is_refused() {
    let refused = |args: &[&str]| {
        let all = [&["player", "-q"][..], args].concat();
        let (code, stdout, stderr) = run_in(Path::new(env!("CARGO_MANIFEST_DIR")), &all);
        assert_eq!((code, &*stdout), (Some(2), ""), "{args:?}");
        stderr
    };
    let games = "games/sample.pgn";
    for (args, message) in [
        (
            &["Carlsn", games][..],
            "no game of Carlsn: names are the tags White and Black of the games; did you mean `Carlsen,M` 179",
        ),
        (&["Xyzzy", games], "no game of Xyzzy: names are the tags White and Black of the games\n"),
        (&["--exact", "Carlsen", games], "no game of Carlsen"),
        (
            &[PLAYER, games, "--where", "year>2030"],
            "no game of Carlsen, Magnus meets the conditions of --where: change them, or the name",
        ),
        (&["", games], "`` is no name"),
        (&[PLAYER, games, "--where", "clock<30"], "`clock<30` is a condition on positions"),
        (&[PLAYER, games, "-o", "player.svg"], "give a name that ends in .html, .json or .txt"),
        (&[PLAYER, games, "-o", "player.html", "--json"], "cannot be used with"),
        (&[PLAYER], "required"),
    ] {
        let stderr = refused(args);
        assert!(stderr.contains(message), "{args:?}: {stderr}");
    }
    let one = stdout(&["player", "-q", "--exact", "Carlsen, M.", games, "--where", "date>=2000"]);
    assert!(one.contains("Only games with date>=2000 count") && one.contains("`Carlsen, M.` 2."), "{one}");
}
