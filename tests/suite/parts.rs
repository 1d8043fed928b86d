//! Tests parts, the partial results of a search: a database is split into pieces, and the parts of the pieces are merged,
//! written, read back and passed to the outputs. The output must equal that of a single run.
//!
//! The test fails if a collector of [`Collectors`] has no example here.

use std::fs;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use orbit_database::{BlockStream, StreamOptions};
use orbit_engine::PreparedQuery;
use orbit_plan::PlanOptions;
use orbit_search::choice::{Choice, Order, Player, SortKey};
use orbit_search::executor::{EngineChoice, EngineOptions, Executor};
use orbit_search::report::{Columns, Extras, Format, Layout, PgnWriter, Report, Rows, Stitcher, page::page};
use orbit_search::run::{
    About, Collector as _, Collectors, Comment, CopiesCollector, FindingsCollector, GamesCollector,
    GamesTaken, ListReach, ListsCollector, MessagesCollector, OrderedCollector, Part as _, PartError, Parts,
    ProblemsCollector, Run, SpellingsCollector, StatisticsCollector, TotalsCollector, WholeTextsCollector,
};
use orbit_search::stats::{Grouping, Stats};

use crate::common::{harness, length};

/// Four queries: with transforms and many copies (transformed patterns), with sets as values, with numbers as values, and with
/// few hits.
const COPIES: &str = "shift flip flipcolor {Nd4 kf3}";
const SETS: &str = "k attackedby N";
const NUMBERS: &str = "#(Q attackedby q)";
const RARE: &str = "mate flip {Rd8 kg8}";
/// Two queries whose hits consist of moves. The first has a plan (code for the fast engines), and the second has state (a
/// variable).
const MOVES: &str = "flip path N-- --";
const STATE: &str = "if initial xx=0 xx+=1 xx>3 line --> check --> not check";

/// An example for a collector, which computes a result of a search from the hits.
struct Example {
    queries: Vec<&'static str>,
    condition: Option<&'static str>,
    /// The player from whose side the queries are evaluated.
    player: Option<&'static str>,
    first: bool,
    collectors: Box<dyn Fn(&Executor) -> Collectors>,
    /// The number of games to skip, and the maximum number of games to list.
    limits: (u64, Option<u64>),
    /// True if columns of the output are only as wide as each block's games need. The output then depends on the division into
    /// blocks (groups of games).
    is_fitted: bool,
}

impl Example {
    fn new(query: &'static str, collectors: impl Fn(&Executor) -> Collectors + 'static) -> Example {
        Example {
            queries: vec![query],
            condition: None,
            player: None,
            first: false,
            collectors: Box::new(collectors),
            limits: (0, None),
            is_fitted: false,
        }
    }
}

fn none() -> Collectors {
    Collectors::default()
}

const LIMITS: [(u64, Option<u64>); 5] = [(0, None), (0, Some(1)), (3, Some(10)), (40, Some(2)), (7, None)];

/// Returns all formats in which the tests list hits.
fn formats(layout: Layout) -> Vec<Format> {
    let extras = Extras { spans: true, texts: true, ..Extras::default() };
    let mut formats = vec![
        Format::Text { runs_max: 3, layout, moves_max: Some(3), styled: false, cut: true },
        Format::Values { all: true },
        Format::Values { all: false },
        Format::Plain,
        Format::Nothing,
    ];
    for rows in [Rows::Hits, Rows::Games] {
        formats.extend([
            Format::JsonLines { rows, columns: Columns::with_object_defaults(extras) },
            Format::Csv { rows, columns: Columns::with_table_defaults(extras) },
            Format::Epd(rows),
            Format::Fen(rows),
        ]);
    }
    formats
}

/// Returns the examples for a collector.
fn examples(name: &str) -> Vec<Example> {
    match name {
        "totals" => [COPIES, RARE, SETS]
            .into_iter()
            .flat_map(|query| {
                let totals =
                    move || Example::new(query, |_| Collectors { totals: Some(TotalsCollector), ..none() });
                let both = vec![query, "check"];
                [
                    totals(),
                    Example { condition: Some("elo>=2500"), ..totals() },
                    Example { queries: both, ..totals() },
                ]
            })
            .collect(),
        "problems" => {
            vec![Example::new(RARE, |_| Collectors { problems: Some(ProblemsCollector), ..none() })]
        }
        "copies" => [COPIES, RARE, SETS]
            .map(|query| Example::new(query, |_| Collectors { copies: Some(CopiesCollector), ..none() }))
            .into(),
        "lists" => lists(),
        "games" => games(),
        "ordered" => ordered(),
        "statistics" => statistics(),
        "messages" => vec![Example::new("check message(ply)", |_| Collectors {
            messages: Some(MessagesCollector),
            ..none()
        })],
        "spellings" => vec![Example {
            player: Some("Kasparov"),
            ..Example::new("check", |_| Collectors {
                spellings: Some(SpellingsCollector::new("Kasparov".parse().unwrap())),
                ..none()
            })
        }],
        "whole_texts" => vec![Example {
            condition: Some("white=Carlsen"),
            ..Example::new("check", |_| {
                let choice =
                    Choice { conditions: vec!["white=Carlsen".parse().unwrap()], ..Choice::default() };
                Collectors { whole_texts: WholeTextsCollector::new(&choice), ..none() }
            })
        }],
        "findings" => [COPIES, SETS, NUMBERS, RARE, MOVES, STATE]
            .map(|query| {
                Example::new(query, |scan| {
                    let findings = FindingsCollector::new(scan.filter(), scan.ty(), 5, 7);
                    let findings = findings.with_spans(scan.has_spans());
                    Collectors { findings: Some(findings), ..none() }
                })
            })
            .into(),
        _ => panic!("the collector `{name}` has no examples: add some"),
    }
}

fn lists() -> Vec<Example> {
    let example = |query, layout, limits: (u64, Option<u64>)| {
        let lists = move |_: &Executor| {
            let lists = ListsCollector::new(formats(layout), ListReach::new(limits.0, limits.1));
            Collectors { lists: Some(lists), ..none() }
        };
        Example { limits, is_fitted: layout == Layout::Fitted, ..Example::new(query, lists) }
    };
    let mut examples: Vec<Example> = LIMITS
        .into_iter()
        .flat_map(|limits| [COPIES, SETS, NUMBERS, MOVES].map(|query| example(query, Layout::Fixed, limits)))
        .collect();
    examples.extend(LIMITS.map(|limits| example(COPIES, Layout::Fitted, limits)));
    examples.push(example(STATE, Layout::Fixed, (0, None)));
    let some = example(SETS, Layout::Fixed, (1, Some(20)));
    examples.push(Example { first: true, condition: Some("result=1-0"), ..some });
    examples
}

fn games() -> Vec<Example> {
    let mut examples = Vec::new();
    for (skip, games_max) in LIMITS {
        for comment in [Comment::None, Comment::Copy, Comment::Text("here".into())] {
            let games = move |_: &Executor| {
                let games = GamesCollector::new(comment.clone(), ListReach::new(skip, games_max));
                Collectors { games: Some(games), ..none() }
            };
            examples.push(Example { limits: (skip, games_max), ..Example::new(COPIES, games) });
        }
    }
    examples
}

fn ordered() -> Vec<Example> {
    let keys = [SortKey::Value, SortKey::Elo, SortKey::Date];
    let sorted = keys.into_iter().flat_map(|key| [true, false].map(|reverse| Order::Sorted { key, reverse }));
    let orders = sorted.chain([Order::Sampled { seed: 0 }, Order::Sampled { seed: 3 }]);
    let mut examples = Vec::new();
    for order in orders {
        for (skip, games_max) in [(0, None), (2, Some(9)), (0, Some(1))] {
            let collectors = move |_: &Executor| {
                let held = games_max.map_or(usize::MAX, |max: u64| (max + skip) as usize);
                let ordered = OrderedCollector::new(order, held, formats(Layout::Fixed), Some(Comment::Copy));
                Collectors { ordered: Some(ordered), ..none() }
            };
            examples.push(Example { limits: (skip, games_max), ..Example::new(SETS, collectors) });
        }
    }
    for order in [Order::Sampled { seed: 1 }, Order::Sorted { key: SortKey::Length, reverse: false }] {
        let moves = move |_: &Executor| {
            let ordered = OrderedCollector::new(order, 7, formats(Layout::Fixed), Some(Comment::None));
            Collectors { ordered: Some(ordered), ..none() }
        };
        examples.push(Example { limits: (0, Some(7)), ..Example::new(MOVES, moves) });
    }
    examples
}

fn statistics() -> Vec<Example> {
    let example = |query, groupings: &'static str| {
        Example::new(query, move |_| {
            let stats = Stats::new(Grouping::list(groupings).unwrap()).with_sides();
            Collectors { statistics: Some(StatisticsCollector::new(stats)), ..none() }
        })
    };
    let many = "year,eco:1,result,ply:10,player,year*result";
    vec![
        example(
            COPIES,
            "year,decade,eco,result,elo:100,ply:10,move:4,player,tag:Round,year*result,move:9*ply:7",
        ),
        example(COPIES, "copy,copy*year,result"),
        example(SETS, "value,value*result"),
        example(NUMBERS, "value:2,player"),
        example(MOVES, "length,san,san*result"),
        example(STATE, "length,year*san"),
        example(COPIES, "next,previous:played,next:2*year,player*next"),
        example(MOVES, "next:3:played,previous*result"),
        Example { queries: vec![COPIES, "check", RARE, "Nf3"], ..example(COPIES, many) },
        Example { queries: vec!["check", "Nf3"], condition: Some("elo>=2500"), ..example(COPIES, many) },
    ]
}

/// Passes parts (partial results) to the outputs one after the other, and returns the output.
fn taken(
    example: &Example,
    collectors: &Collectors,
    sources: &[String],
    parts: &[Parts],
) -> Result<Vec<u8>, PartError> {
    let (skip, games_max) = example.limits;
    let mut out = Vec::new();
    let mut sum = Parts::default();
    for part in parts {
        sum.merge(part.clone())?;
    }
    out.extend(format!("{:?}\n{:?}\n{:?}\n", sum.totals, sum.problems, sum.copies).into_bytes());
    out.extend(format!("{:?}\n{:?}\n", sum.spellings, sum.whole_texts).into_bytes());
    if collectors.lists.is_some() {
        let lists = parts.iter().map(|part| part.lists.iter().flatten().map(|list| &list.report).collect());
        write_lists(lists.collect(), formats(Layout::Fixed).len(), Some(sources), example.limits, &mut out);
    }
    let games = parts.iter().filter_map(|part| part.games.as_ref()).flat_map(|part| &part.games);
    write_games(games.map(|game| game.text()), example.limits, &mut out);
    if collectors.ordered.is_some() {
        let held = sum.ordered.unwrap_or_default().list();
        let reports = held.iter().map(|held| held.reports.iter().collect());
        write_lists(reports.collect(), formats(Layout::Fixed).len(), None, (skip, games_max), &mut out);
        let texts = held.iter().filter_map(|held| held.text.as_ref()).map(|text| text.text());
        write_games(texts, (skip, games_max), &mut out);
    }
    if let Some(collector) = &collectors.statistics {
        let scan = scan(&example.queries);
        for counts in collector.counts(sum.statistics.unwrap_or_default(), scan.filters()) {
            counts.write_text(20, &[], true, &mut out).unwrap();
            counts.write_csv(&[], &mut out).unwrap();
            counts.write_json(&[], &mut out).unwrap();
        }
    }
    if let Some(collector) = &collectors.findings {
        let about = About { query: example.queries[0], engine: "cpu", sources, ..About::default() };
        let findings = collector.findings(sum.findings.unwrap_or_default(), &about);
        out.extend(serde_json::to_vec(&findings).unwrap());
        out.extend(page(&findings).into_bytes());
    }
    Ok(out)
}

/// Writes the hit lists in all formats. Each part has one report per format.
fn write_lists(
    parts: Vec<Vec<&Report>>,
    formats: usize,
    sources: Option<&[String]>,
    (skip, games_max): (u64, Option<u64>),
    out: &mut Vec<u8>,
) {
    for format in 0..formats {
        let mut list = Stitcher::new(sources.map(<[String]>::to_vec), games_max).skipping(skip);
        for part in parts.iter().filter(|part| !part.is_empty()) {
            let _ = list.write(part[format], out).unwrap();
        }
        out.extend(format!("{:?}\n", list.hit_totals()).into_bytes());
    }
}

fn write_games<'a>(
    texts: impl Iterator<Item = &'a [u8]>,
    (skip, games_max): (u64, Option<u64>),
    out: &mut Vec<u8>,
) {
    let (mut wanted, mut writer) = (GamesTaken::new(skip, games_max), PgnWriter::new(&mut *out));
    for text in texts.filter(|_| wanted.takes_next()) {
        assert!(!text.is_empty(), "the text of a game that is written was read");
        writer.write(text).unwrap();
    }
    writer.finish().unwrap();
}

/// Merges adjacent parts (partial results) in random order until only one is left. Some merged parts are written and read back.
fn merged(mut parts: Vec<Parts>, random: &mut fastrand::Rng) -> Parts {
    while parts.len() > 1 {
        let at = random.usize(..parts.len() - 1);
        let next = parts.remove(at + 1);
        parts[at].merge(next).unwrap();
        if random.usize(..3) == 0 {
            parts[at] = reread(&parts[at]);
        }
    }
    reread(&parts.remove(0))
}

fn reread(part: &Parts) -> Parts {
    let bytes = part.to_bytes();
    let again = Parts::from_bytes(&bytes).unwrap();
    assert!(again == *part && again.to_bytes() == bytes, "a part is written and read");
    again
}

/// Writes three files and returns their paths: real games with tags, invented games, and a position list. Some of the games are
/// broken.
fn files(folder: &Path) -> Vec<PathBuf> {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("games/sample.pgn");
    let text = fs::read_to_string(sample).unwrap();
    let games: Vec<&str> = text.split_inclusive("\n\n[Event ").take(160).collect();
    let broken = "[White \"M\\\\\u{fc}ller\"]\n\n1. Nf3 Nf6 2. Nd4 e5 3. Ke2 (3. e4) xyz *\n\n1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0\n\n\
                  [FEN \"8/8/8/8/3N4/5k2/8/7K w - - 0 50\"]\n\n50. Nb3 Ke4 *\n\n";
    let lists = "8/8/8/8/3N4/5k2/8/7K w - - hmvc 3; fmvn 40;\n8/8/8/8/8/5k2/8/7K b - -\n4k3/8/3N4/8/8/8/8/4K3 b - -\n";
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let games = games.concat();
    let games = games.trim_end_matches("[Event ");
    vec![write("a.pgn", games), write("b.pgn", &broken.repeat(9)), write("c.epd", &lists.repeat(20))]
}

fn open(files: &[PathBuf], chunk_bytes: usize) -> BlockStream {
    let mut options = StreamOptions::default();
    options.pgn.chunk_bytes = chunk_bytes;
    BlockStream::open(files, options).unwrap()
}

/// Returns the parts (partial results) of all blocks, each computed as if its block were the only one.
fn parts(run: &Run<'_, Collectors>, collectors: &Collectors, database: BlockStream) -> Vec<Parts> {
    let (mut texts, names) = (database.texts(), run.names(database.source_names()));
    let mut parts = Vec::new();
    let summary = run.for_each_part(database, &names, |block, part| {
        let mut whole = Parts::default();
        collectors.take(&mut whole, part, &block, &mut texts).unwrap();
        parts.push(whole);
        ControlFlow::Continue(())
    });
    assert!(summary.unwrap().finished);
    parts
}

fn scan(queries: &[&str]) -> Executor {
    let prepared = |text: &&str| {
        PreparedQuery::new(orbit_query::parse(text).unwrap().query, PlanOptions::default()).unwrap()
    };
    let mut options = EngineOptions::default();
    options.engine = EngineChoice::Auto;
    Executor::new(queries.iter().map(prepared).collect(), &options).unwrap().threads(2)
}

fn check(name: &str, index: usize, example: &Example, files: &[PathBuf]) {
    let scan = scan(&example.queries);
    let collectors = (example.collectors)(&scan);
    let conditions = example.condition.iter().map(|text| text.parse().unwrap()).collect();
    let player = example.player.map(|name| Player::new(name.parse().unwrap()));
    let choice = Choice { conditions, player, first: example.first, ..Choice::default() };
    let run = Run::new(&scan, &choice, &collectors);
    let database = open(files, 4_000);
    run.splits(&database).unwrap();
    let sources = database.source_names();
    let blocks = parts(&run, &collectors, database);
    assert!(blocks.len() > 20, "{} blocks", blocks.len());
    let taken = |parts: &[Parts]| taken(example, &collectors, &sources, parts).unwrap();
    let one = taken(&blocks);
    let (collected, _) = run.collect(open(files, 4_000)).unwrap();
    let is_same = |other: Vec<u8>, how: &str| {
        assert!(other == one, "{name} {index}: {how} differs from one run");
    };
    is_same(taken(&[collected]), "all that was collected at once");
    if !example.is_fitted {
        // The blocks are as large as possible, so almost nothing is merged.
        is_same(taken(&parts(&run, &collectors, open(files, 1 << 24))), "a run over large blocks");
    }
    for seed in 0..12 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut pieces: Vec<Vec<Parts>> = vec![Vec::new()];
        for block in &blocks {
            if random.usize(..[2, 4, 12, 1_000][seed as usize % 4]) == 0 {
                pieces.push(Vec::new());
            }
            pieces.last_mut().unwrap().push(block.clone());
        }
        // A piece of the database may have no blocks at all.
        let pieces = pieces.into_iter().map(|mut piece| {
            piece.insert(random.usize(..=piece.len()), Parts::default());
            merged(piece, &mut random)
        });
        let pieces: Vec<Parts> = pieces.collect();
        is_same(taken(&pieces), "a run in pieces");
    }
    let bytes = blocks[0].to_bytes();
    (0..bytes.len())
        .step_by(1 + bytes.len() / 100)
        .for_each(|end| assert!(Parts::from_bytes(&bytes[..end]).is_err(), "{name}: cut at {end}"));
}

/// Tests every collector, with the database split in many ways.
#[table(in_parts)]
fn parts_of_any_split_make_one_run() -> Vec<harness::Row> {
    let of_collector = |name: &&'static str| {
        let (name, all) = (*name, examples(name).len());
        assert!(all > 0, "{name} has no example");
        let row = move |index| {
            harness::Row::new(format!("{name}::{index}"), move || {
                let folder = tempfile::tempdir().unwrap();
                check(name, index, &examples(name)[index], &files(folder.path()));
            })
        };
        (0..all).map(row)
    };
    Collectors::NAMES.iter().flat_map(of_collector).collect()
}

/// The number of corrupted parts that are tested for each collector.
const FORGERIES: usize = 2_000;

/// Extreme numbers in postcard's encoding, with seven bits per byte: 2^64 - 1, 2^63, 2^44, 2^36, 2^32 - 1, 0 and 1.
const ENDS: [&[u8]; 7] = [
    &[255, 255, 255, 255, 255, 255, 255, 255, 255, 1],
    &[128, 128, 128, 128, 128, 128, 128, 128, 128, 1],
    &[128, 128, 128, 128, 128, 128, 4],
    &[128, 128, 128, 128, 128, 2],
    &[255, 255, 255, 255, 15],
    &[0],
    &[1],
];

/// Returns the bytes of a part (the partial results of a search) after a few random changes.
fn forged(whole: &[u8], random: &mut fastrand::Rng) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    for _ in 0..=random.usize(..3) {
        let at = random.usize(..bytes.len().max(1)).min(bytes.len().saturating_sub(1));
        let end = (at + 1 + random.usize(..12)).min(bytes.len());
        match random.usize(..8) {
            _ if bytes.is_empty() => {}
            0 => bytes[at] ^= 1 << random.u32(..8),
            1 => bytes[at] = random.u8(..),
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(at..end)),
            4 => {
                let from = random.usize(..whole.len());
                let piece = whole[from..(from + end - at).min(whole.len())].iter().copied();
                bytes.splice(at..at, piece);
            }
            // Replaces a number by another one.
            _ => {
                let last =
                    bytes[at..].iter().position(|byte| byte & 0x80 == 0).map_or(end, |last| at + last + 1);
                let number = ENDS[random.usize(..ENDS.len())];
                bytes.splice(at..last, number.iter().copied());
            }
        }
    }
    bytes
}

/// Corrupted bytes must be rejected, or form a part (a partial result) that can be passed to the outputs.
#[test]
fn forged_parts_are_refused_or_taken() {
    let folder = tempfile::tempdir().unwrap();
    let files = files(folder.path());
    for name in Collectors::NAMES {
        let (mut refused, mut of_others, mut taken_whole) = (0, 0, 0);
        let examples = examples(name);
        for (index, example) in examples.iter().enumerate() {
            let scan = scan(&example.queries);
            let collectors = (example.collectors)(&scan);
            let player = example.player.map(|name| Player::new(name.parse().unwrap()));
            let choice = Choice { player, ..Choice::default() };
            let run = Run::new(&scan, &choice, &collectors);
            let database = open(&files, 4_000);
            let sources = database.source_names();
            let mut blocks = parts(&run, &collectors, database).into_iter();
            let mut whole = blocks.next().unwrap();
            let next = blocks.next_back().unwrap();
            blocks.step_by(12).for_each(|block| whole.merge(block).unwrap());
            let bytes = whole.to_bytes();
            assert!(collectors.could_make(&reread(&whole)), "{name} {index}");
            for trial in length::trials(FORGERIES, FORGERIES / 10).skip(index).step_by(examples.len()) {
                let bytes = forged(&bytes, &mut fastrand::Rng::with_seed(trial as u64));
                let take = || match Parts::from_bytes(&bytes) {
                    Err(_) => refused += 1,
                    Ok(part) if !collectors.could_make(&part) => of_others += 1,
                    Ok(part) => {
                        if taken(example, &collectors, &sources, &[part, next.clone()]).is_ok() {
                            taken_whole += 1;
                        }
                    }
                };
                let outcome = catch_unwind(AssertUnwindSafe(take));
                assert!(outcome.is_ok(), "{name}, example {index}: the part of trial {trial} panics");
            }
        }
        eprintln!("{name}: {refused} refused, {of_others} of other searches, {taken_whole} taken");
        assert!(refused > 0 && taken_whole > 0, "{name}");
    }
}

/// Parts (partial results) of another run must be rejected, not merged.
#[test]
fn parts_of_other_runs_do_not_merge() {
    let folder = tempfile::tempdir().unwrap();
    let files = files(folder.path());
    let part = |example: &Example| {
        let scan = scan(&example.queries);
        let collectors = (example.collectors)(&scan);
        Run::new(&scan, &Choice::default(), &collectors).collect(open(&files, 1 << 20)).unwrap().0
    };
    for name in ["lists", "games", "ordered", "statistics"] {
        let examples = examples(name);
        // The two runs differ in the limit, the query or the groupings.
        let (mut ours, theirs) = (part(&examples[3]), part(examples.last().unwrap()));
        assert!(ours.merge(theirs).is_err(), "{name}");
    }
}
