//! Engines that check and stand in for one another.

use orbit_chess::{
    engine::{
        Engine, EngineError, Hits, Job, Want,
        fallback::Fallback,
        gpu::{Fault, GpuError, GpuLimits},
        verify::{Sample, Verified},
    },
    plan::Options,
    query,
    reel::Block,
};

use crate::{
    common::pgn_blocks,
    runners::{Runner, device_options, open_device},
};

fn job(text: &str) -> Job {
    Job::new(query::parse(text).unwrap().query, Options::default()).unwrap()
}

/// Blocks of 1,000 games in all, each with 30 positions.
fn blocks() -> Vec<Block> {
    let moves = "1. Nf3 Nf6 2. Ng1 Ng8 3. e4 e5 4. Nf3 Nc6 5. Bb5 a6 6. Ba4 Nf6 7. O-O Be7 8. Re1 b5 9. Bb3 d6 \
                 10. c3 O-O 11. h3 Nb8 12. d4 Nbd7 13. Nbd2 Bb7 14. Bc2 Re8 15. Nf1";
    let game = |k: usize| format!("[Event \"{k}\"]\n[White \"{}\"]\n\n{moves} *\n\n", k % 7);
    let text = |from: usize| (from..from + 250).map(game).collect::<String>();
    (0..4).flat_map(|k| pgn_blocks(&text(250 * k))).collect()
}

/// Answers as `cpu`, except for one position.
struct Liar {
    honest: Box<dyn Engine>,
    slot: usize,
}

impl Engine for Liar {
    fn name(&self) -> &'static str {
        "liar"
    }

    fn scan(&self, block: &Block, want: Want) -> Result<Hits, EngineError> {
        let mut hits = self.honest.scan(block, want)?;
        hits.bits[self.slot / 32] ^= 1 << (self.slot % 32);
        Ok(hits)
    }

    fn copies(&self) -> usize {
        self.honest.copies()
    }

    fn copy_counts(&self, block: &Block, hits: &Hits, counts: &mut [u64]) -> Result<(), EngineError> {
        self.honest.copy_counts(block, hits, counts)?;
        counts[0] += 1;
        Ok(())
    }
}

#[test]
fn verification_finds_a_lie() {
    let job = job("flip {Nf3 nc6}");
    let block = &blocks()[0];
    for slot in [0, 31, 32, 5000, block.slots() - 1] {
        let liar = || Box::new(Liar { honest: Box::new(job.cpu()), slot });
        for sample in [Sample::All, Sample::Segments(block.segments())] {
            let checked = Verified::new(liar(), Box::new(job.reference().unwrap()), sample);
            let error = checked.scan(block, Want::Bits).unwrap_err().to_string();
            assert!(error.starts_with("verification failed: `liar` and `reference` differ"), "{error}");
        }
        let checked = Verified::new(liar(), Box::new(job.cpu()), Sample::All);
        let hits = job.cpu().scan(block, Want::Bits).unwrap();
        let error = checked.copy_counts(block, &hits, &mut vec![0; checked.copies()]).unwrap_err();
        assert!(error.to_string().contains("`liar` counts copy 1"), "{error}");
    }
}

/// A sample is at least as large as was asked for, far smaller than the whole, spread over all blocks, and
/// takes tags and game numbers along.
#[test]
fn verification_samples_what_was_asked_for() {
    let blocks = blocks();
    let all: u64 = blocks.iter().map(|block| block.slots() as u64).sum();
    for text in ["check", "gamenumber", "tag \"White\" == \"3\"", "#(shift {Nf3 & N})"] {
        let job = job(text);
        let run = |sample| {
            let checked = Verified::new(Box::new(job.cpu()), Box::new(job.reference().unwrap()), sample);
            let mut blocks = self::blocks();
            let mut games = 0;
            for block in &mut blocks {
                block.games_before = games;
                games += block.games_read();
                checked.scan(block, Want::Values).unwrap();
            }
            checked.verified().unwrap()
        };
        assert_eq!(run(Sample::All), (all, "reference"));
        assert_eq!(run(Sample::Segments(0)).0, 0);
        let (some, _) = run(Sample::Segments(20));
        assert!(some >= 20 * 30 && some < all / 2, "{some} of {all}");
    }
}

/// A device that is lost for good, at the first or a later submission: the run goes on where it stood.
#[test]
fn the_cpu_takes_over_from_a_lost_card() {
    let blocks = blocks();
    let job = job("shift flip flipcolor {Nf3 kg8}");
    let cpu = job.cpu();
    for at in [0, 1, 2, 3] {
        let mut options = device_options(GpuLimits::default());
        options.fault = Some(Fault::Destroyed(at));
        let device = open_device(options);
        let engine = Fallback::new(job.gpu(&device), job.cpu());
        assert_eq!(engine.name(), "gpu");
        for block in &blocks {
            let (ours, theirs) = (engine.scan(block, Want::Bits), cpu.scan(block, Want::Bits));
            assert_eq!(ours, theirs);
            let hits = ours.unwrap();
            let (mut a, mut b) = (vec![1; engine.copies()], vec![1; engine.copies()]);
            engine.copy_counts(block, &hits, &mut a).unwrap();
            cpu.copy_counts(block, &hits, &mut b).unwrap();
            assert_eq!(a, b);
        }
        assert_eq!(engine.name(), "gpu, then cpu");
        let notice = engine.notice().expect("a user is told");
        assert!(notice.contains("lost") && notice.contains("CPU"), "{notice}");
        // By itself the card is an error, not a wrong answer.
        let error = job.gpu(&device).scan(&blocks[0], Want::Bits).unwrap_err();
        assert!(matches!(error, EngineError::Gpu(GpuError::Lost { .. })), "{error:?}");
    }
}

/// Several queries in one run answer as each alone, on every engine that can.
#[test]
fn queries_together_answer_as_alone() {
    use orbit_chess::engine::{Batch, cpu::CpuBatch, gpu::GpuBatch};

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
    let jobs: Vec<Job> = (0..4).flat_map(|_| texts.map(job)).collect();
    let planners: Vec<_> = jobs.iter().map(|job| &*job.planner).collect();
    let blocks = blocks();
    let refs: Vec<&Block> = blocks.iter().collect();
    let mut batches: Vec<Box<dyn Batch>> = vec![Box::new(CpuBatch::new(&planners))];
    if Runner::gpu(0).is_some() {
        let device = open_device(device_options(GpuLimits::default()));
        batches.push(Box::new(GpuBatch::new(&planners, device)));
    }
    for batch in batches {
        assert_eq!(batch.queries(), jobs.len());
        let together = batch.scan_many(&refs).unwrap();
        for (k, (job, hits)) in jobs.iter().zip(&together).enumerate() {
            let alone = job.cpu().scan_many(&refs, Want::Bits).unwrap();
            assert_eq!(*hits, alone, "{}: {}", batch.name(), texts[k % texts.len()]);
        }
    }
}
