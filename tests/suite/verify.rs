//! Tests engines that verify the results of another engine, and engines that replace a failing engine.
//!
//! A *copy* is one of the patterns that a transform generates.

use orbit_engine::{
    Answers, BlockRequest, Engine, EngineError, EngineInfo, Hits, PreparedQuery, Values, Wants,
    cpu::Cpu,
    gpu::{Gpu, GpuLimits},
    reference::Bulk,
    verify::{Sample, Verified},
};
use orbit_plan::PlanOptions;
use orbit_reel::Block;

use crate::{
    common::pgn_blocks,
    runners::{Runner, device_options, open_device},
};

fn prepared(text: &str) -> PreparedQuery {
    PreparedQuery::new(orbit_query::parse(text).unwrap().query, PlanOptions::default()).unwrap()
}

/// Returns blocks (groups of games) with a total of 1,000 games, each with 30 positions.
fn blocks() -> Vec<Block> {
    let moves = "1. Nf3 Nf6 2. Ng1 Ng8 3. e4 e5 4. Nf3 Nc6 5. Bb5 a6 6. Ba4 Nf6 7. O-O Be7 8. Re1 b5 9. Bb3 d6 \
                 10. c3 O-O 11. h3 Nb8 12. d4 Nbd7 13. Nbd2 Bb7 14. Bc2 Re8 15. Nf1";
    let game = |k: usize| format!("[Event \"{k}\"]\n[White \"{}\"]\n\n{moves} *\n\n", k % 7);
    let text = |from: usize| (from..from + 250).map(game).collect::<String>();
    (0..4).flat_map(|k| pgn_blocks(&text(250 * k))).collect()
}

/// An engine that returns the results of `cpu` with one deliberate error.
struct Liar {
    honest: Box<dyn Engine>,
    lie: Lie,
}

#[derive(Clone, Copy)]
enum Lie {
    /// The hit bit of the position with this index is inverted.
    Hit(usize),
    /// A hit has wrong copies.
    Copies,
    /// A hit has a wrong value.
    Value,
}

impl Engine for Liar {
    fn info(&self) -> EngineInfo {
        EngineInfo { name: "liar", ..self.honest.info() }
    }

    fn scan(&self, blocks: &[&Block], request: &BlockRequest<'_>) -> Result<Vec<Vec<Answers>>, EngineError> {
        let lie = |index: usize, block: &Block, query: usize, hits: &mut Hits| {
            if let Lie::Hit(slot) = self.lie {
                hits.bits[slot / 32] ^= 1 << (slot % 32);
            }
            if let Some(select) = request.select {
                select.select(index, block, query, hits);
            }
        };
        let mut answers = self
            .honest
            .scan(blocks, &BlockRequest { select: Some(&lie), ..BlockRequest::all(request.outputs) })?;
        let last = answers.last_mut().and_then(|answers| answers.last_mut()).expect("something is asked for");
        match self.lie {
            Lie::Hit(_) => {}
            Lie::Copies => {
                // The wrong copies are those of another query. Its transform has equally many copies, but they match at other
                // positions.
                let other = prepared("flip {Nf3 nf6}").cpu().unwrap();
                let wanted = [Wants::ALL_COPIES];
                let select = |_: usize, _: &Block, _: usize, hits: &mut Hits| hits.clone_from(&last.hits);
                let request = BlockRequest { select: Some(&select), ..BlockRequest::all(&wanted) };
                last.copies = other.scan(&blocks[blocks.len() - 1..], &request)?[0][0].copies.clone();
            }
            Lie::Value => {
                let slots = || last.hits.slots(0..blocks[blocks.len() - 1].slots());
                let wrong = slots().last().expect("a hit");
                if let Values::Numbers(numbers) = &last.hits.values {
                    let changed = slots().map(|slot| (slot, numbers[slot] + i32::from(slot == wrong)));
                    last.hits.values = Values::Numbers(changed.collect());
                }
            }
        }
        Ok(answers)
    }
}

#[test]
fn verification_finds_a_lie() {
    let prepared = prepared("flip {Nf3 nc6}");
    let block = &blocks()[0];
    for slot in [0, 31, 32, 5000, block.slots() - 1] {
        for sample in [Sample::All, Sample::Segments(block.segments())] {
            let error = lie(&prepared, Lie::Hit(slot), sample, Wants::HITS);
            assert!(error.starts_with("verification failed: `liar` and `reference` differ"), "{error}");
        }
    }
    for sample in [Sample::All, Sample::Segments(block.segments())] {
        let error = lie(&self::prepared("ply > 3"), Lie::Value, sample, Wants::VALUES);
        assert!(error.starts_with("verification failed: `liar` and `reference` differ"), "{error}");
    }
    // Even if only the number of hits per copy is requested, the copies at each hit are verified.
    for outputs in [Wants::COPY_COUNTS, Wants::LOWEST_COPY, Wants::ALL_COPIES] {
        let error = lie(&prepared, Lie::Copies, Sample::All, outputs);
        assert!(error.contains("`liar` and `reference` find copies"), "{error}");
    }
}

/// Returns the error that verification reports if the results for the first block contain the given lie (a deliberate error).
fn lie(prepared: &PreparedQuery, lie: Lie, sample: Sample, outputs: Wants) -> String {
    let liar = Liar { honest: Box::new(prepared.cpu().unwrap()), lie };
    let checked = Verified::new(Box::new(liar), Box::new(prepared.reference().unwrap()), sample);
    checked.answer(&blocks()[0], outputs).unwrap_err().to_string()
}

/// Hits that the selection of games removes are also verified. Values and copies are verified only for the remaining hits.
#[test]
fn verification_looks_at_all_hits_and_at_what_is_told_of_those_that_stay() {
    let prepared = prepared("flip {Nf3 nc6}");
    let (blocks, outputs) = (blocks(), [Wants::VALUES | Wants::LOWEST_COPY]);
    let block = &blocks[0];
    let select = |_: usize, block: &Block, _: usize, hits: &mut Hits| hits.clear(0..block.slots() / 2);
    let request = BlockRequest { select: Some(&select), ..BlockRequest::all(&outputs) };
    let plain = prepared.cpu().unwrap().scan(&[block], &request).unwrap();
    assert!(
        plain[0][0].hits.count() > 0 && plain[0][0].copies.as_ref().is_some_and(|copies| !copies.is_empty())
    );
    for sample in [Sample::All, Sample::Segments(block.segments())] {
        let checked =
            Verified::new(Box::new(prepared.cpu().unwrap()), Box::new(prepared.reference().unwrap()), sample);
        let answers = checked.scan(&[block], &request).unwrap();
        assert_eq!(answers[0][0].hits, plain[0][0].hits);
        assert_eq!(checked.info().verified.unwrap().0, block.slots() as u64);
        let liar = Liar { honest: Box::new(prepared.cpu().unwrap()), lie: Lie::Hit(5) };
        let checked = Verified::new(Box::new(liar), Box::new(prepared.reference().unwrap()), sample);
        checked.scan(&[block], &request).expect_err("a hit that was taken away is checked");
    }
}

/// The sample of games that is verified must be at least as large as requested, much smaller than the database, and spread over all
/// blocks. Its games must keep their tags and numbers.
#[test]
fn verification_samples_what_was_asked_for() {
    let blocks = blocks();
    let all: u64 = blocks.iter().map(|block| block.slots() as u64).sum();
    for text in ["check", "gamenumber", "tag \"White\" == \"3\"", "#(shift {Nf3 & N})"] {
        let prepared = prepared(text);
        let run = |sample| {
            let checked = Verified::new(
                Box::new(prepared.cpu().unwrap()),
                Box::new(prepared.reference().unwrap()),
                sample,
            );
            let mut blocks = self::blocks();
            let mut games = 0;
            for block in &mut blocks {
                block.games_before = games;
                games += block.games_read();
                checked.answer(block, Wants::VALUES).unwrap();
            }
            checked.info().verified.unwrap()
        };
        assert_eq!(run(Sample::All), (all, "reference"));
        assert_eq!(run(Sample::Segments(0)).0, 0);
        let (some, _) = run(Sample::Segments(20));
        assert!(some >= 20 * 30 && some < all / 2, "{some} of {all}");
    }
}

/// The device is lost permanently, at the first or a later submission. The processor resumes the run at the block at which the
/// device was lost.
#[test]
#[cfg(feature = "gpu")]
fn the_cpu_takes_over_from_a_lost_card() {
    use orbit_engine::{
        fallback::Fallback,
        gpu::{GpuError, InjectedFault},
    };

    let blocks = blocks();
    let prepared = prepared("shift flip flipcolor {Nf3 kg8}");
    let cpu = prepared.cpu().unwrap();
    for at in [0, 1, 2, 3] {
        let mut options = device_options(GpuLimits::default());
        options.fault = Some(InjectedFault::Destroyed(at));
        let device = open_device(options);
        let engine =
            Fallback::new(Box::new(prepared.gpu(&device).unwrap()), Box::new(prepared.cpu().unwrap()));
        assert_eq!(engine.info().name, "gpu");
        for block in &blocks {
            let [ours, theirs] = [&engine as &dyn Engine, &cpu].map(|it| it.answer(block, Wants::ALL_COPIES));
            assert_eq!(ours, theirs);
            assert!(ours.unwrap().copies.is_some());
        }
        assert_eq!(engine.info().name, "gpu, then cpu");
        let notice = engine.info().notice.expect("a user is told");
        assert!(notice.contains("lost") && notice.contains("CPU"), "{notice}");
        // Without the fallback, the failing card must cause an error rather than a wrong result.
        let error = prepared.gpu(&device).unwrap().answer(&blocks[0], Wants::HITS).unwrap_err();
        assert!(matches!(error, EngineError::Gpu(GpuError::Lost { .. })), "{error:?}");
    }
}

/// Several queries in one run must have the same results as each query alone, on every engine that supports them.
#[test(part = 0)]
fn queries_together_answer_as_alone() {
    let texts = [
        "check",
        "shift flip flipcolor {Nf3 kg8}",
        "tag \"White\" == \"3\"",
        "square x in N x attacks e5",
        "#(shift {Nf3 & N}) >= 1",
        "movenumber == 7",
        "shift {Nb1 attacks pd2}",
        "gamenumber == 100",
    ];
    let queries: Vec<PreparedQuery> = (0..4).flat_map(|_| texts.map(prepared)).collect();
    let plans = || orbit_engine::plans(&queries).unwrap();
    let blocks = blocks();
    let refs: Vec<&Block> = blocks.iter().collect();
    let mut engines: Vec<Box<dyn Engine>> = vec![Box::new(Cpu::new(plans()))];
    if Runner::gpu(0).is_some() {
        engines.push(Box::new(Gpu::new(plans(), open_device(device_options(GpuLimits::default())))));
    }
    engines.push(Box::new(Bulk::new(queries[..texts.len()].iter().map(|prepared| &prepared.query)).unwrap()));
    // The first query requests all outputs, and the other queries request fewer.
    let wishes = [Wants::VALUES | Wants::ALL_COPIES, Wants::HITS, Wants::COPY_COUNTS, Wants::VALUES];
    for engine in engines {
        let wanted: Vec<Wants> =
            (0..engine.info().queries()).map(|query| wishes[query % wishes.len()]).collect();
        let together = engine.scan(&refs, &BlockRequest::all(&wanted)).unwrap();
        assert_eq!(together.len(), refs.len());
        for (block, answers) in refs.iter().zip(&together) {
            for (k, (prepared, answers)) in queries.iter().zip(answers).enumerate() {
                let alone = prepared.cpu().unwrap().answer(block, wanted[k]).unwrap();
                let name = format!("{}: {}", engine.info().name, texts[k % texts.len()]);
                assert_eq!(answers.hits.bits, alone.hits.bits, "{name}");
                let values = |hits: &Hits| {
                    hits.slots(0..block.slots()).map(|slot| hits.answer(slot)).collect::<Vec<_>>()
                };
                assert_eq!(values(&answers.hits), values(&alone.hits), "{name}");
                assert_eq!(answers.copies, alone.copies, "{name}");
            }
            assert_eq!(answers.len(), engine.info().queries());
        }
    }
}
