//! The fuzz targets. Each function accepts any bytes, and panics if the library violates one of its guarantees. It returns false
//! if the library rejects the bytes at once. On stable compilers, `tests/suite/fuzz_smoke.rs` of the main workspace runs these
//! functions on the seeds.

use std::{
    fs,
    ops::ControlFlow,
    path::Path,
    sync::{Mutex, OnceLock},
};

use orbit_chess::CancelToken;
use orbit_database::{BlockStream, StreamOptions};
use orbit_engine::{
    Engine as _, EngineError, PreparedQuery, Wants,
    cpu::{Cpu, Isa, MachineCode},
};
use orbit_plan::PlanOptions;
use orbit_reel::{
    Block, BlockBuilder, EncodedBlock, GameRow, MANIFEST_NAME, Manifest, Reel, ReelSource, ReelWriter,
    ShardsWriter, Totals, replay,
};
use orbit_search::{
    choice::Choice,
    executor::{EngineChoice, EngineOptions, Executor},
    job::{Job, JobPart, JobRequest, PartWriter, Replay, record},
    report::{Format, Layout, PgnWriter, game_pgn, page::page},
    run::{
        About, Collectors, FindingsCollector, ListReach, ListsCollector, Part as _, Parts, ProblemsCollector,
        Run, StatisticsCollector, TotalsCollector,
    },
    serve::{Greeting, Message, Open, OpenDatabases, Origin, ServeOptions, What, converse},
    stats::Stats,
    themes,
};

/// The maximum length of a query in bytes. Longer queries take long and test nothing new.
const QUERY_BYTES_MAX: usize = 400;

/// The maximum number of steps of a query in one game. Without this limit, a query could loop forever.
const STEPS_MAX: u64 = 100_000;

/// Parses, expands and plans a query, and runs it on a short game. Errors are allowed, but panics are not. If the query has a plan,
/// the engines `reference` and `cpu` must agree.
pub fn query(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    if text.len() > QUERY_BYTES_MAX {
        return false;
    }
    let parsed = match orbit_query::parse(text) {
        Ok(parsed) => parsed,
        Err(diagnostic) => {
            diagnostic.render(text, "query", false);
            return false;
        }
    };
    let Ok(prepared) = PreparedQuery::new(parsed.query, PlanOptions::default()) else { return false };
    let Ok(reference) = prepared.reference() else { return false };
    if reference.info().copies[0] > 300 {
        return false;
    }
    let reference = reference.with_steps_max(STEPS_MAX);
    let block = &blocks(b"1. e4 c5 2. Nf3 d6 1/2-1/2", StreamOptions::default())[0];
    let slow = reference.answer(block, Wants::VALUES);
    if prepared.planner.refusal().is_some() {
        let is_fine = matches!(slow, Ok(_) | Err(EngineError::Query { .. }));
        assert!(is_fine, "{text}: {:?}", slow.err());
        return true;
    }
    let fast = prepared.cpu().unwrap().answer(block, Wants::VALUES);
    if matches!(slow, Err(EngineError::Query { .. })) {
        return true;
    }
    let (fast, slow) = (fast.expect("cpu runs what it has planned"), slow.expect("it was accepted"));
    assert_eq!(fast.hits.bits, slow.hits.bits, "{text}");
    assert_eq!(prepared.cpu().unwrap().info().copies[0], reference.info().copies[0], "{text}");
    true
}

/// Parses any bytes as PGN. Parsing must never panic, and its result must not depend on the chunk size.
pub fn pgn(data: &[u8]) -> bool {
    let mut small = StreamOptions::default();
    small.pgn.chunk_bytes = 1;
    let (whole, pieces) = (blocks(data, StreamOptions::default()), blocks(data, small));
    assert_eq!(games(&whole), games(&pieces), "games depend on the size of chunks");
    let mut trees = StreamOptions::default();
    (trees.parse.variations, trees.parse.annotations) = (true, true);
    let trees = blocks(data, trees);
    for (block, plain) in trees.iter().zip(&whole) {
        assert_eq!(replay::check_keys(block), Ok(()));
        assert_eq!(block.clone().into_main_lines(false), *plain, "main lines depend on side lines");
    }
    assert_eq!(trees.len(), whole.len());
    whole.iter().any(|block| block.slots() > block.games_len())
}

/// Reads any bytes as a reel (a file of packed games). The result must be blocks (groups of games) or an error, never a panic.
pub fn reel(data: &[u8]) -> bool {
    let file = tempfile::NamedTempFile::new().expect("a temporary file can be made");
    fs::write(file.path(), data).expect("it can be written");
    read(file.path())
}

/// Writes games to a reel (a file of packed games), changes one byte that the data select, and reads the reel. Checksums cover
/// every byte, so reading must fail.
pub fn reel_mutated(data: &[u8]) -> bool {
    let Some((head, games)) = data.split_first_chunk::<5>() else { return false };
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("games.reel");
    let mut options = StreamOptions::default();
    (options.parse.variations, options.parse.annotations) = (true, true);
    write(&path, &blocks(games, options));
    assert!(read(&path), "a new reel was refused");

    let mut bytes = fs::read(&path).expect("the reel was just written");
    let at = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize % bytes.len();
    if head[4] == 0 {
        bytes.truncate(at);
    } else {
        bytes[at] ^= head[4];
    }
    fs::write(&path, bytes).expect("it was written before");
    assert!(!read(&path), "byte {at}, altered by {}, was not noticed", head[4]);
    true
}

fn blocks(data: &[u8], options: StreamOptions) -> Vec<Block> {
    let mut out = Vec::new();
    let stream = BlockStream::from_pgn_bytes("data", data.to_vec(), options);
    let take = |taken: orbit_database::StreamedBlock, ()| {
        out.push(std::sync::Arc::unwrap_or_clone(taken.block));
        ControlFlow::Continue(())
    };
    stream.for_each_block(1, |_| (), take).expect("PGN gives blocks, whatever it is");
    out
}

/// Returns all data of all games as text, block by block.
fn games(blocks: &[Block]) -> Vec<String> {
    let mut out = Vec::new();
    for block in blocks {
        for game in block.games() {
            let numbers = (game.number(), game.number_in_source(), game.offset(), game.outcome());
            let tags: Vec<_> = game.tags().collect();
            out.push(format!("{numbers:?} {:?} {:?} {tags:?}", game.start(), game.moves()));
        }
        for problem in block.problems() {
            let number = block.number_in_source(problem);
            let orbit_reel::Problem { kind, offset, ply, reason, .. } = problem;
            out.push(format!("{number:?} {kind:?} {offset} {ply} {reason}"));
        }
    }
    // The messages about a block follow its games, so their places depend on where blocks end. Sorting removes this difference.
    out.sort();
    out
}

fn write(path: &std::path::Path, blocks: &[Block]) {
    let mut writer = ReelWriter::create(path).expect("the folder can be written to");
    let empty = BlockBuilder::new().finish();
    for block in blocks.iter().chain([&empty]) {
        writer.append(&EncodedBlock::new(block), &Totals::from_block(block)).expect("there is room");
    }
    let source = ReelSource { name: String::from("data"), ..ReelSource::default() };
    writer.finish(&[source]).expect("there is room");
}

/// Returns true if a reel and all its blocks can be read.
fn read(path: &std::path::Path) -> bool {
    let Ok(reel) = Reel::open(path) else { return false };
    let good = (0..reel.blocks()).filter(|&index| reel.block(index).is_ok()).count();
    good == reel.blocks()
}

/// Parses PGN with side lines, comments and glyphs, writes the games from their blocks alone, and parses the output, which must
/// contain the same games.
pub fn trees(data: &[u8]) -> bool {
    let mut options = StreamOptions::default();
    (options.parse.variations, options.parse.annotations) = (true, true);
    let before = blocks(data, options.clone());
    before.iter().for_each(|block| assert_eq!(replay::check_keys(block), Ok(())));
    let text = written(&before);
    let after = blocks(&text, options);
    let whole = |blocks: &[Block]| -> Vec<String> {
        let said = |game: GameRow| format!("{:?} {:?} {:?}", game.start(), game.outcome(), game.moves());
        blocks.iter().flat_map(Block::games).map(said).collect()
    };
    let shown = String::from_utf8_lossy(&text);
    assert_eq!(whole(&before), whole(&after), "written as {shown}");
    before.iter().any(|block| block.slots() > block.clone().into_main_lines(false).slots())
}

/// Returns the games of blocks as PGN.
fn written(blocks: &[Block]) -> Vec<u8> {
    let mut writer = PgnWriter::new(Vec::new());
    for game in blocks.iter().flat_map(Block::games) {
        writer.write(&game_pgn(&game)).expect("memory takes it");
    }
    writer.finish().expect("memory takes it")
}

/// Reads any text as a theme file. Either the first error is reported, or all theme names are unique.
pub fn themes(data: &[u8]) -> bool {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("themes.toml");
    fs::write(&path, data).expect("it can be written");
    match themes::load(&path) {
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
        Ok(themes) => {
            let mut names: Vec<_> = themes.iter().map(|theme| &theme.name).collect();
            names.sort();
            names.dedup();
            assert!(!names.is_empty() && names.len() == themes.len());
            true
        }
    }
}

/// Replaces fields in the manifest of a folder with one reel by those of a JSON object, and updates the checksum. The manifest must
/// be rejected or must describe the reel correctly.
pub fn manifest(data: &[u8]) -> bool {
    static WHOLE: OnceLock<(tempfile::TempDir, serde_json::Value)> = OnceLock::new();
    let (folder, whole) = WHOLE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let mut writer = ShardsWriter::create(folder.path(), u64::MAX, false).expect("it is empty");
        let source = ReelSource { name: String::from("data"), ..ReelSource::default() };
        for block in blocks(b"1. e4 c5 2. Nf3 d6 1/2-1/2", StreamOptions::default()) {
            let sources = std::slice::from_ref(&source);
            writer
                .append(&block, (&EncodedBlock::new(&block), &Totals::from_block(&block)), sources)
                .expect("there is room");
        }
        writer.finish(&[source], 0).expect("there is room");
        let bytes = fs::read(folder.path().join(MANIFEST_NAME)).expect("it was written");
        (folder, serde_json::from_slice(&bytes).expect("it is JSON"))
    });
    let Ok(serde_json::Value::Object(changes)) = serde_json::from_slice(data) else { return false };
    let mut changed = whole.clone();
    changes.into_iter().for_each(|(name, value)| changed[name] = value);
    let Ok(manifest) = serde_json::from_value::<Manifest>(changed) else { return false };
    let text = serde_json::to_string(&manifest).expect("it was JSON");
    let field = |sum: &str| format!("\"checksum\":{}", serde_json::to_string(sum).expect("it is text"));
    let bare = text.replacen(&field(manifest.checksum()), &field(""), 1);
    let sum = format!("{:016x}", twox_hash::XxHash3_64::oneshot(bare.as_bytes()));
    let path = folder.path().join(MANIFEST_NAME);
    fs::write(&path, bare.replacen(&field(""), &field(&sum), 1)).expect("it can be written");
    let Ok(manifest) = Manifest::read(&path) else { return false };
    manifest.reel_sources();
    manifest.open_shards(folder.path()).is_ok_and(|reels| reels.len() == manifest.shards.len())
}

/// Changes records in the file of one part of a job, and updates the file's checksum. The file must be rejected, or its replay
/// must equal a single run. Each change takes four bytes of the data: two for an offset, one for an operation, and one for the
/// operand.
pub fn job_part(data: &[u8]) -> bool {
    static WHOLE: OnceLock<(Job, Vec<u8>)> = OnceLock::new();
    let query = orbit_query::parse("flip {Nf3}").expect("it is a query").query;
    let prepared = PreparedQuery::new(query, PlanOptions::default()).expect("it has copies");
    let mut options = EngineOptions::default();
    options.engine = EngineChoice::Cpu;
    let scan = Executor::new(vec![prepared], &options).expect("it has a plan").threads(1);
    let layout =
        Format::Text { runs_max: 3, layout: Layout::Fixed, moves_max: Some(3), styled: false, cut: true };
    let collectors = Collectors {
        totals: Some(TotalsCollector),
        problems: Some(ProblemsCollector),
        lists: Some(ListsCollector::new(vec![layout, Format::Plain], ListReach::new(0, None))),
        statistics: Some(StatisticsCollector::new(Stats::new(vec!["year".parse().expect("it is one")]))),
        findings: Some(FindingsCollector::new(scan.filter(), scan.ty(), 5, 7)),
        ..Collectors::default()
    };
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (job, whole) = WHOLE.get_or_init(|| part(&scan, &collectors, folder.path()));
    let mut bytes = whole[..whole.len() - 16].to_vec();
    // The file begins with a magic number of eight bytes, a letter, and the length of the record that identifies the job.
    let mut length = [0; 8];
    length.copy_from_slice(&whole[9..17]);
    let begin = 17 + u64::from_le_bytes(length) as usize;
    for change in data.chunks_exact(4) {
        let at =
            begin + usize::from(u16::from_le_bytes([change[0], change[1]])) % (bytes.len() - begin).max(1);
        match change[2] % 5 {
            0 => bytes.insert(at, change[3]),
            1 => drop(bytes.drain(at..(at + usize::from(change[3])).min(bytes.len()))),
            2 => bytes.extend_from_within(at..(at + usize::from(change[3])).min(bytes.len())),
            3 if at < bytes.len() => bytes[at] ^= change[3],
            _ if at < bytes.len() => bytes[at] = change[3],
            _ => {}
        }
    }
    let sum = twox_hash::XxHash3_128::oneshot(&bytes).to_le_bytes();
    bytes.extend(sum);
    let path = job.path_of(&job.parts[0], folder.path());
    fs::create_dir_all(path.parent().expect("it is in a folder")).expect("it can be made");
    fs::write(&path, bytes).expect("it can be written");
    let replay = Replay::open(job, folder.path()).expect("the checksum and the header are right");
    let mut sum = Parts::default();
    let summary = replay.for_each_part(&[], &collectors, |_, part| match sum.merge(part) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    });
    if !summary.is_ok_and(|summary| summary.finished) {
        return false;
    }
    let mut out = Vec::new();
    let statistics = collectors.statistics.as_ref().expect("it is collected");
    for counts in statistics.counts(sum.statistics.unwrap_or_default(), scan.filters()) {
        counts.write_text(20, &[], true, &mut out).expect("memory takes it");
        counts.write_json(&[], &mut out).expect("memory takes it");
    }
    let findings = collectors.findings.as_ref().expect("it is collected");
    let about = About { query: "flip {Nf3}", engine: "cpu", sources: &[], ..About::default() };
    page(&findings.findings(sum.findings.unwrap_or_default(), &about));
    true
}

/// Runs a job with one part, and returns the job and the bytes of the part's file.
fn part(scan: &Executor, collectors: &Collectors, folder: &Path) -> (Job, Vec<u8>) {
    let parts = vec![JobPart { number: 1, blocks: None, positions: None }];
    let question = JobRequest {
        arguments: Vec::new(),
        request: orbit_chess::Request::default(),
        output: serde_json::Value::Null,
        plan: String::new(),
        sources: Vec::new(),
    };
    let job = Job::new(String::new(), question, None, parts);
    job.write(folder).expect("the folder is new");
    let choice = Choice::default();
    let run = Run::new(scan, &choice, collectors);
    let mut options = StreamOptions::default();
    options.pgn.chunk_bytes = 1;
    let games =
        "[White \"A\"]\n[Date \"2001.01.01\"]\n\n1. Nf3 c5 2. Ng1 c4 3. Nf3 1-0\n\n1. Nf3 d6 2. xx *\n";
    let stream = BlockStream::from_pgn_bytes("data", games.into(), options);
    let names = run.names(stream.source_names());
    let out = PartWriter::create(&job, &job.parts[0], folder).expect("the folder can be written");
    record(&run, collectors, &names, stream, out, |_, _| ()).expect("the games can be searched");
    let bytes = fs::read(job.path_of(&job.parts[0], folder)).expect("it was written");
    (job, bytes)
}

/// Sends lines as requests to a server of a small database. Each line must get one response, and all output must be JSON. Lines
/// that open other files, end the connection or may take long are skipped.
pub fn serve(data: &[u8]) -> bool {
    static FILE: OnceLock<tempfile::NamedTempFile> = OnceLock::new();
    let file = FILE.get_or_init(|| {
        let file = tempfile::Builder::new().suffix(".pgn").tempfile().expect("a temporary file can be made");
        fs::write(file.path(), "1. e4 c5 2. Nf3 d6 1/2-1/2\n\n1. d4 d5 (1... f5 {Dutch}) 2. c4 1-0\n")
            .expect("it can be written");
        file
    });
    let is_due = |line: &&[u8]| match Message::read(line).map(|(_, request)| request) {
        Ok(Message::Open(_) | Message::Quit) => false,
        Ok(Message::Query(ask)) => are_quick(&ask.request),
        Ok(Message::Make(make)) => {
            !matches!(make.what, What::File { .. } | What::Batch(_)) && are_quick(&make.request)
        }
        Ok(Message::Explain(explain)) => are_quick(&explain.request),
        _ => !line.trim_ascii().is_empty(),
    };
    let lines: Vec<&[u8]> = data.split(|&byte| byte == b'\n').filter(is_due).take(20).collect();
    let mut options = ServeOptions::default();
    (options.gpu, options.threads) = (None, 1);
    let desk = OpenDatabases::new(options);
    let path = file.path().to_str().expect("it is text").to_owned();
    desk.open(&Open::new(vec![path]), &CancelToken::new(), &mut |_| ()).expect("the file is there");
    let said = Mutex::new(Vec::new());
    let say = |line: &str| said.lock().expect("nobody panics").push(line.to_owned());
    let greeting = Greeting { program: "fuzz", version: "0" };
    let mut input = lines.join(&b'\n');
    input.push(b'\n');
    converse(&desk, greeting, (&mut &input[..], Origin::Input), &say).expect("memory can be read");
    let said = said.into_inner().expect("nobody panics");
    let values: Vec<serde_json::Value> =
        said.iter().map(|line| serde_json::from_str(line).expect("it is JSON")).collect();
    let answers = values.iter().filter(|value| value.get("event").is_none()).count();
    assert_eq!(answers, lines.len(), "{said:?}");
    values.iter().any(|value| value.get("event").is_none() && value.get("error").is_none())
}

/// Returns true if a request has no transforms and each of its queries is quick (see [`is_quick`]).
fn are_quick(request: &orbit_chess::Request) -> bool {
    request.transforms.is_empty() && request.query.iter().all(|text| is_quick(text))
}

/// Returns true if a query is short and contains no word that can make it run for long, such as `while`. Requests have no limit on
/// steps, so only such queries are sent to the server.
fn is_quick(text: &str) -> bool {
    text.len() < 80 && !["while", "loop", "shift", "echo", "function"].iter().any(|word| text.contains(word))
}

/// Generates a query from the bytes and runs it on positions. Machine code, kernels, plans without optimisations and the reference
/// engine must agree.
pub fn code(data: &[u8]) -> bool {
    static BLOCK: OnceLock<Block> = OnceLock::new();
    let block = BLOCK.get_or_init(|| {
        let positions = "r3k2r/1P6/8/3pP3/8/8/8/R3K2R w KQkq d6 0 1\n8/8/8/8/8/8/8/K6k b - -\n\
            r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 4 4\n4k3/8/8/8/8/8/8/4K2Q b - -\n";
        blocks(positions.as_bytes(), StreamOptions::default()).remove(0)
    });
    let text = Made { bytes: data.iter() }.filter(5);
    let query = orbit_query::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}")).query;
    let Ok(prepared) = PreparedQuery::new(query.clone(), PlanOptions::default()) else { return false };
    let Ok(reference) = prepared.reference() else { return false };
    if reference.info().copies[0] > 200 || prepared.planner.refusal().is_some() {
        return false;
    }
    let slow = reference.answer(block, Wants::VALUES).expect("it is of positions alone").hits;
    let mut plain = PlanOptions::default();
    (plain.anchors, plain.grids, plain.tables, plain.sharing, plain.simplify) =
        (false, false, false, false, false);
    (plain.pointwise, plain.chains, plain.unrolling, plain.screens, plain.programs) =
        (false, false, false, false, false);
    for options in [PlanOptions::default(), plain] {
        let plans =
            PreparedQuery::new(query.clone(), options).and_then(|it| it.plans()).expect("it has a plan");
        for isa in Isa::available() {
            for code in [MachineCode::Always, MachineCode::Never] {
                let fast = Cpu::with(plans.clone(), isa, code)
                    .answer(block, Wants::VALUES)
                    .expect("it has a plan")
                    .hits;
                assert_eq!(fast.bits, slow.bits, "{text}, {} {code:?} {options:?}", isa.name());
                assert_eq!(
                    format!("{:?}", fast.values),
                    format!("{:?}", slow.values),
                    "{text}, {} {code:?}",
                    isa.name()
                );
            }
        }
    }
    true
}

/// A generator that makes a query from bytes. Once the bytes are used up, it makes the simplest filters.
struct Made<'a> {
    bytes: std::slice::Iter<'a, u8>,
}

impl Made<'_> {
    fn pick<'b>(&mut self, list: &[&'b str]) -> &'b str {
        list[usize::from(self.bytes.next().copied().unwrap_or(0)) % list.len()]
    }

    fn filter(&mut self, depth: usize) -> String {
        let Some(kind) = self.bytes.next().filter(|_| depth > 0).map(|byte| byte % 13) else {
            return self.set(0);
        };
        let d = depth - 1;
        match kind {
            0 | 1 => self.set(depth),
            2 => self.pick(&["check", "wtm", "btm", "mate", "stalemate", "true", "false"]).into(),
            3 => format!(
                "({} {} {})",
                self.number(d),
                self.pick(&["==", "!=", "<", "<=", ">", ">="]),
                self.number(d)
            ),
            4 => format!("({} and {})", self.filter(d), self.filter(d)),
            5 => format!("({} or {})", self.filter(d), self.filter(d)),
            6 => format!("(not {})", self.filter(d)),
            7 => format!("{{{} {}}}", self.filter(d), self.filter(d)),
            8 => {
                let word = self.pick(&[
                    "flip",
                    "flipcolor",
                    "rotate90",
                    "flipvertical",
                    "shifthorizontal",
                    "shift",
                    "fliphorizontal",
                ]);
                format!("{word} {{{}}}", self.filter(d))
            }
            9 => format!("(if {} then {} else {})", self.filter(d), self.filter(d), self.filter(d)),
            10 => format!("(square s{depth} in {} {{s{depth} attacks {}}})", self.set(d), self.set(d)),
            11 => format!("({})", self.number(d)) + " >= 1",
            _ => format!("flipcolor {{{} {}}}", self.set(d), self.filter(d)),
        }
    }

    fn set(&mut self, depth: usize) -> String {
        let kind = match depth {
            0 => 0,
            _ => self.bytes.next().map_or(0, |byte| byte % 10),
        };
        let d = depth.saturating_sub(1);
        match kind {
            0..=2 => {
                let pieces =
                    self.pick(&["K", "k", "Q", "R", "r", "N", "P", "p", "A", "a", "_", "[Rr]", "[QN]", "."]);
                let squares = self.pick(&["", "a1", "e4", "a-h1", "h8", "[a1,h8]", "c-f3-6", "e1-8", "d5"]);
                if pieces == "." { ".".into() } else { format!("{pieces}{squares}") }
            }
            3 => format!("({} & {})", self.set(d), self.set(d)),
            4 => format!("({} | {})", self.set(d), self.set(d)),
            5 => format!("({} attacks {})", self.set(d), self.set(d)),
            6 => format!("({} attackedby {})", self.set(d), self.set(d)),
            7 => format!("(~{})", self.set(d)),
            8 => format!(
                "({} {} {})",
                self.pick(&["up", "down", "left", "right", "horizontal", "diagonal"]),
                self.pick(&["1", "2", "1 3", "0", "7"]),
                self.set(d)
            ),
            _ => format!("between({} {})", self.set(d), self.set(d)),
        }
    }

    fn number(&mut self, depth: usize) -> String {
        let kind = match depth {
            0 => 0,
            _ => self.bytes.next().map_or(0, |byte| byte % 5),
        };
        let d = depth.saturating_sub(1);
        match kind {
            0 => self.pick(&["1", "0", "2", "9", "64", "2147483647"]).into(),
            1 => format!("(#{})", self.set(d)),
            2 => format!("(power {})", self.set(d)),
            3 => format!("({} {} {})", self.number(d), self.pick(&["+", "-", "*"]), self.number(d)),
            _ => format!("(flip count {{{}}})", self.filter(d.min(1))),
        }
    }
}
