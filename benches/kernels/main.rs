//! Compiles the kernels of some queries for graphics cards, and lists the registers, spills and instructions of each. No card
//! is needed. See `benches/README.md`.
//!
//! RADV, Mesa's driver for AMD's cards, can compile for any of these cards on a machine without one (`RADV_FORCE_FAMILY`), and
//! reports how many registers and instructions a pipeline has. Nothing is executed: the driver offers a device, but the device
//! has no memory and no queue that works. wgpu cannot open such a device, so Vulkan is called directly.

mod assembly;
mod radv;
mod table;

use std::collections::HashSet;
use std::path::Path;
use std::process::{Command, ExitCode};

use orbit_engine::{PreparedQuery, gpu::Gpu, gpu::Variant, plans};
use orbit_plan::PlanOptions;
use table::{Row, Table};

/// The GPU families for which kernels are compiled: RDNA2 and GCN.
const FAMILIES: [&str; 2] = ["navi21", "vega10"];

/// The environment variable that selects the family for a child process.
const FAMILY: &str = "ORBIT_KERNELS_FAMILY";

/// The environment variable that names a folder into which the machine code of each shader is written as text.
const ASSEMBLY: &str = "ORBIT_KERNELS_ASSEMBLY";

/// The names and texts of the queries whose kernels are compiled. `benches/card` includes the same file.
const QUERIES: &str = include_str!("queries.tsv");

/// The shader with which `benches/card` measures a card's instruction rate.
const FLOORS: &str = include_str!("../card/floors.wgsl");

/// Shader branches that few positions take: each with its function, its text, and the text that replaces it. They handle castling
/// and captures en passant, the end of a game, and legal moves in check.
const RARE: [(&str, &str, &str); 3] = [
    ("fn play(", "if (code == CASTLE || code == EN_PASSANT) {", "if (false) {"),
    ("fn advance(", "if (is_last_of_line(at)) {", "if (false) {"),
    (
        "fn no_moves(",
        "var out = NONE;\n    if (!is_empty(within) && !is_empty(kings_of(at.board, (at.state & 1u) != 0u))) {",
        "var out = within;\n    if (false) {",
    ),
];

const USAGE: &str =
    "usage: cargo bench --features full --bench kernels -- check | update | print [PART OF A NAME]...";

fn main() -> ExitCode {
    let mut args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if let Ok(family) = std::env::var(FAMILY) {
        return finish(measure(&family, &args));
    }
    match args.first().map(String::as_str) {
        Some("check") if args.len() == 1 => finish(all(&[]).and_then(|table| table.check())),
        Some("update") if args.len() == 1 => finish(all(&[]).and_then(|table| table.write())),
        Some("print") => {
            let names = args.split_off(1);
            finish(all(&names).map(|table| print!("{table}")))
        }
        // Without `--bench`, cargo runs this program as a test, and there is nothing to test.
        None => ExitCode::SUCCESS,
        Some(_) => finish(Err(USAGE.into())),
    }
}

fn finish(done: Result<(), String>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the rows of all families. Each family has its own process, because the driver reads the family name from the
/// environment.
fn all(names: &[String]) -> Result<Table, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut table = Table::default();
    for family in FAMILIES {
        let mut child = Command::new(&program);
        child.args(names).env(FAMILY, family).env("RADV_FORCE_FAMILY", family);
        // The driver reports no statistics for a cached pipeline, so the cache is turned off.
        child
            .env("RADV_DEBUG", "nocache")
            .env("VK_DRIVER_FILES", radv::DRIVER)
            .env("VK_ICD_FILENAMES", radv::DRIVER);
        let output =
            child.stderr(std::process::Stdio::inherit()).output().map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(format!("{family}: {}", output.status));
        }
        table.extend(&String::from_utf8_lossy(&output.stdout))?;
    }
    Ok(table)
}

/// Prints the rows of one family.
fn measure(family: &str, names: &[String]) -> Result<(), String> {
    let compiler = radv::Compiler::open()?;
    println!("# {}", compiler.version);
    let is_wanted = |name: &str| names.is_empty() || names.iter().any(|part| name.contains(part.as_str()));
    if is_wanted("floor") {
        let what = format!("{family} floor");
        let made = compile(&compiler, &FLOORS.replace("fn compute(", "fn main("), &what)?;
        let turn = assembly::vector_per_turn(&made.assembly).ok_or_else(|| format!("{what}: no loop"))?;
        println!("{}", Row::new(family, "floor", 0, "floor", &made, Some(turn))?);
    }
    let list = QUERIES.lines().filter_map(|line| line.split_once('\t'));
    let list = list.map(|(name, query)| (name.to_string(), vec![query.to_string()]));
    let alone = list.clone().count();
    for (k, (name, queries)) in list.chain(groups()).enumerate() {
        if !is_wanted(&name) {
            continue;
        }
        for (place, (kernel, wgsl)) in shaders(&queries)?.into_iter().enumerate() {
            let what = format!("{family} {name}, shader {place}");
            let made = compile(&compiler, &wgsl, &what)?;
            save(&format!("{family}-{name}-{place}"), &made)?;
            let is_replayed = kernel != "carry" && assembly::vector_per_position(&made.assembly).is_some();
            let common = (k < alone && is_replayed).then(|| common(&wgsl)).transpose()?;
            let common = common.map(|wgsl| compile(&compiler, &wgsl, &what)).transpose()?;
            if let Some(made) = &common {
                save(&format!("{family}-{name}-{place}-common"), made)?;
            }
            let common = common.and_then(|made| assembly::vector_per_replayed_position(&made.assembly));
            let row = Row::new(family, &name, place, kernel, &made, common);
            println!("{}", row.map_err(|error| format!("{what}: {error}"))?);
        }
    }
    Ok(())
}

/// Compiles a shader. `what` names it in messages.
fn compile(compiler: &radv::Compiler, wgsl: &str, what: &str) -> Result<radv::Made, String> {
    let words = spirv(wgsl).map_err(|error| format!("{what}: {error}"))?;
    compiler.compile(&words).map_err(|error| format!("{what}: {error}"))
}

/// Writes a shader's machine code to the folder that the environment names, if any.
fn save(name: &str, made: &radv::Made) -> Result<(), String> {
    let Some(folder) = std::env::var_os(ASSEMBLY) else { return Ok(()) };
    let file = Path::new(&folder).join(format!("{name}.asm"));
    std::fs::write(file, &made.assembly).map_err(|error| error.to_string())
}

/// Returns a shader that computes positions from moves, without the branches that few positions take. For any position, a card
/// executes at least the instructions of this shader.
fn common(wgsl: &str) -> Result<String, String> {
    let mut out = wgsl.to_string();
    for (function, branch, without) in RARE.iter().filter(|(function, _, _)| wgsl.contains(function)) {
        if wgsl.matches(branch).count() != 1 {
            return Err(format!("`{function}` has not the branch that few positions take: {branch}"));
        }
        out = out.replace(branch, without);
    }
    Ok(out)
}

/// Returns the groups of queries, each with its name. The queries of a group run together and share kernels.
fn groups() -> [(String, Vec<String>); 2] {
    let fifty = include_str!("../targets/queries.txt").lines().filter_map(|line| line.split_once('\t'));
    let fifty = fifty.map(|(_, query)| query.to_string()).collect();
    let themes = orbit_search::themes::built_in().into_iter().map(|theme| theme.query.clone()).collect();
    [("fifty".into(), fifty), ("themes".into(), themes)]
}

/// Returns the distinct shaders of some queries with their kinds, in the order of their first run.
fn shaders(queries: &[String]) -> Result<Vec<(&'static str, String)>, String> {
    let prepared =
        queries.iter().filter_map(|text| prepared(text).transpose()).collect::<Result<Vec<_>, _>>()?;
    let plans = plans(&prepared).map_err(|error| error.to_string())?;
    let mut out: Vec<(&str, String)> = Vec::new();
    for kernel in Gpu::kernels(&plans, Variant::default()) {
        let count = kernel.all().count();
        out.extend(kernel.carriers().into_iter().map(|wgsl| ("carry", wgsl)));
        let kinds = (1..=count).map(|place| if place == count { "hits" } else { "stage" });
        out.extend(kinds.zip(kernel.all()).map(|(kind, kernel)| (kind, kernel.wgsl.clone())));
    }
    // A device compiles equal shaders only once, so repetitions are removed.
    let mut known = HashSet::new();
    out.retain(|(_, wgsl)| known.insert(wgsl.clone()));
    Ok(out)
}

/// Prepares a query. Returns `None` if it has no plan.
fn prepared(text: &str) -> Result<Option<PreparedQuery>, String> {
    let query = orbit_query::parse(text).map_err(|error| format!("{text}: {error}"))?.query;
    let prepared =
        PreparedQuery::new(query, PlanOptions::default()).map_err(|error| format!("{text}: {error}"))?;
    Ok(prepared.plans().is_ok().then_some(prepared))
}

/// Returns a shader's SPIR-V, as wgpu generates it for a Vulkan driver that checks buffer accesses itself.
fn spirv(wgsl: &str) -> Result<Vec<u32>, String> {
    use wgpu::naga::{
        ShaderStage,
        back::spv,
        front::wgsl,
        proc::{BoundsCheckPolicies, BoundsCheckPolicy},
        valid::{Capabilities, ValidationFlags, Validator},
    };
    let module = wgsl::parse_str(wgsl).map_err(|error| error.emit_to_string(wgsl))?;
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
    let info = validator.validate(&module).map_err(|error| error.emit_to_string(wgsl))?;
    let policies = BoundsCheckPolicies {
        index: BoundsCheckPolicy::Restrict,
        buffer: BoundsCheckPolicy::Unchecked,
        image_load: BoundsCheckPolicy::Unchecked,
        binding_array: BoundsCheckPolicy::Unchecked,
    };
    let options = spv::Options {
        lang_version: (1, 6),
        flags: spv::WriterFlags::empty(),
        bounds_check_policies: policies,
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
        force_loop_bounding: false,
        ..Default::default()
    };
    let pipeline = spv::PipelineOptions { shader_stage: ShaderStage::Compute, entry_point: "main".into() };
    spv::write_vec(&module, &info, &options, Some(&pipeline)).map_err(|error| error.to_string())
}
