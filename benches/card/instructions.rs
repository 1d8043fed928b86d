//! Computes the minimum number of instructions that a card executes for a position.
//!
//! wgpu does not report instruction counts, so they come from two tables. The bench `kernels` writes the table of AMD's cards,
//! and `instructions.tsv` is the table of NVIDIA's cards. Both count the instructions of compiled kernels without the branches
//! that few positions take. A card executes at least these instructions. The kernel that measures the speed of the card is
//! counted in the same way.

use orbit_engine::gpu::Variant;

/// The queries that have rows in the tables: names and texts.
const QUERIES: &str = include_str!("../kernels/queries.tsv");
const AMD: &str = include_str!("../kernels.tsv");
const NVIDIA: &str = include_str!("instructions.tsv");

/// The name of the table rows for `compute` in floors.wgsl.
const FLOOR: &str = "floor";

/// A manufacturer of graphics cards. Manufacturers for whose cards an instruction table exists have their own variant.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Vendor {
    Amd,
    Nvidia,
    /// A manufacturer without a table. The instruction count of a query's kernel is then the smallest in any table, and that of
    /// the kernel that measures the card's speed is the largest. This underestimates, rather than overestimates, the share of the
    /// speed that a query uses.
    #[default]
    Other,
}

impl Vendor {
    /// Returns the manufacturer of an adapter, given the names of the adapter and of its driver.
    pub fn from_driver(name: &str, driver: &str) -> Vendor {
        let words = format!("{name} {driver}").to_ascii_lowercase();
        let is = |names: &[&str]| {
            words.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| names.contains(&word))
        };
        match (is(&["nvidia", "geforce"]), is(&["amd", "radeon", "radv"])) {
            (true, false) => Vendor::Nvidia,
            (false, true) => Vendor::Amd,
            _ => Vendor::Other,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Vendor::Amd => "AMD",
            Vendor::Nvidia => "NVIDIA",
            Vendor::Other => "other",
        }
    }

    /// Returns the instruction counts of a kernel in the tables for this manufacturer.
    fn counts(self, kernel: &str) -> impl Iterator<Item = f64> {
        let (amd, nvidia) = (column(AMD, "common"), column(NVIDIA, "sm_90"));
        let amd = amd.filter(move |_| self != Vendor::Nvidia);
        amd.chain(nvidia.filter(move |_| self != Vendor::Amd))
            .filter(move |(name, _)| *name == kernel)
            .filter_map(|(_, count)| count.parse().ok())
    }
}

/// Returns the kernel name and the cell in the column `name` for each row of a table. For a query with several shaders, only the
/// row of the first shader is returned.
fn column(table: &'static str, name: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut lines = table.lines().filter(|line| !line.starts_with("# "));
    let head: Vec<&str> = lines.next().into_iter().flat_map(|line| line.split('\t')).collect();
    let place = |name: &str| head.iter().position(|known| *known == name);
    let kernel = place("query").or(place("kernel")).expect("a table has a column for the kernel");
    let shader = place("shader");
    let cell = place(name).expect("a table has this column");
    lines.filter_map(move |line| {
        let cells: Vec<&str> = line.split('\t').collect();
        shader.is_none_or(|shader| cells[shader] == "0").then(|| (cells[kernel], cells[cell]))
    })
}

/// Returns the minimum number of instructions that a card of this manufacturer executes per position; `None` if no table has the
/// query. The counts are for the default kernel variant. Other variants may need up to 2 % fewer instructions, but the uncounted
/// branches outweigh this. The variant `u64` needs far fewer instructions, so the result for it is `None`.
pub fn per_position(query: &str, variant: Variant, vendor: Vendor) -> Option<f64> {
    let known = QUERIES.lines().filter_map(|line| line.split_once('\t'));
    let (kernel, _) = known.filter(|_| !variant.wide).find(|(_, text)| *text == query)?;
    vendor.counts(kernel).reduce(f64::min)
}

/// Returns the number of instructions that one loop iteration of `compute` in floors.wgsl executes.
pub fn per_turn(vendor: Vendor) -> f64 {
    vendor.counts(FLOOR).reduce(f64::max).expect("the tables have the row `floor`")
}

/// Returns the kernels that have changed since the instructions for NVIDIA's table were counted.
pub fn changed() -> Vec<&'static str> {
    let then = column(NVIDIA, "navi21").zip(column(NVIDIA, "sm_90")).filter(|(_, (_, count))| *count != "-");
    let now = |kernel: &str| column(AMD, "common").find(|(name, _)| *name == kernel).map(|(_, count)| count);
    then.map(|(row, _)| row).filter(|(name, count)| now(name) != Some(count)).map(|(name, _)| name).collect()
}
