//! Tests blocks (groups of games) that stay on a device from query to query.
//!
//! The results are compared with those of `cpu`. The number of bytes that an engine uploads shows which blocks were already on
//! the device.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use orbit_chess::{CancelToken, DatabaseOptions, EngineChoice, Query};
use orbit_engine::{
    BlockRequest, Engine, Wants,
    fallback::Fallback,
    gpu::{CardUse, GpuDevice, GpuLimits, GpuOptions, InjectedFault},
};
use orbit_reel::Block;
use orbit_search::serve::{Ask, Open, OpenDatabases, ServeOptions};

use crate::{
    common::{block_of_games, blocks_of},
    database::SAMPLE,
    gpu::{check, long_game, prepared, some_blocks},
    runners::{TIGHT, device_options, open_device},
};

/// Queries of several kinds: a condition, numbers, columns with a value for each game, stages (parts of a plan that run first),
/// and copies (transformed patterns).
const QUERIES: [&str; 6] = [
    "Ra1",
    "#(P | n)",
    "gamenumber > 3",
    "shift find {Nd4 Pe4}",
    "shift flip flipcolor {Nd4 Pe4}",
    "(find count Nf3) > 3",
];

/// Returns some blocks that are marked as held in memory, and their numbers.
fn held() -> (Vec<Block>, Range<u64>) {
    let blocks = some_blocks();
    let numbers = Block::hold_all(blocks.iter());
    assert_eq!(numbers.end - numbers.start, blocks.len() as u64);
    (blocks, numbers)
}

fn device_for(bytes: u64) -> Arc<GpuDevice> {
    open_device(options_for(bytes))
}

/// Returns device options with which at most `bytes` bytes of games may stay on the device.
fn options_for(bytes: u64) -> GpuOptions {
    let mut options = device_options(GpuLimits::default());
    options.resident_bytes_max = Some(bytes);
    options
}

/// Asserts that a new engine has the same results as `cpu` on blocks, which are passed in groups. Returns the device memory in
/// use afterwards.
fn checked(text: &str, device: &Arc<GpuDevice>, groups: &[&[&Block]]) -> CardUse {
    let (gpu, cpu) = (prepared(text).gpu(device).unwrap(), prepared(text).cpu().unwrap());
    for blocks in groups {
        let request = [Wants::VALUES | Wants::ALL_COPIES];
        let request = BlockRequest::all(&request);
        assert_eq!(gpu.scan(blocks, &request).unwrap(), cpu.scan(blocks, &request).unwrap(), "{text}");
    }
    gpu.info().card.expect("a card answers")
}

#[test]
fn the_second_query_uploads_nothing() {
    let (blocks, numbers) = held();
    let blocks: Vec<&Block> = blocks.iter().collect();
    for limits in [GpuLimits::default(), GpuLimits { memory_bytes: 16 << 20, ..TIGHT }] {
        let mut options = device_options(limits);
        options.resident_bytes_max = Some(8 << 20);
        let device = open_device(options);
        assert!(!device.holds(&numbers) && device.resident_bytes() == 0);
        let first = checked(QUERIES[0], &device, &[&blocks]);
        let moves: usize = blocks.iter().map(|block| block.slots()).sum();
        assert!(first.uploaded > 2 * moves as u64 && first.resident >= first.uploaded, "{first:?}");
        assert!(device.holds(&numbers));
        for text in QUERIES {
            let card = checked(text, &device, &[&blocks]);
            assert_eq!(card, CardUse { uploaded: 0, resident: first.resident }, "{text}");
        }
    }
}

/// An upload that needs more dispatches than one submission may contain must be computed by several submissions.
#[test]
fn several_submissions_compute_an_upload() {
    let blocks = blocks_of(SAMPLE.as_ref());
    let blocks: Vec<&Block> = blocks.iter().collect();
    let device = open_device(device_options(GpuLimits { workgroups: 1, ..GpuLimits::default() }));
    // With one workgroup, a dispatch computes 64 segments (of 32 positions). A submission contains at most four dispatches.
    assert!(blocks.iter().map(|block| block.segments()).sum::<usize>() > 2 * 4 * 64);
    for text in ["check", "shift flip flipcolor {Nd4 kf3}", "find <-- check"] {
        checked(text, &device, &[&blocks]);
    }
}

/// A clone of a block counts as a different block even if the original is held in memory, because the clone could be modified.
#[test]
fn copies_and_others_are_other_blocks() {
    let (blocks, _) = held();
    let device = device_for(8 << 20);
    let block = &blocks[6];
    let before = checked("Nf3", &device, &[&[block]]);
    let copy = block.clone();
    assert_eq!(copy.number_held(), None);
    let card = checked("Nf3", &device, &[&[&copy]]);
    assert!(card.uploaded > 0 && card.resident == before.resident, "{card:?}");
    let other = block_of_games([long_game(100), long_game(200)]);
    Block::hold_all([&other].into_iter());
    let card = checked("Nf3", &device, &[&[&other]]);
    assert!(card.uploaded > 0 && card.resident > before.resident, "{card:?}");
    assert_eq!(checked("Nf3", &device, &[&[block], &[&other]]).uploaded, 0);
}

/// Two databases are searched in turn on a device with room for only one of them. The blocks that have not been used for longest
/// must be removed first.
#[test]
fn what_was_not_used_for_longest_goes_first() {
    let (ours, of_ours) = held();
    let (theirs, of_theirs) = held();
    let each = |blocks: &'static [Block]| blocks.chunks(1);
    let (ours, theirs): (&'static [Block], &'static [Block]) = (ours.leak(), theirs.leak());
    let [ours, theirs] = [ours, theirs].map(|all| each(all).map(|block| vec![&block[0]]).collect::<Vec<_>>());
    let groups =
        |all: &'static Vec<Vec<&'static Block>>| all.iter().map(|group| &group[..]).collect::<Vec<_>>();
    let (ours, theirs) = (groups(Box::leak(Box::new(ours))), groups(Box::leak(Box::new(theirs))));
    let whole = checked("Ra1", &device_for(64 << 20), &ours).resident;
    let device = device_for(whole + whole / 8);
    for _ in 0..2 {
        for (groups, numbers, others) in [(&ours, &of_ours, &of_theirs), (&theirs, &of_theirs, &of_ours)] {
            let card = checked("Ra1", &device, groups);
            assert!(card.uploaded > 0 && card.resident <= whole + whole / 8, "{card:?}");
            assert!(device.holds(numbers) && !device.holds(others));
            assert_eq!(checked("shift find {Nd4 Pe4}", &device, groups).uploaded, 0);
        }
    }
}

/// If a database exceeds the memory for blocks, its first blocks stay on the device, and the others are uploaded for each query.
#[test]
fn a_database_that_does_not_fit_stays_in_part() {
    let (blocks, numbers) = held();
    let blocks: Vec<[&Block; 1]> = blocks.iter().map(|block| [block]).collect();
    let groups: Vec<&[&Block]> = blocks.iter().map(|block| &block[..]).collect();
    let all = checked("Ra1", &device_for(64 << 20), &groups);
    let device = device_for(all.resident / 2);
    let first = checked("Ra1", &device, &groups);
    // The engine may upload slightly less than `all`: the slots of games are uploaded only for blocks that stay on the device,
    // and for plans with stages (parts that run first).
    let nearly = |bytes: u64| bytes > all.uploaded / 10 * 8 && bytes <= all.uploaded;
    assert!(nearly(first.uploaded), "{first:?}, {all:?}");
    let next: Vec<u64> = QUERIES.map(|text| checked(text, &device, &groups).uploaded).into();
    assert!(next.iter().all(|&bytes| 0 < bytes && bytes < first.uploaded / 10 * 8), "{next:?}, {first:?}");
    assert!(device.resident_bytes() <= all.resident / 2 && !device.holds(&numbers));
    // A device without memory for blocks keeps no blocks.
    let device = device_for(0);
    let none = checked("Ra1", &device, &groups);
    assert!(nearly(none.uploaded) && none.resident == 0, "{none:?}");
}

#[test]
fn a_device_that_is_lost_loses_its_blocks_and_no_answer() {
    let (blocks, numbers) = held();
    let blocks: Vec<&Block> = blocks.iter().collect();
    let faulty = |fault| {
        let mut options = options_for(8 << 20);
        options.fault = Some(fault);
        open_device(options)
    };
    for at in [0, 1, 2, 4] {
        let device = faulty(InjectedFault::DestroyedOnce(at));
        for text in QUERIES {
            check(text, &prepared(text).gpu(&device).unwrap(), &blocks);
        }
        assert!(device.holds(&numbers), "on the second device");
        assert_eq!(checked("Ra1", &device, &[&blocks]).uploaded, 0);
        // The first engine fails, so the results must come from the processor as the fallback.
        let device = faulty(InjectedFault::Destroyed(at));
        let [cpu, spare] = [(); 2].map(|()| Box::new(prepared("#(P | n)").cpu().unwrap()));
        let engine = Fallback::new(Box::new(prepared("#(P | n)").gpu(&device).unwrap()), spare);
        for _ in 0..6 {
            let request = [Wants::VALUES];
            let request = BlockRequest::all(&request);
            assert_eq!(engine.scan(&blocks, &request), cpu.scan(&blocks, &request));
        }
        assert_eq!(engine.info().name, "gpu, then cpu");
    }
}

/// If buffers have grown while no blocks were on the device, there is too little memory left for blocks.
#[test]
fn where_memory_is_short_blocks_come_each_time() {
    let copies: Vec<Vec<Block>> = (0..24).map(|_| some_blocks()).collect();
    for blocks in &copies {
        Block::hold_all(blocks.iter());
    }
    let loose = copies.concat();
    let loose: Vec<&Block> = loose.iter().collect();
    let groups: Vec<Vec<&Block>> = copies.iter().map(|blocks| blocks.iter().collect()).collect();
    let groups: Vec<&[&Block]> = groups.iter().map(|group| &group[..]).collect();
    let memory_bytes = 1 << 20;
    let with = |resident_bytes_max| {
        let mut options = device_options(GpuLimits { memory_bytes, ..GpuLimits::default() });
        options.resident_bytes_max = resident_bytes_max;
        open_device(options)
    };
    let device = with(Some(u64::MAX));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| checked("#(P | n)", &device, &[&loose]));
        }
    });
    for text in ["Ra1", "shift find {Nd4 Pe4}"] {
        let card = checked(text, &device, &groups);
        assert!(0 < card.uploaded && card.resident <= memory_bytes / 5 * 4, "{card:?}");
    }
    assert_eq!(checked("Ra1", &with(None), &groups).resident, 0, "all of it is needed");
}

#[test]
fn threads_send_blocks_once() {
    let (blocks, _) = held();
    let blocks: Vec<&Block> = blocks.iter().collect();
    let once = checked("Ra1", &device_for(8 << 20), &[&blocks]).uploaded;
    let device = device_for(8 << 20);
    let sent: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            QUERIES.map(|text| scope.spawn(|| checked(text, &device, &[&blocks]).uploaded)).into();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(sent.iter().sum::<u64>(), once, "{sent:?}");
}

#[test]
fn memory_is_given_back() {
    let [(ours, of_ours), (theirs, of_theirs)] = [(); 2].map(|()| held());
    let [ours, theirs]: [Vec<&Block>; 2] = [ours.iter().collect(), theirs.iter().collect()];
    let device = device_for(8 << 20);
    let [both, one] = {
        let one = checked("Ra1", &device, &[&ours]).resident;
        [checked("Ra1", &device, &[&theirs]).resident, one]
    };
    assert_eq!(both, 2 * one);
    device.give_back(Duration::from_secs(3600));
    assert_eq!(device.resident_bytes(), both);
    device.release(&of_ours);
    assert!(device.resident_bytes() == one && device.holds(&of_theirs) && !device.holds(&of_ours));
    device.give_back(Duration::ZERO);
    assert_eq!(device.resident_bytes(), 0);
    assert!(checked("Ra1", &device, &[&ours]).uploaded > 0);
}

/// All databases that `serve` keeps open share one card. The numbers of resident and uploaded bytes in its responses show this.
#[test]
fn databases_of_a_desk_share_a_card() {
    device_for(0);
    let mut options = ServeOptions::default();
    let mut gpu = options_for(8 << 20);
    // No other test uses these options, so no other server or database shares this card.
    gpu.silence = Some(Duration::from_secs(611));
    (options.gpu, options.threads) = (Some(gpu.clone()), 2);
    let desk = OpenDatabases::new(options);
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/games/sample.pgn");
    let open = |name: &str| {
        let mut open = Open::new(vec![sample.into()]);
        open.database = name.into();
        desk.open(&open, &CancelToken::new(), &mut |_| ()).unwrap();
    };
    let ask = |database: &str, query: &str, engine: &str| {
        let mut ask = Ask::new(query);
        ask.database = database.into();
        ask.request.engine = Some(engine.parse().unwrap());
        let answered = desk.ask(&ask, &CancelToken::new(), &mut |_| ()).unwrap();
        (answered.hit, answered.card)
    };
    open("one");
    open("two");
    let (hits, first) = ask("one", "check", "gpu");
    let first = first.expect("the card answers");
    assert!(first.uploaded > 0 && first.resident >= first.uploaded, "{first:?}");
    assert_eq!(ask("one", "check", "cpu"), (hits, None));
    assert_eq!(ask("one", "check", "gpu"), (hits, Some(CardUse { uploaded: 0, ..first })));
    let (also, second) = ask("two", "check", "gpu");
    assert_eq!(
        (also, second),
        (hits, Some(CardUse { uploaded: first.uploaded, resident: 2 * first.resident }))
    );
    // A database that the library opens with the same options also shares the card.
    let database = DatabaseOptions::new().gpu(Some(gpu)).engine(EngineChoice::Gpu).open([sample]).unwrap();
    assert_eq!(database.scan(&Query::parse("check").unwrap()).count().unwrap(), [hits]);
    assert_eq!(ask("one", "mate", "gpu").1.unwrap().resident, 3 * first.resident);
    drop(database);
    desk.close("two").unwrap();
    let (_, last) = ask("one", "check", "gpu");
    assert_eq!(last, Some(CardUse { uploaded: 0, ..first }));
}

/// A card that is lost twice answers no further query of the search. The next search opens it again.
#[test]
fn a_card_that_has_failed_is_opened_again_by_the_next_search() {
    let mut gpu = options_for(8 << 20);
    gpu.fault = Some(InjectedFault::Destroyed(3));
    drop(open_device(gpu.clone()));
    let database = DatabaseOptions::new().gpu(Some(gpu)).engine(EngineChoice::Gpu).open([SAMPLE]).unwrap();
    let query = Query::parse("check").unwrap();
    let due = database.scan(&query).engine(EngineChoice::Cpu).count().unwrap();
    let found: Vec<_> = (0..16).map(|_| database.scan(&query).count()).collect();
    let failed = found.iter().position(Result::is_err).expect("the card fails");
    assert!(found[failed..].iter().any(Result::is_ok), "{found:?}");
    found.into_iter().flatten().for_each(|counts| assert_eq!(counts, due));
}

/// A search for some games uses the uploads of a search for all games, even if whole blocks contain none of these games.
#[test]
fn a_search_for_some_games_uploads_nothing() {
    let text = std::fs::read_to_string(SAMPLE).unwrap();
    let of_year = |year: u32| {
        let line = |line: &str| match line.starts_with("[Date ") {
            true => format!("[Date \"{year}.??.??\"]\n"),
            false => format!("{line}\n"),
        };
        text.lines().map(line).collect::<String>()
    };
    let file = tempfile::NamedTempFile::with_suffix(".pgn").unwrap();
    std::fs::write(&file, (2001..=2004).map(of_year).collect::<String>()).unwrap();
    let mut options = ServeOptions::default();
    let mut gpu = options_for(16 << 20);
    // No other test uses these options, so no other server or database shares this card.
    gpu.silence = Some(Duration::from_secs(612));
    (options.gpu, options.threads) = (Some(gpu), 1);
    let desk = OpenDatabases::new(options);
    desk.open(&Open::new(vec![file.path().to_str().unwrap().into()]), &CancelToken::new(), &mut |_| ())
        .unwrap();
    let ask = |engine: &str, conditions: &[&str]| {
        let mut ask = Ask::new("check");
        ask.request.engine = Some(engine.parse().unwrap());
        ask.request.conditions = conditions.iter().map(|&condition| condition.into()).collect();
        let answered = desk.ask(&ask, &CancelToken::new(), &mut |_| ()).unwrap();
        (answered.hit, answered.card)
    };
    let all = ask("gpu", &[]).1.expect("the card answers");
    assert!(all.uploaded > 0, "{all:?}");
    for condition in ["year=2001", "year=2004", "year=1999"] {
        let (hits, card) = ask("gpu", &[condition]);
        assert_eq!(hits, ask("cpu", &[condition]).0, "{condition}");
        assert_eq!(card, Some(CardUse { uploaded: 0, ..all }), "{condition}");
    }
}
