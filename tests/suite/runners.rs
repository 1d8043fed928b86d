//! Defines all ways to run a query: the engines, and variants of `cpu` and `gpu` with optimisations disabled.

use std::sync::{Arc, OnceLock};

use orbit_engine::{
    Answer, Engine, Hits, PreparedQuery, Values, Wants,
    cpu::{Cpu, Isa, MachineCode},
    gpu::{GpuDevice, GpuError, GpuLimits, GpuOptions, Variant},
    reference::Bulk,
};
use orbit_plan::PlanOptions;
use orbit_query::{Type, TypedQuery};
use orbit_reel::Block;
use shakmaty::Bitboard;

use crate::common::{
    harness::GPU,
    length::{length, only_in_its_part},
};

/// A way to run a query.
#[derive(Clone, Debug)]
pub struct Runner {
    pub name: String,
    way: Way,
}

#[derive(Clone, Debug)]
enum Way {
    Reference,
    Cpu(PlanOptions, Isa, MachineCode),
    Gpu(PlanOptions, Arc<GpuDevice>, Variant),
}

/// Opens a device. If there is no adapter, the test is ignored.
pub fn open_device(options: GpuOptions) -> Arc<GpuDevice> {
    GPU.met(device_if_any(options))
}

/// Opens a device. Returns `None` if there is no adapter and none is required.
fn device_if_any(options: GpuOptions) -> Option<Arc<GpuDevice>> {
    match GpuDevice::open(options) {
        Ok(device) => Some(Arc::new(device)),
        #[cfg(not(feature = "gpu"))]
        Err(GpuError::NotBuilt) => None,
        Err(GpuError::NoAdapter) if !GPU.is_required() => None,
        Err(error) => panic!("{error}"),
    }
}

/// Returns the device options for tests. All bits of output buffers are set before use. `ORBIT_TEST_ADAPTER` selects the adapter,
/// like the option `--gpu`.
pub fn device_options(limits: GpuLimits) -> GpuOptions {
    let mut options = GpuOptions::default();
    (options.limits, options.poison) = (limits, true);
    if let Ok(name) = std::env::var("ORBIT_TEST_ADAPTER") {
        options.adapter = name.parse().expect("any text is a choice");
    }
    options
}

/// Limits that force the engine to split its work: bindings of 64 KiB, three workgroups per dispatch, and 1 MiB in total.
pub const TIGHT: GpuLimits = GpuLimits { binding_bytes: 64 << 10, workgroups: 3, memory_bytes: 1 << 20 };

/// Returns the device that all tests share.
fn shared_device() -> Option<Arc<GpuDevice>> {
    static DEVICE: OnceLock<Option<Arc<GpuDevice>>> = OnceLock::new();
    DEVICE.get_or_init(|| device_if_any(device_options(GpuLimits::default()))).clone()
}

/// Returns the device with the limits [`TIGHT`], which all tests share.
fn tight_device() -> Option<Arc<GpuDevice>> {
    static DEVICE: OnceLock<Option<Arc<GpuDevice>>> = OnceLock::new();
    DEVICE.get_or_init(|| device_if_any(device_options(TIGHT))).clone()
}

/// The name of an optimisation, and the function that disables it.
type Switch = (&'static str, fn(&mut PlanOptions));

pub const OPTIMISATIONS: [Switch; 12] = [
    ("anchors", |options| options.anchors = false),
    ("grids", |options| options.grids = false),
    ("tables", |options| options.tables = false),
    ("sharing", |options| options.sharing = false),
    ("simplify", |options| options.simplify = false),
    ("pointwise", |options| options.pointwise = false),
    ("chains", |options| options.chains = false),
    ("unrolling", |options| options.unrolling = false),
    ("screens", |options| options.screens = false),
    ("guards", |options| options.guards = false),
    ("programs", |options| options.programs = false),
    ("direct", |options| options.direct = false),
];

/// The names of the engines, which are also part of the names of table rows.
pub const ENGINES: [&str; 3] = ["reference", "cpu", "gpu"];

/// The mask that switches off all optimisations.
pub const NONE: u32 = (1 << OPTIMISATIONS.len()) - 1;

/// Returns options that disable the optimisations whose bits are set in `mask`.
pub fn without(mask: u32) -> PlanOptions {
    let mut options = PlanOptions::default();
    for (index, (_, switch_off)) in OPTIMISATIONS.iter().enumerate() {
        if mask >> index & 1 != 0 {
            switch_off(&mut options);
        }
    }
    options
}

impl Runner {
    pub fn reference() -> Runner {
        Runner { name: "reference".into(), way: Way::Reference }
    }

    /// Returns `cpu` with the optimisations in `mask` disabled, and with as much machine code as possible.
    pub fn cpu(mask: u32) -> Runner {
        let way = Way::Cpu(without(mask), Isa::detected(), MachineCode::Always);
        Runner { name: named("cpu", mask), way }
    }

    /// Returns `cpu` without machine code.
    pub fn kernels() -> Runner {
        Runner::kernels_for(Isa::detected())
    }

    fn kernels_for(isa: Isa) -> Runner {
        let way = Way::Cpu(without(0), isa, MachineCode::Never);
        Runner { name: format!("cpu by kernels for {}", isa.name()), way }
    }

    /// Returns `cpu` for each instruction set of this processor, with and without machine code, except for the default
    /// combination.
    pub fn other_instructions() -> impl Iterator<Item = Runner> {
        let others = Isa::available().into_iter().filter(|&isa| isa != Isa::detected());
        let others = others.map(|isa| {
            let way = Way::Cpu(without(0), isa, MachineCode::Always);
            Runner { name: format!("cpu for {}", isa.name()), way }
        });
        Isa::available().into_iter().map(Runner::kernels_for).chain(others)
    }

    /// Returns `gpu` with the usual and with tight limits. If there is no adapter, the test is ignored.
    #[cfg(feature = "gpu")]
    pub fn both_gpus() -> [Runner; 2] {
        [Runner::gpu(0), Runner::tight_gpu()].map(|runner| GPU.met(runner))
    }

    /// Returns `gpu` with the optimisations in `mask` disabled; `None` if there is no adapter.
    pub fn gpu(mask: u32) -> Option<Runner> {
        Runner::variant(mask, Variant::default())
    }

    /// Returns `gpu` with kernels of the given variant; `None` if there is no adapter or it cannot run the variant.
    pub fn variant(mask: u32, variant: Variant) -> Option<Runner> {
        let mut name = named("gpu", mask);
        if variant != Variant::default() {
            name += &format!(" {variant}");
        }
        Runner::on(shared_device()?, name, mask, variant)
    }

    /// Returns `gpu` with the limits [`TIGHT`], which force the engine to split its work.
    pub fn tight_gpu() -> Option<Runner> {
        Runner::tight_variant(Variant::default())
    }

    /// Returns `gpu` with the limits [`TIGHT`] and with kernels of the given variant.
    pub fn tight_variant(variant: Variant) -> Option<Runner> {
        let name = match variant == Variant::default() {
            true => "gpu within tight limits".into(),
            false => format!("gpu {variant} within tight limits"),
        };
        Runner::on(tight_device()?, name, 0, variant)
    }

    fn on(device: Arc<GpuDevice>, name: String, mask: u32, variant: Variant) -> Option<Runner> {
        let is_fit = variant.unfit(&device.report()).is_none();
        is_fit.then(|| Runner { name, way: Way::Gpu(without(mask), device, variant) })
    }

    pub fn every_variant() -> Vec<Variant> {
        let Some(device) = shared_device() else { return Vec::new() };
        let report = device.report();
        Variant::every().into_iter().filter(|variant| variant.unfit(&report).is_none()).collect()
    }

    /// Returns two runners whose kernels together differ from the default in everything: lanes, words, layouts and loops.
    pub fn other_kernels() -> impl Iterator<Item = Runner> {
        let variant = |name: &str| name.parse::<Variant>().expect("it is a variant");
        let shared = Runner::variant(0, variant("lanes2,transposed,wg128,u64,segments4"));
        shared.into_iter().chain(Runner::tight_variant(variant("lanes2,wg32,segments2,looped")))
    }

    /// Returns `gpu` with the kernel variant in which the processor propagates the results of stages (parts of plans that run
    /// first) along games.
    pub fn host_carry() -> Option<Runner> {
        Runner::variant(0, "hostcarry".parse().expect("it is a variant"))
    }

    /// Returns the engines as users run them.
    pub fn engines() -> Vec<Runner> {
        [Runner::reference(), Runner::cpu(0)].into_iter().chain(Runner::gpu(0)).collect()
    }

    /// Returns all runners for the trial (piece of work) `number`, which determines if the trial is long or short.
    pub fn all(number: usize) -> Vec<Runner> {
        ENGINES.into_iter().flat_map(|engine| Runner::for_engine(engine, number)).collect()
    }

    /// Returns the runners for one of the [`ENGINES`]. `cpu` also runs with other instruction sets, with each optimisation
    /// disabled, and with all of them disabled. A long trial (piece of work) adds `cpu` with each pair of optimisations disabled.
    /// It also adds `gpu` with all optimisations disabled, within tight limits, with other kernels, and with the kernel variant
    /// in which the processor propagates the results of stages (parts of plans that run first).
    pub fn for_engine(engine: &str, number: usize) -> Vec<Runner> {
        let is_long = length().is_long(number);
        match engine {
            "reference" => vec![Runner::reference()],
            "cpu" => {
                let pairs = (1..=NONE).filter(|mask| is_long && mask.count_ones() == 2).map(Runner::cpu);
                [Runner::cpu(0)].into_iter().chain(Runner::reduced()).chain(pairs).collect()
            }
            "gpu" if is_long => {
                let narrow = Runner::gpu(NONE).into_iter().chain(Runner::tight_gpu());
                let others = narrow.chain(Runner::host_carry()).chain(Runner::other_kernels());
                Runner::gpu(0).into_iter().chain(others).collect()
            }
            "gpu" => Runner::gpu(0).into_iter().collect(),
            other => panic!("{other} is no engine"),
        }
    }

    /// Returns the runners for a test. The test is ignored if there are none, or if it tests `gpu` and another part of a long run
    /// executes it.
    pub fn needed(engine: &str, number: usize) -> Vec<Runner> {
        if engine == "gpu" {
            only_in_its_part(number);
        }
        let runners = Runner::for_engine(engine, number);
        GPU.met((!runners.is_empty()).then_some(runners))
    }

    /// Returns `cpu` with other instruction sets, with each optimisation disabled, and with all of them disabled.
    pub fn reduced() -> Vec<Runner> {
        let masks = (0..OPTIMISATIONS.len()).map(|index| 1 << index).chain([NONE]);
        Runner::other_instructions().chain(masks.map(Runner::cpu)).collect()
    }

    /// Returns an engine for a query, or a message that explains why there is none.
    pub fn engine(&self, query: &TypedQuery) -> Result<Box<dyn Engine>, String> {
        let prepared =
            |options| PreparedQuery::new(query.clone(), options).map_err(|error| error.to_string());
        Ok(match &self.way {
            Way::Reference => Box::new(Bulk::new([query]).map_err(|error| error.to_string())?),
            Way::Cpu(options, isa, code) => {
                Box::new(Cpu::with(prepared(*options)?.plans().unwrap(), *isa, *code))
            }
            Way::Gpu(options, device, variant) => {
                let gpu = prepared(*options)?.gpu_with(device, *variant);
                Box::new(gpu.map_err(|error| error.to_string())?)
            }
        })
    }

    /// Returns true if a query can be parsed but the engine cannot run it.
    pub fn refuses(&self, text: &str) -> bool {
        let options = match self.way {
            Way::Reference => return false,
            Way::Cpu(options, ..) | Way::Gpu(options, ..) => options,
        };
        let Ok(parsed) = orbit_query::parse(text) else { return false };
        let is_gpu = matches!(self.way, Way::Gpu(..));
        PreparedQuery::new(parsed.query, options)
            .is_ok_and(|prepared| prepared.planner.refusal().is_some() || is_gpu && prepared.lasts())
    }

    /// Returns the value of a query at every slot (position) of a block (group of games).
    pub fn answers(&self, text: &str, block: &Block) -> Result<Vec<Answer>, String> {
        self.answers_of(&orbit_query::parse(text).map_err(|error| error.to_string())?.query, block)
    }

    /// Returns the answers to a parsed query.
    pub fn answers_of(&self, query: &TypedQuery, block: &Block) -> Result<Vec<Answer>, String> {
        let answers = self.engine(query)?.answer(block, Wants::VALUES).map_err(|error| error.to_string())?;
        let hits = answers.hits;
        Ok((0..block.slots()).map(|slot| answer(&hits, slot, query.body.ty())).collect())
    }
}

fn named(engine: &str, mask: u32) -> String {
    let off = OPTIMISATIONS.iter().enumerate().filter(|(index, _)| mask >> index & 1 != 0);
    off.fold(engine.into(), |name, (_, (off, _))| format!("{name} -{off}"))
}

/// Returns the value at one slot.
pub fn answer(hits: &Hits, slot: usize, ty: Type) -> Answer {
    let hit = hits.contains(slot);
    match &hits.values {
        Values::Sets(sets) => {
            assert!(hit || sets.at(slot) == 0, "a set that has a square is a hit");
            Answer::Set(Bitboard(sets.at(slot)))
        }
        Values::Numbers(numbers) => Answer::Num(hit.then(|| numbers[slot])),
        Values::None | Values::Texts(_) => {
            assert!(matches!(ty, Type::Bool | Type::Str), "no values came back");
            Answer::Bool(hit)
        }
    }
}

/// Formats an answer in the notation of the tables of expected values. `reading` is the type as which it is printed: `bool`, `set`
/// or `num`.
pub fn print(answer: Answer, reading: &str) -> String {
    match (reading, answer) {
        ("bool", answer) => if answer.is_hit() { "T" } else { "F" }.into(),
        ("set", Answer::Set(squares)) => {
            let names: Vec<String> = squares.into_iter().map(|square| square.to_string()).collect();
            if names.len() > 1 { format!("[{}]", names.join(",")) } else { names.concat() }
        }
        ("num", Answer::Num(Some(value))) => value.to_string(),
        ("num", Answer::Num(None)) => "nomatch".into(),
        (reading, answer) => format!("{answer:?} where {reading} is expected"),
    }
}

/// Returns the name of an answer's own type: `bool`, `set` or `num`.
pub fn reading(answer: Answer) -> &'static str {
    match answer {
        Answer::Bool(_) => "bool",
        Answer::Set(_) => "set",
        Answer::Num(_) => "num",
    }
}
