//! The GPU engine: decides which kernels run on which uploads, and collects the answers.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use super::{
    CardUse, GpuDevice, GpuError, Kernel, KernelInput, KernelRun, Lent, OpenDevice, Resident, Times, Upload,
    Variant,
    along::{GameSlots, has_room},
    carry::{self, OnUpload, Staged},
    contexts,
    device::{Device, KernelPass},
    hits_of, no_hits,
    pack::{self, GAME_BYTES, uploads},
    resident::{InUse, carries},
    run::caps,
    store,
};
use crate::{
    Answers, BlockRequest, CopyDetail, CopyHits, Engine, EngineError, EngineInfo, Hits, Interrupt, Values,
    Wants, context::Context,
};
use orbit_plan::{CopiesPlan, Output, Plan, Plans, Program, SharedPlan};
use orbit_reel::{Block, SEGMENT_SLOTS};

/// The number of blocks that should be searched together. They have about 4 million positions, which is enough to keep
/// every lane of a large card busy.
const BLOCKS_AT_ONCE: usize = 32;

/// The maximum number of queries that share a kernel, and the maximum total number of their steps.
const SHARED_QUERIES_MAX: usize = 16;
const SHARED_STEPS_MAX: u64 = 1000;

/// The largest number of registers in a program that several queries share. Queries that share a kernel need only one
/// replay. But if a kernel needs too many registers, a card can run only a few waves (groups of threads) at a time,
/// which costs more than the replays. Each register of a program takes two registers of the card, which has about 64
/// for each of 16 waves.
const SHARED_REGISTERS_MAX: usize = 28;
/// The largest number of registers in a shared program that computes legal moves. Such a program takes more than 100 of
/// the card's registers in any case. Computing the moves only once saves more time than running more waves would. The
/// limit keeps these kernels below the 255 registers that cards have.
const SHARED_REGISTERS_OF_MOVES_MAX: usize = 64;

fn registers_max(program: &Program) -> usize {
    if program.whole_positions { SHARED_REGISTERS_OF_MOVES_MAX } else { SHARED_REGISTERS_MAX }
}

/// A plan and the kernel that was generated from it.
#[derive(Debug)]
struct Printed<P> {
    plan: P,
    kernel: Kernel,
}

/// The GPU engine, prepared for one or more queries. Cheap queries share a kernel.
#[derive(Debug)]
pub struct Gpu {
    plans: Arc<Plans>,
    device: Arc<GpuDevice>,
    variant: Variant,
    hits: Vec<Printed<SharedPlan>>,
    /// The kernels that compute the values of each query. Each is generated when it is first needed.
    values: Vec<OnceLock<Printed<Plan>>>,
    /// For each query, the kernels that find the transformed patterns (copies) that match at a hit, indexed by
    /// [`Apart`](orbit_plan::Apart). Each is generated when it is first needed.
    copies: Vec<[OnceLock<Printed<CopiesPlan>>; 2]>,
    /// The number that identifies this engine among all engines of the device.
    number: u64,
    /// The total size of the games that this engine has uploaded, in bytes.
    uploaded: AtomicU64,
    /// True once a thread has begun to compile the kernels (the shaders of the queries).
    is_compiled: AtomicBool,
}

/// Divides the queries into groups that share a kernel, and generates the kernels.
fn shared(plans: &Plans, variant: Variant) -> Vec<Printed<SharedPlan>> {
    let (mut hits, mut from) = (Vec::new(), 0);
    while from < plans.len() {
        let (mut plan, mut to) = (plans.hits(from..from + 1), from + 1);
        while to < plans.len().min(from + SHARED_QUERIES_MAX) {
            let more = plans.hits(from..to + 1);
            if more.program.cost() > SHARED_STEPS_MAX || more.program.registers > registers_max(&more.program)
            {
                break;
            }
            (plan, to) = (more, to + 1);
        }
        let kernel = Kernel::hits(&plan.program, &[], plan.columns.len(), variant);
        hits.push(Printed { plan, kernel });
        from = to;
    }
    hits
}

/// The results that the second pass computes for one query at its hits: the query's values and the matching copies
/// (transformed patterns).
struct Second<'a> {
    query: usize,
    values: Option<&'a Printed<Plan>>,
    copies: Option<(&'a Printed<CopiesPlan>, CopyDetail)>,
}

impl Gpu {
    /// Creates an engine that uses the kernel variant in the device's options.
    pub fn new(plans: Arc<Plans>, device: Arc<GpuDevice>) -> Gpu {
        let variant = device.options.variant;
        Gpu::with_variant(plans, device, variant)
    }

    /// Creates an engine that uses the given kernel variant.
    pub fn with_variant(plans: Arc<Plans>, device: Arc<GpuDevice>, variant: Variant) -> Gpu {
        let hits = shared(&plans, variant);
        let (values, copies) = (plans.unmade(), plans.unmade());
        let number = device.engines.fetch_add(1, Ordering::Relaxed) + 1;
        let (uploaded, is_compiled) = (AtomicU64::new(0), AtomicBool::new(false));
        Gpu { plans, device, variant, hits, values, copies, number, uploaded, is_compiled }
    }

    /// Returns the kernels that compute the hits of queries. They do not depend on the card.
    #[doc(hidden)]
    pub fn kernels(plans: &Plans, variant: Variant) -> Vec<Kernel> {
        shared(plans, variant).into_iter().map(|printed| printed.kernel).collect()
    }

    /// Returns the kernel that computes the hits. If there are several kernels, returns the one for the first queries.
    ///
    /// # Panics
    ///
    /// Panics if the engine has no query.
    pub fn kernel(&self) -> &Kernel {
        &self.hits[0].kernel
    }

    fn values(&self, query: usize) -> &Printed<Plan> {
        self.values[query].get_or_init(|| {
            let plan = self.plans.values(query);
            let word = match plan.output {
                Output::Set(reg) | Output::Num(reg) => reg,
                Output::Bool => plan.hit,
            };
            let kernel = Kernel::words(&plan.program, &[word], plan.columns.len(), self.variant);
            Printed { plan, kernel }
        })
    }

    fn copies(&self, query: usize, detail: CopyDetail) -> &Printed<CopiesPlan> {
        let apart = detail.apart();
        self.copies[query][apart as usize].get_or_init(|| {
            let plan = self.plans.copies(query, apart);
            let kernel = Kernel::words(&plan.program, &plan.words, plan.columns.len(), self.variant);
            Printed { plan, kernel }
        })
    }

    /// Computes the hits of each query in blocks that are already on the device.
    ///
    /// # Errors
    ///
    /// Fails if the engine cannot finish. If the device is lost, the blocks on it are lost as well.
    pub fn scan_resident(&self, resident: &Resident<'_>) -> Result<(Vec<Vec<Hits>>, Times), GpuError> {
        let (mut out, mut all) = (Vec::new(), Times::default());
        for Printed { plan, kernel } in &self.hits {
            let (hits, times) = resident.scan(kernel, &plan.columns)?;
            out.extend(hits);
            all.run += times.run;
            all.kernel = all.kernel.zip(times.kernel).map(|(a, b)| a + b).or(times.kernel);
        }
        Ok((out, all))
    }

    /// Compiles the kernels of the first pass, including those of their stages (the parts of their plans that run
    /// before the rest), on several threads in parallel. Compiling them on first use would be sequential. Errors are
    /// ignored here: if a kernel cannot be compiled, its first use reports the error.
    fn compile_all(&self, device: &Device, kernels: &[(&Kernel, usize)]) {
        if self.is_compiled.swap(true, Ordering::Relaxed) {
            return;
        }
        let all: Vec<&Kernel> = kernels.iter().map(|(kernel, _)| *kernel).collect();
        let masks =
            all.iter().flat_map(|kernel| kernel.stages.iter()).filter_map(|stage| stage.masks.as_ref());
        let all: Vec<&Kernel> = masks.chain(all.iter().copied()).collect();
        let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
        let next = AtomicUsize::new(0);
        let compile = || {
            while let Some(kernel) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                let _ = device.pipeline(kernel, KernelPass::Hits, false);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads.min(all.len()) {
                let _ = std::thread::Builder::new().spawn_scoped(scope, compile);
            }
            compile();
        });
    }

    /// Returns, for each query, the results that the second pass must compute: the requested values and copies
    /// (transformed patterns). Queries for which neither is requested are left out.
    fn second(&self, outputs: &[Wants]) -> Vec<Second<'_>> {
        let second = |(query, outputs): (usize, &Wants)| {
            let has_values = outputs.contains(Wants::VALUES) && self.plans.has_values(query);
            let values = has_values.then(|| self.values(query));
            let copies = outputs.detail().map(|detail| (self.copies(query, detail), detail));
            (values.is_some() || copies.is_some()).then_some(Second { query, values, copies })
        };
        outputs.iter().enumerate().filter_map(second).collect()
    }

    /// Returns the answers for some blocks, or `None` if a query runs into an error. Checks the interrupt before each
    /// upload and each submission.
    fn scan_on(
        &self,
        open: &OpenDevice,
        blocks: &[&Block],
        request: &BlockRequest<'_>,
    ) -> Result<Option<Vec<Vec<Answers>>>, GpuError> {
        let device = &open.device;
        let second = self.second(request.outputs);
        let first = self.hits.iter().map(|it| (&it.kernel, it.plan.columns.len()));
        let values = second.iter().filter_map(|it| it.values);
        let copies = second.iter().filter_map(|it| it.copies);
        let kernels: Vec<(&Kernel, usize)> = first
            .chain(values.map(|it| (&it.kernel, it.plan.columns.len())))
            .chain(copies.map(|(it, _)| (&it.kernel, it.plan.columns.len())))
            .collect();
        self.compile_all(device, &kernels[..self.hits.len()]);
        let width = kernels.iter().map(|(_, columns)| *columns).max().unwrap_or(0);
        let transposed = self.variant.transposed;
        let resident = open.residents.get(open, (blocks, transposed), self.number)?;
        self.uploaded.fetch_add(resident.as_ref().map_or(0, |resident| resident.sent), Ordering::Relaxed);
        let caps = caps(device, &kernels.iter().map(|(kernel, _)| *kernel).collect::<Vec<_>>(), width)?;
        let staged = || kernels.iter().map(|(kernel, _)| *kernel).filter(|kernel| kernel.carries_on_device());
        let on = match resident {
            Some(resident) if resident.uploads().iter().all(|(upload, _)| upload.is_within(&caps)) => {
                On::Resident(resident)
            }
            _ => {
                let uploads = uploads(blocks, &caps)?;
                let games = if staged().next().is_some() { whole_games(&uploads, blocks) } else { None };
                On::Sent { uploads, games, bytes: &self.uploaded }
            }
        };
        let carries = on.carries(device, staged());
        let mut contexts = contexts(blocks, request);
        let interrupt = request.switch();
        let mut card = OnCard { open, blocks, on, transposed, carries, interrupt, set: None };

        let mut all = Vec::with_capacity(self.plans.len());
        for Printed { plan, kernel } in &self.hits {
            contexts.iter_mut().for_each(|context| context.add_columns(&plan.columns));
            let staged = card.staged(kernel, plan.columns.len());
            carry::carry(device, staged, &mut contexts, |work| card.each(work))?;
            let mut hits = no_hits(blocks, kernel.outputs);
            card.each(&mut |upload, input, run| {
                carry::set(device, staged, (upload, input), &contexts, run)?;
                let pending = run.begin_hits(device, input, kernel)?;
                run.finish(device, pending, |bytes| store(upload, bytes, blocks, &mut hits))
            })?;
            all.extend(hits);
        }
        if is_stopped(&contexts, &card)? {
            return Ok(None);
        }
        for (query, (hits, &outputs)) in all.iter_mut().zip(request.outputs).enumerate() {
            for (index, (hits, block)) in hits.iter_mut().zip(blocks).enumerate() {
                request.select(index, block, query, hits);
                hits.set_kind(outputs, self.plans.ty(query));
            }
        }
        let mut told: Vec<Vec<Option<CopyHits>>> = vec![vec![None; blocks.len()]; self.plans.len()];
        for Second { query, values, copies } in second {
            if let Some(values) = values {
                add_values(values, &mut card, &mut contexts, &mut all[query])?;
            }
            if let Some((copies, detail)) = copies {
                let found = find_copies(copies, detail, &mut card, &mut contexts, &all[query])?;
                told[query] = found.into_iter().map(Some).collect();
            }
        }
        if is_stopped(&contexts, &card)? {
            return Ok(None);
        }
        card.done();
        device.save_pipelines();
        let mut out: Vec<Vec<Answers>> = blocks.iter().map(|_| Vec::with_capacity(all.len())).collect();
        for (hits, copies) in all.into_iter().zip(told) {
            for ((out, hits), copies) in out.iter_mut().zip(hits).zip(copies) {
                out.push(Answers::new(hits, copies));
            }
        }
        Ok(Some(out))
    }
}

/// Returns true if a query ran into an error, so that the results so far are incomplete. Fails if the search was interrupted.
fn is_stopped(contexts: &[Context<'_>], card: &OnCard<'_>) -> Result<bool, GpuError> {
    match contexts.iter().any(Context::is_stopped) {
        true if card.interrupt.is_set() => Err(GpuError::Interrupted),
        stopped => Ok(stopped),
    }
}

/// Runs the second pass for values: adds the values at the hits of a query on each block.
fn add_values(
    values: &Printed<Plan>,
    card: &mut OnCard<'_>,
    contexts: &mut [Context<'_>],
    hits: &mut [Hits],
) -> Result<(), GpuError> {
    let Printed { plan, kernel } = values;
    contexts.iter_mut().for_each(|context| context.add_columns(&plan.columns));
    let (device, staged) = (&card.open.device, card.staged(kernel, plan.columns.len()));
    carry::carry(device, staged, contexts, |work| card.each(work))?;
    card.each(&mut |upload, input, run| {
        let list = hits_of(upload, |block, segment| hits[block].bits[segment]);
        if list.is_empty() {
            return Ok(());
        }
        carry::set(device, staged, (upload, input), contexts, run)?;
        run.words(device, input, kernel, &list, |list, words| store_values(upload, list, words, hits))
    })
}

/// Runs the second pass for copies: returns the transformed patterns that match at the hits of a query in each block.
fn find_copies(
    copies: &Printed<CopiesPlan>,
    detail: CopyDetail,
    card: &mut OnCard<'_>,
    contexts: &mut [Context<'_>],
    hits: &[Hits],
) -> Result<Vec<CopyHits>, GpuError> {
    let Printed { plan, kernel } = copies;
    contexts.iter_mut().for_each(|context| context.add_columns(&plan.columns));
    let (device, staged) = (&card.open.device, card.staged(kernel, plan.columns.len()));
    carry::carry(device, staged, contexts, |work| card.each(work))?;
    let mut out: Vec<CopyHits> =
        hits.iter().map(|hits| CopyHits::new(plan.copies.len(), detail, hits)).collect();
    card.each(&mut |upload, input, run| {
        let list = hits_of(upload, |block, segment| hits[block].bits[segment]);
        if list.is_empty() {
            return Ok(());
        }
        let blocks: Vec<usize> = upload.segments().map(|(block, _)| block).collect();
        carry::set(device, staged, (upload, input), contexts, run)?;
        run.words(device, input, kernel, &list, |list, words| {
            let mut words = words.chunks_exact(plan.words.len());
            for &(segment, slots) in list {
                let words = words.by_ref().take(slots.count_ones() as usize);
                words.for_each(|words| out[blocks[segment as usize]].push_words(plan, words));
            }
        })
    })?;
    Ok(out)
}

/// The blocks of a search, in uploads that are on the device or are sent to it. A single upload stays on the device
/// until all passes are done. If there are several, each is sent again for each pass.
struct OnCard<'a> {
    open: &'a OpenDevice,
    blocks: &'a [&'a Block],
    on: On<'a>,
    transposed: bool,
    /// True if the device, not the processor, propagates the results of stages (parts of programs that run before the rest) along
    /// the games of all uploads.
    carries: bool,
    interrupt: Interrupt,
    set: Option<Lent<'a>>,
}

/// The uploads of the blocks.
enum On<'a> {
    /// The uploads (batches of blocks) stay on the device, where other queries can use them too.
    Resident(InUse),
    /// The uploads are sent in buffers that other queries also use. `games` contains, for each upload, the range of
    /// slots of each game. It is `None` if no stage needs these ranges, or if the device cannot propagate results along
    /// all games. `bytes` counts the uploaded bytes.
    Sent { uploads: Vec<Upload>, games: Option<Vec<Vec<GameSlots>>>, bytes: &'a AtomicU64 },
}

impl On<'_> {
    fn len(&self) -> usize {
        match self {
            On::Resident(resident) => resident.uploads().len(),
            On::Sent { uploads, .. } => uploads.len(),
        }
    }

    /// Returns true if the device can propagate the results of the stages of kernels along the games of all uploads.
    fn carries<'k>(&self, device: &Device, kernels: impl Iterator<Item = &'k Kernel>) -> bool {
        match self {
            On::Resident(resident) => carries(device, kernels, resident.uploads()),
            On::Sent { games: None, .. } => false,
            On::Sent { uploads, games: Some(games), .. } => {
                let sizes = uploads.iter().zip(games).map(|(upload, games)| (upload.segments, games.len()));
                has_room(device, kernels, sizes)
            }
        }
    }
}

/// Returns, for each upload, the range of slots of each game. Returns `None` if the device cannot propagate results
/// along all of these games.
fn whole_games(uploads: &[Upload], blocks: &[&Block]) -> Option<Vec<Vec<GameSlots>>> {
    uploads.iter().map(|upload| upload.whole_games(blocks)).collect()
}

impl<'a> OnCard<'a> {
    /// Returns a kernel with the settings for its stages (the parts of its plan that run before the rest). `columns` is
    /// the number of per-game columns that the program reads.
    fn staged<'k>(&self, kernel: &'k Kernel, columns: usize) -> Staged<'k> {
        Staged { kernel, columns, on_device: self.carries && kernel.carries_on_device() }
    }

    /// Calls `work` for each upload (a batch of blocks) while the upload is on the device.
    fn each(&mut self, work: &mut OnUpload<'_>) -> Result<(), GpuError> {
        for index in 0..self.on.len() {
            let mut set = match self.set.take() {
                Some(set) => set,
                None => self.set_of(index)?,
            };
            let (input, run): (&mut KernelInput, &mut KernelRun) = set.parts();
            match &self.on {
                On::Resident(resident) => {
                    let (upload, input) = &resident.uploads()[index];
                    work(upload, input, run)?;
                }
                On::Sent { uploads, .. } => work(&uploads[index], input, run)?,
            }
            if self.on.len() == 1 {
                self.set = Some(set);
            } else {
                set.done();
            }
        }
        Ok(())
    }

    /// Returns a buffer set that holds an upload (a batch of blocks). The upload is sent to the device if it is not already
    /// there.
    fn set_of(&self, index: usize) -> Result<Lent<'a>, GpuError> {
        let mut set = self.open.set(&self.interrupt);
        let (input, run) = set.parts();
        match &self.on {
            // The buffer set may contain columns that were propagated along the games of an earlier upload.
            On::Resident(_) => run.forget_carried(),
            On::Sent { uploads, games, bytes } => {
                let upload = &uploads[index];
                run.upload(&self.open.device, input, (upload, self.transposed), self.blocks)?;
                let games = games.as_ref().filter(|_| self.carries).map(|games| &games[index]);
                if let Some(games) = games {
                    input.set_games(&self.open.device, games)?;
                }
                let of_games = GAME_BYTES * games.map_or(0, Vec::len) as u64;
                let all = pack::bytes(upload.segments, upload.starts) + of_games;
                bytes.fetch_add(all, Ordering::Relaxed);
            }
        }
        Ok(set)
    }

    /// Releases the buffer set for use by other threads.
    fn done(self) {
        self.set.into_iter().for_each(Lent::done);
    }
}

/// Stores the values at the hits of an upload in the [`Hits`] of the corresponding blocks.
fn store_values(upload: &Upload, hits: &[(u32, u32)], words: &[u64], out: &mut [Hits]) {
    let mut words = words.iter();
    let mut slices = upload.slices.iter();
    let (mut first, mut slice) = (0, slices.next().expect("an upload has a slice"));
    for &(segment, slots) in hits {
        while segment as usize - first >= slice.segments.len() {
            first += slice.segments.len();
            slice = slices.next().expect("hits are those of the upload's slices");
        }
        let slot = (slice.segments.start + segment as usize - first) * SEGMENT_SLOTS;
        for i in (0..SEGMENT_SLOTS).filter(|i| slots >> i & 1 != 0) {
            let word = *words.next().expect("each hit has a word");
            match &mut out[slice.block].values {
                Values::Numbers(numbers) => numbers.push(slot + i, word as i32),
                Values::Sets(sets) => sets.push(slot + i, word),
                Values::None | Values::Texts(_) => {}
            }
        }
    }
}

impl Engine for Gpu {
    fn info(&self) -> EngineInfo {
        let (uploaded, resident) = (self.uploaded.load(Ordering::Relaxed), self.device.resident_bytes());
        EngineInfo {
            blocks_at_once: BLOCKS_AT_ONCE,
            card: Some(CardUse { uploaded, resident }),
            ..EngineInfo::plain("gpu", self.plans.copy_counts())
        }
    }

    fn scan(&self, blocks: &[&Block], request: &BlockRequest<'_>) -> Result<Vec<Vec<Answers>>, EngineError> {
        match self.device.attempt(|open| self.scan_on(open, blocks, request)) {
            Err(GpuError::Interrupted) => Err(EngineError::Interrupted),
            answers => answers?.ok_or(EngineError::Stopped),
        }
    }
}
