//! Recomputes the groups of statistics from the output of `--format jsonl`, without library code.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use orbit_database::MemoryBudget;
use orbit_engine::{Answers, Hits, Values, Wants};
use orbit_search::choice::Choice;
use orbit_search::found::{BlockResult, Found, Names};
use orbit_search::report::{Columns, Extras, Format, Rows};
use orbit_search::stats::{Counts, Grouping, ManyCounts, Stats, Tally};
use serde_json::Value;

use super::{counted, file};
use crate::common::scan;
use crate::common::{corpus, pgn_blocks};

/// The groupings that need only a game's tags and a position's ply.
const GROUPINGS: &str = "year,decade,eco,eco:1,result,elo:100,meanelo:100,whiteelo:50,blackelo:250,elodiff:50,ply:10,move:4,\
event,site,white,black,player,round,tag:WhiteTeam,opening,year*result,ply:20*eco:2,player*decade,move:9*ply:7";

/// Returns one JSON value for each hit.
fn lines(query: &str, path: &Path) -> Vec<Value> {
    let mut out = Vec::new();
    let scan = scan(query);
    let names = &Names::default();
    let work = |result: BlockResult<'_>, _: &MemoryBudget| {
        let block = &result.block;
        let found = Found::new(block, &result.answers[0], names);
        Format::JsonLines { rows: Rows::Hits, columns: Columns::with_object_defaults(Extras::default()) }
            .report(&found, 0..block.games_len())
            .text
    };
    let take = |_, text: Vec<u8>| {
        let text = String::from_utf8(text).unwrap();
        out.extend(text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()));
        ControlFlow::Continue(())
    };
    scan.for_each_block(
        file(path, 1 << 20),
        &[Wants::VALUES],
        &Choice::default(),
        &Names::default(),
        work,
        take,
    )
    .unwrap();
    out
}

/// A game, described by the output line for its last position.
struct Game {
    tags: Value,
    /// The ply of its last position.
    plies: i64,
    /// The number of half-moves before the game's first position, two per full move.
    halves_before: i64,
}

impl Game {
    fn new(line: &Value) -> Game {
        let fen: Vec<&str> = line["fen"].as_str().unwrap().split(' ').collect();
        let halves = 2 * (fen[5].parse::<i64>().unwrap() - 1) + i64::from(fen[1] == "b");
        let plies = line["ply"].as_i64().unwrap();
        Game { tags: line["tags"].clone(), plies, halves_before: halves - plies }
    }

    fn tag(&self, name: &str) -> Option<&str> {
        self.tags[name].as_str().map(str::trim).filter(|value| !["", "?"].contains(value))
    }

    fn elo(&self, name: &str) -> Option<i64> {
        self.tag(name)?.parse().ok().filter(|elo| (1..10_000).contains(elo))
    }

    /// Returns the score in half points of White or, if `player` is given, of that player; `None` if it is unknown.
    fn half_points(&self, player: Option<&str>) -> Option<u64> {
        let white = match self.tags["Result"].as_str()? {
            "1-0" => 2,
            "1/2-1/2" => 1,
            "0-1" => 0,
            _ => return None,
        };
        let has = |tag| player.is_some_and(|player| self.tag(tag).unwrap_or("?") == player);
        Some(match (has("White"), has("Black")) {
            (true, true) => 1,
            (false, true) => 2 - white,
            _ => white,
        })
    }

    fn year(&self) -> Option<i64> {
        let year = |tag| self.tag(tag)?.split(['.', '-']).next()?.parse().ok().filter(|year| *year > 0);
        year("Date").or_else(|| year("UTCDate"))
    }

    /// Returns the groups of a position by a single property.
    fn groups(&self, by: &str, ply: i64) -> Vec<String> {
        let (name, argument) = by.split_once(':').unwrap_or((by, ""));
        let step = argument.parse::<i64>().unwrap_or(1);
        let down = |number: i64| (number - (number % step + step) % step).to_string();
        let (white, black) = (self.elo("WhiteElo"), self.elo("BlackElo"));
        let text = |tag| self.tag(tag).map(str::to_owned);
        let eco = |length: usize| {
            let eco = self.tag("ECO")?.to_uppercase();
            let shape = |(place, letter): (usize, char)| match place {
                0 => ('A'..='E').contains(&letter),
                _ => letter.is_ascii_digit(),
            };
            (eco.chars().take(3).enumerate().filter(|&at| shape(at)).count() == 3)
                .then(|| eco[..length].into())
        };
        let group = match name {
            "year" => self.year().map(|year| year.to_string()),
            "decade" => self.year().map(|year| format!("{}0", year / 10)),
            "eco" => eco(argument.parse().unwrap_or(3)),
            "result" => text("Result"),
            "elo" => [white, black].into_iter().flatten().max().map(down),
            "meanelo" => {
                let sum = (white.unwrap_or(0) + black.unwrap_or(0)) as f64;
                let known = white.iter().chain(&black).count();
                (known > 0).then(|| down((sum / known as f64).floor() as i64))
            }
            "whiteelo" => white.map(down),
            "blackelo" => black.map(down),
            "elodiff" => white.zip(black).map(|(white, black)| down(white - black)),
            "ply" => Some(down(ply)),
            "move" => Some(down((self.halves_before + ply) / 2 + 1)),
            "event" => text("Event"),
            "site" => text("Site"),
            "white" => text("White"),
            "black" => text("Black"),
            "round" => text("Round"),
            "opening" => text("Opening"),
            "tag" => text(argument),
            "player" => {
                let players = ["White", "Black"].map(|tag| text(tag).unwrap_or("?".into()));
                return BTreeSet::from(players).into_iter().collect();
            }
            name => panic!("{name} is not counted a second time"),
        };
        vec![group.unwrap_or("?".into())]
    }

    /// Returns the groups to which a position belongs in a grouping, which may combine two properties.
    fn cells(&self, grouping: &str, ply: i64) -> Vec<String> {
        let Some((first, second)) = grouping.split_once('*') else { return self.groups(grouping, ply) };
        let seconds = self.groups(second, ply);
        let cross = |first: String| seconds.iter().map(move |second| format!("{first} * {second}"));
        self.groups(first, ply).into_iter().flat_map(cross).collect()
    }
}

/// A group's hits: the plies of the hits in each game.
type Group = BTreeMap<u64, BTreeSet<i64>>;

fn tally(group: Option<&Group>, games: &BTreeMap<u64, Game>, player: Option<&str>) -> Tally {
    let mut sum = Tally::default();
    for (number, plies) in group.into_iter().flatten() {
        let half_points = games[number].half_points(player);
        sum.games += 1;
        sum.positions += plies.len() as u64;
        sum.results += u64::from(half_points.is_some());
        sum.half_points += half_points.unwrap_or(0);
        sum.wins += u64::from(half_points == Some(2));
    }
    sum
}

fn spelt(counts: &Counts, grouping: &str) -> BTreeMap<String, (Tally, Tally)> {
    let rows = counts.rows(&grouping.parse().unwrap());
    let name = |keys: [orbit_search::stats::GroupKey; 2]| match keys {
        [first, orbit_search::stats::GroupKey::Whole] => first.to_string(),
        [first, second] => format!("{first} * {second}"),
    };
    let mut sums: BTreeMap<String, (Tally, Tally)> = BTreeMap::new();
    for row in rows {
        // Here, a name with a FIDE number forms its own group. The names of a player are merged only when a table is written.
        let sum = sums.entry(name(row.keys)).or_default();
        for (sum, more) in [(&mut sum.0, &row.all), (&mut sum.1, &row.hit)] {
            sum.games += more.games;
            sum.positions += more.positions;
            sum.results += more.results;
            sum.half_points += more.half_points;
            sum.wins += more.wins;
        }
    }
    sums
}

fn agree(query: &str, path: &Path, groupings: &str) {
    let number = |line: &Value| line["game"].as_u64().unwrap();
    let games: BTreeMap<u64, Game> =
        lines("terminal", path).iter().map(|line| (number(line), Game::new(line))).collect();
    let hits: BTreeSet<(u64, i64)> =
        lines(query, path).iter().map(|line| (number(line), line["ply"].as_i64().unwrap())).collect();
    assert!(games.len() >= 1000 && hits.len() >= 500, "{} games, {} hits", games.len(), hits.len());
    let counts = counted(query, groupings, file(path, 1 << 20), 2, None);
    for grouping in groupings.split(',') {
        let (mut all, mut hit) = (BTreeMap::<String, Group>::new(), BTreeMap::<String, Group>::new());
        let of_positions = ["ply", "move"].iter().any(|by| grouping.contains(by));
        for (&number, game) in &games {
            let of_game = game.cells(grouping, 0);
            for ply in 0..=game.plies {
                let cells = if of_positions { game.cells(grouping, ply) } else { of_game.clone() };
                for cell in cells {
                    if hits.contains(&(number, ply)) {
                        hit.entry(cell.clone()).or_default().entry(number).or_default().insert(ply);
                    }
                    all.entry(cell).or_default().entry(number).or_default().insert(ply);
                }
            }
        }
        let tallies = |(cell, group): (&String, &Group)| {
            let mut parts = grouping.split('*').zip(cell.split(" * "));
            let player = parts.find(|(by, _)| *by == "player").map(|(_, player)| player);
            let hit = tally(hit.get(cell), &games, player);
            (cell.clone(), (tally(Some(group), &games, player), hit))
        };
        let second: BTreeMap<String, (Tally, Tally)> = all.iter().map(tallies).collect();
        let found = spelt(&counts, grouping);
        assert!(found == second, "{query} by {grouping}:\n{found:?}\n{second:?}");
        let groups_hit = found.values().filter(|(_, hit)| hit.games > 0).count();
        println!("{}: {grouping}: {} groups, {groups_hit} hit", path.display(), found.len());
    }
}

fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("games/sample.pgn")
}

#[test]
fn the_sample_is_counted_a_second_time() {
    agree("shift flip flipcolor {Nd4 kf3}", &sample(), GROUPINGS);
}

#[test(part = 0)]
fn master_games_are_counted_a_second_time() {
    let corpus = corpus();
    agree("shift flip flipcolor {Nd4 kf3}", &corpus.join("otb.pgn"), GROUPINGS);
}

/// Recomputes the values at hits from the query's output lines, and the hits of each copy (transformed pattern) from the output
/// lines of a search for that copy alone.
#[test(part = 2)]
fn values_and_copies_are_counted_a_second_time() {
    let path = sample();
    let query = "flip {Nc3 | nc6}";
    let counts = counted(query, "value,value*result,copy,copy*result", file(&path, 1 << 20), 2, None);
    let by = |grouping: &str| -> BTreeMap<String, (u64, u64)> {
        let rows = spelt(&counts, grouping).into_iter();
        rows.map(|(name, (_, hit))| (name, (hit.games, hit.positions))).collect()
    };
    let mut values = BTreeMap::<String, Group>::new();
    let add = |groups: &mut BTreeMap<String, Group>, name: &str, line: &Value| {
        let result = line["tags"]["Result"].as_str().unwrap();
        let (game, ply) = (line["game"].as_u64().unwrap(), line["ply"].as_i64().unwrap());
        for name in [name.to_owned(), format!("{name} * {result}")] {
            groups.entry(name).or_default().entry(game).or_default().insert(ply);
        }
    };
    for line in lines(query, &path) {
        add(&mut values, &line["squares"].as_array().unwrap().len().to_string(), &line);
    }
    let mut copies = BTreeMap::<String, Group>::new();
    let texts = scan(query).copies();
    assert_eq!(texts.len(), 8);
    for (number, text) in (1..).zip(&texts) {
        lines(text, &path).iter().for_each(|line| add(&mut copies, &i32::to_string(&number), line));
    }
    for (groups, name) in [(values, "value"), (copies, "copy")] {
        let positions = |group: &Group| group.values().map(|plies| plies.len() as u64).sum();
        let second =
            groups.iter().map(|(name, group)| (name.clone(), (group.len() as u64, positions(group))));
        let found: BTreeMap<_, _> = by(name).into_iter().chain(by(&format!("{name}*result"))).collect();
        assert_eq!(found, second.collect());
        assert!(found.len() > 8, "{found:?}");
    }
}

/// The counts must not depend on the division into blocks (groups of games), the number of threads, or the order in which blocks
/// are added.
#[test]
fn counts_add_up_in_any_order() {
    let path = sample();
    let query = "flip flipcolor {Nd4 kf3}";
    let of = |chunk_bytes, threads| {
        counted(query, &format!("{GROUPINGS},value,copy,copy*year"), file(&path, chunk_bytes), threads, None)
    };
    let whole = of(1 << 20, 1);
    assert!(whole.total().hit.games > 10);
    for (chunk_bytes, threads) in [(1 << 12, 1), (1 << 14, 2), (100_000, 3)] {
        assert!(of(chunk_bytes, threads) == whole, "chunks of {chunk_bytes} bytes, {threads} threads");
    }
    let parts: Vec<Counts> = ["Open", "?", "M\u{fc}, \u{7}"]
        .iter()
        .map(|event| counted(query, "year,player,ply:2*result", super::pgn(1), 1, Some(event)))
        .collect();
    let sum = |order: [usize; 3]| {
        let mut sum = parts[0].stats().none();
        order.iter().for_each(|&part| sum.add(parts[part].clone()).unwrap());
        sum
    };
    let all = counted(query, "year,player,ply:2*result", super::pgn(1), 1, None);
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
        assert_eq!(sum(order), all);
    }
    let nested = {
        let mut tail = parts[1].clone();
        tail.add(parts[2].clone()).unwrap();
        let mut sum = parts[0].clone();
        sum.add(tail).unwrap();
        sum
    };
    assert_eq!(nested, all);
}

/// Adds counts to a sum, which may still be empty.
fn add(sum: &mut Option<ManyCounts>, more: ManyCounts) {
    match sum {
        Some(sum) => sum.add(more).unwrap(),
        None => *sum = Some(more),
    }
}

/// If the hits of several queries are counted in one search, each query must have the same counts as alone.
#[test]
fn queries_over_the_same_games_share_what_is_theirs() {
    let engines = ["Nd4", "stalemate", "flipcolor {Bh7 kg8 btm check}", "true"].map(scan);
    let stats = Stats::new(Grouping::list("year,player,result,ply:10,year*result,move:9*ply:7").unwrap());
    let names = Names::default();
    let mut together = None;
    let mut alone = vec![None; engines.len()];
    let blocks = pgn_blocks(&std::fs::read_to_string(sample()).unwrap());
    for block in &blocks {
        let games: Vec<bool> = block.games().map(|game| game.number() % 3 != 0).collect();
        let answers = engines.each_ref().map(|scan| scan.engine().answer(block, Wants::HITS).unwrap());
        for (counts, answers) in alone.iter_mut().zip(&answers) {
            let found = Found { games: Some(&games), ..Found::new(block, answers, &names) };
            // Removes hits in the same way as the selection of games does.
            let mut chosen = answers.clone();
            let out = block.games().filter(|game| !found.counts(game));
            out.for_each(|game| chosen.hits.clear(game.slots()));
            add(counts, stats.count_many(&[Found { answers: &chosen, ..found }]));
        }
        let found = answers
            .each_ref()
            .map(|answers| Found { games: Some(&games), ..Found::new(block, answers, &names) });
        add(&mut together, stats.count_many(&found));
    }
    let alone: Vec<Counts> = alone.into_iter().flatten().flat_map(ManyCounts::into_counts).collect();
    assert!(!blocks.is_empty() && alone[3].total().hit.games > 600);
    assert!(together.unwrap().into_counts() == alone);
}

#[test]
fn too_many_groups_are_an_error() {
    let counts = |groups_max| {
        let stats = Stats::new(Grouping::list("result,ply:1").unwrap()).groups_max(groups_max);
        let block = &pgn_blocks("1. e4 e5 2. Nf3 1-0")[0];
        let hits = Hits { bits: vec![0; block.segments()], values: Values::None, main_lines: false };
        let (answers, names) = (Answers::new(hits, None), Names::default());
        let more = stats.count(&Found::new(block, &answers, &names));
        stats.none().add(more)
    };
    assert_eq!(counts(4), Ok(()));
    let error = counts(3).unwrap_err();
    assert_eq!((error.grouping.as_str(), error.max), ("ply:1", 3));
    assert!(error.to_string().contains("more than 3 groups by `ply:1`; choose a coarser"), "{error}");
}
