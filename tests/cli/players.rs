//! Tests `--player` as its users run it.

use serde_json::Value;

use crate::program::run_in as run;

const GAMES: &str = "[White \"Ann\"]\n[Black \"Carlsen, M.\"]\n[BlackElo \"2850\"]\n\n1. e4 Nf6 2. e5 Nd5 3. c4 Nb4 0-1\n\n\
                     [White \"Carlsen,Magnus\"]\n[Black \"Bob\"]\n\n1. Nc3 e5 2. Nd5 d6 1/2-1/2\n\n\
                     [White \"Carlsen,H\"]\n[Black \"Bob\"]\n\n1. Nc3 e5 2. Nd5 d6 1-0\n\n";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("games.pgn"), GAMES).unwrap();
    folder
}

/// Hits must be shown as they occurred in the game: for example, a black knight on d4 although the query has a white knight on
/// d5.
#[test]
fn hits_are_shown_in_the_game_as_it_was_played() {
    let folder = folder();
    let games = GAMES.replace("2. e5 Nd5 3. c4 Nb4", "2. e5 Ng4 3. c4 Nc6 4. a3 Nd4");
    std::fs::write(folder.path().join("games.pgn"), games).unwrap();
    let args = ["scan", "--player", "Carlsen, Magnus", "--format", "jsonl", "Nd5", "games.pgn"];
    let (code, stdout, stderr) = run(folder.path(), &args);
    assert_eq!(code, Some(0), "{stderr}");
    let rows: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for row in &rows {
        let is_white = row["white"].as_str().unwrap().starts_with("Carlsen");
        assert_eq!(row["side"], if is_white { "white" } else { "black" }, "{row}");
    }
    assert!(["white", "black"].iter().all(|side| rows.iter().any(|row| row["side"] == *side)));
    let squares: Vec<(u64, u64, String)> = rows
        .iter()
        .map(|row| {
            let squares = row["squares"].to_string();
            (row["game"].as_u64().unwrap(), row["ply"].as_u64().unwrap(), squares)
        })
        .collect();
    let squares: Vec<(u64, u64, &str)> =
        squares.iter().map(|(game, ply, set)| (*game, *ply, &**set)).collect();
    assert_eq!(squares, [(1, 8, "[\"d4\"]"), (2, 3, "[\"d5\"]"), (2, 4, "[\"d5\"]")]);
    let matched: Vec<String> = rows.iter().map(|row| row["matched"].to_string()).collect();
    assert!(matched[0].contains("d4") && matched[1].contains("d5"), "{matched:?}");
}

#[test]
fn the_summary_lists_the_spellings_that_were_taken_together() {
    let folder = folder();
    let (_, stdout, stderr) =
        run(folder.path(), &["scan", "--player", "Carlsen, Magnus", "--count", "initial", "games.pgn"]);
    assert!(stdout.starts_with("games hit 2\n"), "{stdout}");
    let said = "Carlsen, Magnus: 2 games, 1 as White, 1 as Black; all seen from that side, and scores are the player's\n\
                taken together: `Carlsen, M.` 1, `Carlsen,Magnus` 1\n";
    assert!(stderr.contains(said), "{stderr}");
    let (_, _, stderr) =
        run(folder.path(), &["scan", "--player", "Karpov", "--count", "initial", "games.pgn"]);
    assert!(
        stderr.contains("no game of Karpov: names are the tags White and Black of the games\n"),
        "{stderr}"
    );
}

#[test]
fn options_of_a_player_choose_among_his_games() {
    let folder = folder();
    for (args, games) in [
        (&["--player", "Carlsen"][..], 3),
        (&["--player", "Carlsen", "--as", "white"], 2),
        (&["--player", "Carlsen", "--as", "black"], 1),
        (&["--player", "Carlsen", "--as", "any"], 3),
        (&["--player", "Carlsen", "--rating", "2800-"], 1),
        (&["--player", "Carlsen", "--rating", "-2800"], 0),
        (&["--player", "Carlsen", "--opponent", "bob"], 2),
        (&["--player", "Bob", "--opponent", "Carlsen, Henrik"], 1),
        (&["--player", "Ann", "--opponent-rating", "2800-2900"], 1),
        (&["--player", "Carlsen", "--where", "result=1-0"], 1),
    ] {
        let all = [&["scan", "-q", "--count"][..], args, &["initial", "games.pgn"]].concat();
        let (code, stdout, stderr) = run(folder.path(), &all);
        assert_eq!(code, Some(0), "{stderr}");
        assert!(stdout.starts_with(&format!("games hit {games}\n")), "{args:?}: {stdout}");
    }
    for (args, message) in [
        (&["--rating", "2800-"][..], "name him by --player or --player-exact"),
        (&["--player", ""], "is no name"),
        (&["--player", "Carlsen", "--rating", "2800"], "is no range of ratings"),
        (&["--stats", "opponent"], "`opponent` groups the games of one player: add --player NAME"),
    ] {
        let all = [&["scan", "-q"][..], args, &["initial", "games.pgn"]].concat();
        let (code, _, stderr) = run(folder.path(), &all);
        assert_eq!(code, Some(2), "{args:?}");
        assert!(stderr.contains(message), "{args:?}: {stderr}");
    }
}

/// `--stats player` must show each player's own score, not White's score in the player's games.
#[test]
fn tables_say_whose_score_they_have() {
    let folder = folder();
    let table = |args: &[&str]| {
        let all = [&["scan", "-q"][..], args, &["initial", "games.pgn"]].concat();
        let (code, stdout, stderr) = run(folder.path(), &all);
        assert_eq!(code, Some(0), "{stderr}");
        stdout
    };
    assert!(table(&["--stats", "result"]).contains("White's score"));
    let players = table(&["--stats", "player", "--where", "player~Carlsen, M."]);
    assert!(players.contains("player's score") && !players.contains("White's score"), "{players}");
    let row = |name: &str| players.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    assert!(
        row("Carlsen, M.").contains("100.0 %  100.0 %") || row("Carlsen, M.").trim_end().ends_with("100.0 %"),
        "{players}"
    );
    assert!(
        row("Ann").trim_end().ends_with("0.0 %") && !row("Ann").trim_end().ends_with("100.0 %"),
        "{players}"
    );
    let own = table(&["--stats", "result", "--player", "Carlsen"]);
    assert!(own.contains("player's score") && own.contains("won") && own.contains("drawn"), "{own}");
    let csv = table(&["--stats", "result", "--player", "Carlsen", "--stats-format", "csv"]);
    assert!(csv.lines().nth(1).unwrap().contains(",player,"), "{csv}");
}

/// If the groups are exactly two files, the output shows the difference between the shares of the two files.
#[test]
fn two_sources_are_compared() {
    let folder = folder();
    let other = GAMES.split_inclusive("0-1\n\n").next().unwrap();
    std::fs::write(folder.path().join("other.pgn"), other).unwrap();
    std::fs::write(folder.path().join("mine.toml"), "[[theme]]\nname = 'knight'\nquery = 'Nd5'\n").unwrap();
    let args = ["batch", "-q", "mine.toml", "games.pgn", "other.pgn", "--by", "source"];
    let (code, stdout, stderr) = run(folder.path(), &args);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains("second - first (95 %)") && stdout.contains("-66.7 ("), "{stdout}");
    let (_, csv, _) = run(folder.path(), &[&args[..], &["--format", "csv"]].concat());
    let last = csv.lines().last().unwrap();
    assert!(last.contains(",source,other.pgn,") && last.contains(",-0.666667,"), "{csv}");
    // A game can be in both groups of moves, so their shares are not compared.
    let args = ["batch", "-q", "mine.toml", "games.pgn", "--by", "move:2"];
    let (_, stdout, _) = run(folder.path(), &args);
    assert!(stdout.contains(", by move:2\n") && !stdout.contains("second - first"), "{stdout}");
}

/// Similar names are listed, a note says if a condition matches only parts of names, and a single spelling can be selected.
#[test]
fn names_that_come_near_are_listed() {
    let folder = folder();
    let said = |args: &[&str]| {
        let all = [&["scan", "--count"][..], args, &["initial", "games.pgn"]].concat();
        let (code, stdout, stderr) = run(folder.path(), &all);
        assert_eq!(code, Some(0), "{stderr}");
        stdout + &stderr
    };
    for (args, part) in [
        (&["--player", "Carlsen, Magnus"][..], "near, and left out: `Carlsen,H` 1\n"),
        (&["--player", "Karlsen, Magnus"], "did you mean: `Carlsen, M.` 1, `Carlsen,Magnus` 1?\n"),
        (&["--player-exact", "Carlsen,Magnus"], "games hit 1\n"),
        (&["--player-exact", "Carlsen,Magnus"], "near, and left out: `Carlsen, M.` 1, `Carlsen,H` 1\n"),
        (&["--player-exact", "Carlsen,H", "--as", "white"], "games hit 1\n"),
        (&["--where", "White=Carlsen"], "`White=Carlsen` is true of no game"),
        (&["--where", "White=Carlsen"], "`White~Carlsen` is of 2 games"),
        (&["--where", "White=Carlsen,H or black=bob"], "games hit 2\n"),
    ] {
        let said = said(args);
        assert!(said.contains(part), "{args:?}: {said}");
    }
    assert!(!said(&["--where", "White=Carlsen,H"]).contains("is true of no game"));
    let args = [
        "--message-format",
        "json",
        "scan",
        "--player",
        "Carlsen, Magnus",
        "--count",
        "initial",
        "games.pgn",
    ];
    let (_, _, stderr) = run(folder.path(), &args);
    let lines = stderr.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let player = lines.map(|line| line["player"].clone()).find(|player| !player.is_null()).unwrap();
    assert_eq!(player["left_out"], serde_json::json!([{ "name": "Carlsen,H", "games": 1 }]));
    assert_eq!((&player["games"], &player["is_whole"]), (&2.into(), &true.into()));
    let both = ["scan", "--player", "A", "--player-exact", "B", "initial", "games.pgn"];
    assert_eq!(run(folder.path(), &both).0, Some(2));
}

/// FIDE numbers tell players with the same name apart, and a spelling that fits several players is named.
#[test]
fn fide_numbers_and_doubtful_spellings_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let game = |tags: &[(&str, &str)]| {
        let tags: String = tags.iter().map(|(name, value)| format!("[{name} \"{value}\"]\n")).collect();
        tags + "\n1. e4 *\n\n"
    };
    let games = [
        game(&[("White", "Carlsen, M."), ("Black", "Ann"), ("WhiteFideId", "1503014")]),
        game(&[("White", "Carlsen, Magnus"), ("Black", "Ann"), ("WhiteFideId", "1503014")]),
        game(&[("White", "Bob"), ("Black", "Carlsen, M."), ("BlackFideId", "1502999")]),
        game(&[("White", "Carlsen, Mads"), ("Black", "Ann")]),
    ];
    std::fs::write(folder.path().join("games.pgn"), games.concat()).unwrap();
    let said =
        |name: &str| run(folder.path(), &["scan", "--player", name, "--count", "initial", "games.pgn"]).2;
    let numbers = "these are 2 players by their FIDE numbers: 1502999 `Carlsen, M.`; 1503014 `Carlsen, M.`, `Carlsen, Magnus`\n";
    let doubt = |others: &str| {
        format!(
            "`Carlsen, M.` was taken, and may be {others} as well: --player-exact takes one spelling alone\n"
        )
    };
    let stderr = said("Carlsen, Magnus");
    assert!(stderr.contains(numbers) && stderr.contains(&doubt("`Carlsen, Mads`")), "{stderr}");
    let stderr = said("Carlsen, M");
    assert!(stderr.contains(&doubt("`Carlsen, Mads`, `Carlsen, Magnus`")), "{stderr}");
    assert!(!said("Bob").contains("FIDE"), "there is one number");
}

/// If a limit ends a search, the numbers of games are those of the games that were read.
#[test]
fn a_limit_ends_the_count_of_a_players_games() {
    let folder = folder();
    let player = |args: &[&str]| {
        let all = [&["scan", "--player", "Carlsen", "--count", "initial", "games.pgn"], args].concat();
        let fields = run(folder.path(), &[&all[..], &["--message-format", "json"]].concat()).2;
        let fields: Vec<Value> = fields.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let is_whole = fields.iter().find_map(|message| message["player"]["is_whole"].as_bool());
        (run(folder.path(), &all).2, is_whole)
    };
    let (stderr, is_whole) = player(&["--limit", "1"]);
    assert!(stderr.contains("Carlsen: 3 games in the games that were read, 2 as White"), "{stderr}");
    assert_eq!(is_whole, Some(false));
    let (stderr, is_whole) = player(&[]);
    assert!(stderr.contains("Carlsen: 3 games, 2 as White"), "{stderr}");
    assert_eq!(is_whole, Some(true));
}
