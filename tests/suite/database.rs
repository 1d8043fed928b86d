//! Tests databases: searches in memory, in files and from the command line must have the same results. Also tests progress,
//! cancellation and threads, compares hits with shakmaty, and reads games by number.

mod places;
mod request;
mod written;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use orbit_chess::{
    CancelToken, Database, DatabaseError, DatabaseOptions, EngineChoice, Hit, Progress, Query, Residence,
    Scan,
};
use orbit_engine::Answer;
#[cfg(feature = "gpu")]
use orbit_engine::gpu::GpuLimits;
use orbit_reel::{EncodedBlock, ReelSource, ReelWriter, Totals};
use orbit_search::choice::{Order, SortKey};
#[cfg(feature = "gpu")]
use orbit_search::executor::{EngineOptions, Executor, positions_for_card};
use serde_json::Value;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Position as _, fen::Fen, san::SanPlus};

use crate::common::{blocks_of, length::stride};
#[cfg(feature = "gpu")]
use crate::runners::{device_options, open_device};

pub const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/games/sample.pgn");

/// Queries of all kinds: conditions, sets, numbers, queries with transforms or with count ranges, and queries about tags.
const QUERIES: &[&str] = &[
    "shift flip flipcolor {Nd4 kf3}",
    "flipcolor {Bh7 kg8 btm}",
    "passedpawns",
    "Q attackedby q",
    "power A",
    "flip 0 2 {Ra8 kg8}",
    "check terminal",
    "terminal",
];

/// Returns options with chunks so small that each file has many blocks (groups of games).
fn options<'a>() -> DatabaseOptions<'a> {
    let mut reading = orbit_pgn::Options::default();
    reading.chunk_bytes = 20_000;
    DatabaseOptions::new().reading(reading).places(None)
}

fn resident(paths: &[PathBuf]) -> Database {
    let database = options().open(paths).unwrap();
    assert!(
        matches!(database.residence(), Residence::Resident { bytes } if bytes > 1000),
        "{}",
        database.residence()
    );
    database
}

fn streamed(paths: &[PathBuf]) -> Database {
    let database = options().resident_bytes_max(100_000).open(paths).unwrap();
    assert_eq!(database.residence(), Residence::Streamed { bytes_max: 100_000 });
    database
}

fn sample() -> Vec<PathBuf> {
    vec![SAMPLE.into()]
}

/// Writes three files and returns their paths: a reel (packed games) of the sample, a PGN file with truncated and skipped games,
/// and a position list.
fn mixed(folder: &Path) -> Vec<PathBuf> {
    let reel = folder.join("sample.reel");
    let mut writer = ReelWriter::create(&reel).unwrap();
    for block in blocks_of(Path::new(SAMPLE)) {
        writer.append(&EncodedBlock::new(&block), &Totals::from_block(&block)).unwrap();
    }
    writer.finish(&[ReelSource { name: "sample.pgn".into(), games: 1, ..ReelSource::default() }]).unwrap();
    let games =
        "1. e4 e5 2. Nf3 Ke4 3. Bb5 *\n\n[Variant \"Atomic\"]\n\n1. e4 *\n\n[White \"A\"]\n\n1. d4 d5 *\n";
    std::fs::write(folder.join("a.pgn"), games).unwrap();
    std::fs::write(folder.join("b.epd"), "4k3/8/8/8/8/8/8/4K2R w K - hmvc 7; id \"one\";\n").unwrap();
    vec![folder.join("a.pgn"), reel, folder.join("b.epd"), SAMPLE.into()]
}

/// Returns a string with everything that a hit contains.
fn told(hit: &Hit) -> String {
    let copy = hit.copy().map(|copy| (copy.index + 1, copy.text.to_owned(), copy.transform.to_owned()));
    let game = hit.game();
    let place = (game.number(), game.source(), game.number_in_source(), hit.node(), hit.ply(), hit.label());
    let (before, after) = (hit.san_before(), hit.san_after());
    format!("{place:?} {} {before:?} {after:?} {:?} {copy:?} {}", hit.fen(), hit.value(), hit.copies_len())
}

fn all(database: &Database, query: &str) -> Vec<String> {
    let query = Query::parse(query).unwrap();
    database.scan(&query).hits().unwrap().iter().map(told).collect()
}

#[test]
fn held_and_streamed_databases_answer_alike() {
    let folder = tempfile::tempdir().unwrap();
    for paths in [sample(), mixed(folder.path())] {
        let databases = [resident(&paths), streamed(&paths), resident(&paths)];
        assert_eq!(databases[0].sources(), databases[1].sources());
        for query in stride(1, QUERIES.len()).of(QUERIES.iter()) {
            let expected = all(&databases[0], query);
            assert!(!expected.is_empty(), "{query}");
            // Each query runs a second time on the first database, and then on the other databases.
            databases.iter().for_each(|database| assert_eq!(all(database, query), expected, "{query}"));
        }
        let sums = |database: &Database| {
            let (part, summary) = database
                .scan(&Query::parse("true").unwrap())
                .collect(&orbit_search::run::TotalsCollector)
                .unwrap();
            assert!(summary.finished);
            // `count` does not read dates and ratings unless a query needs them.
            let totals = Totals { dates: None, elos: None, ..summary.totals };
            (part.queries, totals, summary.sources, summary.side_lines, summary.bytes)
        };
        assert_eq!(sums(&databases[0]), sums(&databases[1]));
        assert_eq!(databases[0].positions(), databases[1].positions());
    }
}

/// Returns the rows that the command prints. A row has, among others, the number of the game, its source, its number in the source,
/// the ply, the FEN, the value of the query, and the first matching copy.
fn rows_of_the_command(query: &str, paths: &[PathBuf]) -> Vec<Value> {
    let orbit = Command::new(env!("CARGO_BIN_EXE_orbit"))
        .args(["scan", "-q", "--format", "jsonl", query])
        .args(paths)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(orbit.status.success(), "{}", String::from_utf8_lossy(&orbit.stderr));
    String::from_utf8(orbit.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test(part = 1)]
fn the_command_answers_alike() {
    let folder = tempfile::tempdir().unwrap();
    let paths = mixed(folder.path());
    let database = resident(&paths);
    for query in QUERIES {
        let rows = rows_of_the_command(query, &paths);
        let hits = database.scan(&Query::parse(query).unwrap()).hits().unwrap();
        assert_eq!(rows.len(), hits.len(), "{query}");
        for (row, hit) in rows.iter().zip(&hits) {
            let game = hit.game();
            assert_eq!(row["game"], game.number());
            assert_eq!(row["source"], game.source());
            assert_eq!(row["number_in_source"], game.number_in_source());
            assert_eq!(row["ply"], hit.ply());
            assert_eq!(row["fen"], hit.fen());
            let san = hit.san_before();
            let named = san.as_ref().map(|san| format!("{} {san}", hit.label()));
            assert_eq!((row["move"].as_str(), row["san"].as_str()), (named.as_deref(), san.as_deref()));
            assert_eq!(row["next"].as_str(), hit.san_after().as_deref());
            match hit.value() {
                Answer::Set(squares) => {
                    let names: Vec<String> = squares.into_iter().map(|square| square.to_string()).collect();
                    assert_eq!(row["squares"], Value::from(names));
                }
                Answer::Num(value) => assert_eq!(row["value"], Value::from(value)),
                Answer::Bool(_) => assert_eq!(row["value"], Value::Null),
            }
            let copy = hit.copy();
            assert_eq!(row["copy"].as_u64(), copy.map(|copy| u64::from(copy.index) + 1), "{query}: {row}");
            assert_eq!(row["pattern"].as_str(), copy.map(|copy| copy.text), "{query}");
            assert_eq!(row["transform"].as_str(), copy.map(|copy| copy.transform), "{query}");
            assert_eq!(row["copies"], hit.copies_len(), "{query}");
        }
    }
}

#[test]
fn hits_are_what_shakmaty_plays() {
    let database = resident(&sample());
    let hits = database.scan(&Query::parse("true").unwrap()).hits().unwrap();
    assert_eq!(hits.len() as u64, database.positions());
    let (mut at, mut number) = (Chess::default(), 0);
    for hit in hits.iter().filter(|hit| hit.game().number() % 5 == 1) {
        let game = hit.game();
        if game.number() != number {
            (at, number) = (Chess::default(), game.number());
            if let Some(fen) = game.tag("FEN") {
                at = fen.parse::<Fen>().unwrap().into_position(CastlingMode::Chess960).unwrap();
            }
            assert_eq!((hit.ply(), hit.san_before()), (0, None));
            assert_eq!(hit.label(), "start");
        }
        assert_eq!(hit.fen(), Fen::from_position(&at, EnPassantMode::Legal).to_string());
        assert_eq!(hit.position().to_chess().unwrap(), at);
        let after = hit.san_after();
        assert_eq!(after.is_none(), hit.ply() == game.plies());
        if let Some(san) = after {
            let mv = san.parse::<SanPlus>().unwrap().san.to_move(&at).unwrap();
            let (from, before) = (at.clone(), san);
            at.play_unchecked(mv);
            assert_eq!(SanPlus::from_move(from, mv).to_string(), before);
            assert_eq!(game.san_before(hit.node() + 1).as_deref(), Some(&*before));
            assert_eq!(game.sans()[hit.ply() as usize], before);
        }
    }
}

#[test]
fn the_move_before_a_hit_is_the_one_after_the_hit_before() {
    let database = resident(&sample());
    let hits = database.scan(&Query::parse("true").unwrap()).limit(5000).hits().unwrap();
    for pair in hits.windows(2).filter(|pair| pair[1].ply() > 0) {
        assert_eq!(pair[1].san_before(), pair[0].san_after());
    }
}

#[test]
fn choices_count_as_they_do_for_the_command() {
    let database = resident(&sample());
    let query = Query::parse("check").unwrap();
    let every = database.scan(&query).hits().unwrap();
    let first = database.scan(&query).first_per_game().hits().unwrap();
    assert!(first.windows(2).all(|pair| pair[0].game().number() < pair[1].game().number()));
    let won = database.scan(&query).condition("result=1-0".parse().unwrap()).hits().unwrap();
    let expected: Vec<String> =
        every.iter().filter(|hit| hit.game().outcome().text() == "1-0").map(told).collect();
    assert!(!won.is_empty() && won.len() < every.len());
    assert_eq!(won.iter().map(told).collect::<Vec<_>>(), expected);
    for hits_max in [0, 1, 7] {
        let some = database.scan(&query).limit(hits_max).hits().unwrap();
        let told = |hits: &[Hit]| hits.iter().map(told).collect::<Vec<_>>();
        assert_eq!(told(&some), told(&every[..hits_max as usize]));
    }
    let order = Order::Sorted { key: SortKey::Date, reverse: false };
    let latest = database.scan(&query).first_per_game().order(order, 5).hits().unwrap();
    let dates: Vec<_> = latest.iter().map(|hit| hit.game().date()).collect();
    assert!(latest.len() == 5 && dates.windows(2).all(|pair| pair[0] >= pair[1]), "{dates:?}");
    let places = database.scan(&Query::parse("flip {Ra8 kg8}").unwrap()).places_only().hits().unwrap();
    assert!(places.iter().all(|hit| hit.copy().is_none() && hit.copies_len() == 0));
}

#[test]
fn all_copies_are_told_where_they_are_asked_for() {
    let database = resident(&sample());
    let query = Query::parse("flip Ra1").unwrap();
    let hits = database.scan(&query).all_copies().limit(50).hits().unwrap();
    assert!(hits.iter().any(|hit| hit.copies_len() > 1));
    for hit in hits {
        assert_eq!(hit.copies().count(), hit.copies_len());
        assert_eq!(hit.copies().next(), hit.copy());
    }
}

#[test]
fn counts_and_statistics_are_those_of_the_hits() {
    for database in [resident(&sample()), streamed(&sample())] {
        let (a, b) = (Query::parse("check").unwrap(), Query::parse("mate").unwrap());
        let counts = database.scan_all([&a, &b]).count().unwrap();
        assert_eq!(counts[0].positions, database.scan(&a).hits().unwrap().len() as u64);
        assert_eq!(counts[1].games, database.scan(&b).first_per_game().hits().unwrap().len() as u64);
        let stats = database.scan(&a).statistics("result,year").unwrap();
        assert_eq!(stats.total().hit.positions, counts[0].positions);
        let rows = stats.rows(&"result".parse().unwrap());
        assert_eq!(rows.iter().map(|row| row.hit.games).sum::<u64>(), counts[0].games);
    }
    let database = resident(&sample());
    assert!(matches!(database.scan_all([]).count(), Err(DatabaseError::NoQuery)));
    let nothing = database.scan(&Query::parse("true").unwrap()).statistics("nothing");
    assert!(matches!(nothing, Err(DatabaseError::Groupings(_))));
}

#[test]
fn iterators_and_folds_see_the_hits() {
    let query: Query = "check".parse().unwrap();
    assert_eq!(query.to_string(), "check");
    assert!("check {".parse::<Query>().is_err());
    for database in [resident(&sample()), streamed(&sample())] {
        let scan = || database.scan(&query);
        let expected: Vec<String> = scan().hits().unwrap().iter().map(told).collect();
        let found = |scan: Scan<'_>, count: usize| {
            thread::scope(|scope| {
                scan.iter(scope).take(count).map(|hit| told(&hit.unwrap())).collect::<Vec<_>>()
            })
        };
        assert_eq!(found(scan(), usize::MAX), expected);
        // Dropping the iterator must end the search. Otherwise, the scope would wait forever.
        assert_eq!(found(scan(), 3), expected[..3]);
        let fold = |scan: Scan<'_>| {
            scan.fold(
                Vec::new,
                |mut list, hit| {
                    list.push(told(&hit));
                    list
                },
                |list, more| [list, more].concat(),
            )
        };
        assert_eq!(fold(scan()).unwrap(), expected);
        assert_eq!(fold(scan().limit(1_000)).unwrap(), expected[..1_000]);
        let order = Order::Sampled { seed: 1 };
        let sampled: Vec<String> = scan().order(order, 9).hits().unwrap().iter().map(told).collect();
        assert_eq!(fold(scan().order(order, 9)).unwrap(), sampled);
        let won = || scan().condition("result=1-0".parse().unwrap()).first_per_game();
        assert_eq!(fold(won()).unwrap(), won().hits().unwrap().iter().map(told).collect::<Vec<_>>());
        let cancel = CancelToken::new();
        cancel.cancel();
        assert!(matches!(fold(scan().cancel_token(&cancel)), Err(DatabaseError::Cancelled)));
        let last = thread::scope(|scope| scan().cancel_token(&cancel).iter(scope).last());
        assert!(matches!(last, Some(Err(DatabaseError::Cancelled))));
    }
}

#[test]
fn progress_ends_at_the_total() {
    for database in [resident(&sample()), streamed(&sample())] {
        let mut seen: Vec<Progress> = Vec::new();
        let query = Query::parse("check").unwrap();
        database.scan(&query).progress(|progress| seen.push(progress)).count().unwrap();
        let last = *seen.last().unwrap();
        assert!(seen.len() > 3, "{}", seen.len());
        assert!(seen.windows(2).all(|pair| pair[0].bytes <= pair[1].bytes && pair[0].games <= pair[1].games));
        assert_eq!(last.bytes_total, Some(std::fs::metadata(SAMPLE).unwrap().len()));
        assert_eq!(Some(last.bytes), last.bytes_total);
        assert_eq!(last.positions, database.positions());
        let mut again = Progress::default();
        database.scan(&query).progress(|progress| again = progress).hits().unwrap();
        assert_eq!(again, last);
    }
    let mut opened = Progress::default();
    let database = options().progress(|progress| opened = progress).open([SAMPLE]).unwrap();
    assert_eq!((Some(opened.bytes), opened.positions), (opened.bytes_total, database.positions()));
}

#[test]
fn a_switch_stops_a_request() {
    for database in [resident(&sample()), streamed(&sample())] {
        let (cancel, query) = (CancelToken::new(), Query::parse("true").unwrap());
        let mut blocks = 0;
        let stopped = database.scan(&query).cancel_token(&cancel).threads(1).progress(|_| {
            blocks += 1;
            cancel.cancel();
        });
        assert!(matches!(stopped.count(), Err(DatabaseError::Cancelled)));
        assert_eq!(blocks, 1);
        assert!(cancel.is_cancelled());
        // The cancellation does not affect other requests.
        assert_eq!(database.scan(&query).count().unwrap()[0].positions, database.positions());
    }
    let cancel = CancelToken::new();
    let opened = options().cancel_token(&cancel).progress(|_| cancel.cancel()).open([SAMPLE]);
    assert!(matches!(opened, Err(DatabaseError::Cancelled)));
}

#[test(part = 2)]
fn threads_share_a_database() {
    for database in [resident(&sample()), streamed(&sample())] {
        let expected: Vec<Vec<String>> = QUERIES.iter().map(|query| all(&database, query)).collect();
        let checked = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (database, expected, checked) = (&database, &expected, &checked);
                scope.spawn(move || {
                    for index in 0..QUERIES.len() {
                        let index = (index + thread) % QUERIES.len();
                        assert_eq!(all(database, QUERIES[index]), expected[index]);
                        checked.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(checked.into_inner(), 4 * QUERIES.len());
    }
}

#[test(part = 3)]
fn engines_answer_alike_and_check_each_other() {
    let database = resident(&sample());
    for query in ["shift flip {Nd4 kf3}", "passedpawns"] {
        let query = Query::parse(query).unwrap();
        let told = |choice| -> Vec<String> {
            let verify = orbit_engine::verify::Sample::All;
            let hits = database.scan(&query).engine(choice).verify(verify).hits();
            hits.unwrap().iter().map(told).collect()
        };
        let expected = told(EngineChoice::Cpu);
        assert_eq!(told(EngineChoice::Auto), expected);
        assert_eq!(told(EngineChoice::Reference), expected);
        let name = |choice| database.scan(&query).engine(choice).engine_name().unwrap();
        // For so few positions, `auto` does not use a graphics card.
        assert_eq!(
            [EngineChoice::Auto, EngineChoice::Cpu, EngineChoice::Reference].map(name),
            ["cpu", "cpu", "reference"]
        );
    }
}

/// The program must look for a graphics card only if there are more positions than [`positions_for_card`]. It must look for one
/// only once, and ignore software adapters.
#[cfg(feature = "gpu")]
#[test]
fn positions_enough_are_worth_a_card() {
    let card = device_options(GpuLimits::default());
    let is_software = open_device(card.clone()).report().is_software();
    let again = |positions, is_repeated| {
        let mut options = EngineOptions::default();
        (options.gpu, options.positions) = (Some(card.clone()), positions);
        (options.held, options.is_repeated) = (Some(0..1), is_repeated);
        let parsed = orbit_query::parse("Ra1").unwrap();
        let scan = Executor::with_query(parsed, &options).unwrap();
        (scan.engine().info().name, format!("{:?}", options.card))
    };
    let of = |positions| again(positions, false);
    let few = positions_for_card(std::thread::available_parallelism().map_or(1, |threads| threads.get()));
    assert_eq!(of(few), ("cpu", "Card(unopened)".into()));
    let many = if is_software { ("cpu", "Card(unfit)".into()) } else { ("gpu", "Card(open)".into()) };
    assert_eq!(of(few + 1), many);
    // For games in memory, a tenth of the positions is enough to use the card, because several searches share the cost of starting
    // it.
    assert_eq!(again(few / 10, true), ("cpu", "Card(unopened)".into()));
    assert_eq!(again(few / 10 + 1, true), many);
}

/// The first request opens the graphics card, which then stays open for later requests.
#[cfg(feature = "gpu")]
#[test]
fn a_card_that_is_asked_for_answers_alike() {
    let card = device_options(GpuLimits::default());
    drop(open_device(card.clone()));
    let database = options().engine(EngineChoice::Gpu).gpu(Some(card)).open(sample()).unwrap();
    for text in ["shift flip {Nd4 kf3}", "passedpawns", "power A > 30"] {
        let query = Query::parse(text).unwrap();
        let found = database.scan(&query).hits().unwrap();
        let expected = database.scan(&query).engine(EngineChoice::Cpu).hits().unwrap();
        assert_eq!(database.scan(&query).engine_name().unwrap(), "gpu");
        assert!(!found.is_empty());
        assert_eq!(found.iter().map(told).collect::<Vec<_>>(), expected.iter().map(told).collect::<Vec<_>>());
    }
}

#[test]
fn queries_outlive_databases_and_hits_their_queries() {
    let query = Query::parse("shift {Nd4 kf3}").unwrap();
    let hits = {
        let database = resident(&sample());
        database.scan(&query).hits().unwrap()
    };
    let copies = query.copies().to_vec();
    drop(query);
    assert!(hits.iter().all(|hit| copies.contains(&hit.copy().unwrap().text.to_owned())));
    assert!(hits[0].game().tags().count() > 0);
}

#[test]
fn a_file_that_changes_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.pgn");
    std::fs::write(&path, "1. e4 e5 *\n".repeat(30_000)).unwrap();
    let paths = [path.clone()];
    let (held, streamed, query) = (resident(&paths), streamed(&paths), Query::parse("true").unwrap());
    std::fs::write(&path, "1. d4 *\n").unwrap();
    let found = streamed.scan(&query).count();
    assert!(matches!(&found, Err(DatabaseError::Changed { name }) if *name == path.display().to_string()));
    assert!(matches!(streamed.game(1), Err(DatabaseError::Changed { .. })));
    assert_eq!(held.scan(&query).count().unwrap()[0].games, 30_000);
}

#[test]
fn faults_say_what_to_do() {
    let fault = Query::parse("flip {R[a8-1] kh8}").unwrap_err();
    assert!(fault.to_string().contains('^') && fault.to_string().contains("rank"), "{fault}");
    assert!(fault.diagnostic().span.start > 0);
    let missing = Database::open(["no such file.pgn"]).map(|_| ()).unwrap_err();
    assert!(missing.to_string().contains("no such file.pgn"), "{missing}");
}

const TREE: &str = "[Event \"a\"]\n\n1. e4 e5 (1... c5 2. Nf3 (2. c3 d5 3. exd5) 2... d6) (1... e6) 2. Nf3 {here} Nc6 *\n\n\
    [Event \"b\"]\n[FEN \"4k3/8/8/8/8/8/4P3/4K3 b - - 11 42\"]\n\n42... Kd7 (42... Kd8 43. e4 (43. e3) 43... Kd7) 43. Kd2 *\n\n";

#[test]
fn hits_in_side_lines_tell_their_nodes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trees.pgn");
    std::fs::write(&path, TREE.repeat(400)).unwrap();
    let paths = [path];
    let plain = resident(&paths);
    let databases = [
        options().variations(true).open(&paths).unwrap(),
        options().variations(true).resident_bytes_max(10_000).open(&paths).unwrap(),
    ];
    let query = Query::parse("true").unwrap();
    let whole = query.with_variations();
    assert!(matches!(plain.scan(&whole).hits(), Err(DatabaseError::NoVariations)));
    let mut answers = Vec::new();
    for database in &databases {
        // If side lines are not searched, the results must be as if the database did not contain them.
        assert_eq!(all(database, "true"), all(&plain, "true"));
        let sums = |database: &Database| {
            let (_, summary) = database.scan(&query).collect(&orbit_search::run::TotalsCollector).unwrap();
            (summary.side_lines, summary.totals.positions, summary.totals.reasons)
        };
        assert_eq!(sums(database), sums(&plain));
        let hits = database.scan(&whole).hits().unwrap();
        assert_eq!(hits.len(), 400 * (12 + 7));
        for hit in &hits {
            let (game, node) = (hit.game(), hit.node());
            let main = hit.line().is_none();
            assert_eq!(main, node <= game.plies());
            assert!(!main || hit.ply() == node);
            let Some(parent) = game.parent(node) else {
                assert_eq!((node, hit.san_before()), (0, None));
                continue;
            };
            assert_eq!(hit.ply(), game.ply(parent) + 1);
            let before: Chess =
                game.fen(parent).parse::<Fen>().unwrap().into_position(CastlingMode::Chess960).unwrap();
            let san = hit.san_before().unwrap();
            let mv = san.parse::<SanPlus>().unwrap().san.to_move(&before).unwrap();
            assert_eq!(SanPlus::from_move(before.clone(), mv).to_string(), san);
            let after = before.play(mv).unwrap();
            assert_eq!(hit.fen(), Fen::from_position(&after, EnPassantMode::Legal).to_string());
            assert_eq!(hit.position(), game.position(node));
            if game.line(parent) == hit.line() {
                assert_eq!(game.san_after(parent).as_deref(), Some(&*san));
            }
        }
        let first: Vec<String> = hits[..12].iter().map(|hit| hit.san_before().unwrap_or_default()).collect();
        assert_eq!(first.join(" "), " e4 e5 Nf3 Nc6 c5 Nf3 d6 c3 d5 exd5 e6");
        answers.push(hits.iter().map(told).collect::<Vec<_>>());
    }
    assert_eq!(answers[0], answers[1]);
}
