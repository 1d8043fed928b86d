//! Computes the minimum number of instructions that a card executes for a position.
//!
//! wgpu does not report instruction counts, so they come from two tables. The bench `kernels` writes the table of AMD's cards,
//! and `instructions.tsv` is the table of NVIDIA's cards. Both count the instructions of compiled kernels without the branches
//! that few positions take. A card executes at least these instructions. The kernel that measures the speed of the card is
//! counted in the same way.

use orbit_engine::gpu::Variant;

/// The names and texts of the queries that have rows in the tables.
const QUERIES: &str = include_str!("../kernels/queries.tsv");
const AMD: &str = include_str!("../kernels.tsv");
const NVIDIA: &str = include_str!("instructions.tsv");

/// The name of the rows about `compute` in floors.wgsl.
const FLOOR: &str = "floor";

/// A maker of graphics cards. Each maker whose cards have a table of instructions has a variant.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Vendor {
    Amd,
    Nvidia,
    /// A maker without a table. A query's kernel gets the smallest of its counts in all tables, and the kernel that measures
    /// the speed of the card gets the largest of its counts. So the computed share of that speed is too low rather than too
    /// high.
    #[default]
    Other,
}

impl Vendor {
    /// Returns the maker of an adapter, from the name of the adapter and that of its driver.
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

    /// Returns the instruction counts of a kernel in this maker's tables.
    fn counts(self, kernel: &str) -> impl Iterator<Item = f64> {
        let (amd, nvidia) = (column(AMD, "common"), column(NVIDIA, "sm_90"));
        let amd = amd.filter(move |_| self != Vendor::Nvidia);
        amd.chain(nvidia.filter(move |_| self != Vendor::Amd))
            .filter(move |(name, _)| *name == kernel)
            .filter_map(|(_, count)| count.parse().ok())
    }
}

/// Returns, for each row of a table, the name of the kernel and the cell in a column. If a query has several shaders, only the
/// first one is used.
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

/// Returns the minimum number of instructions that a card of this maker executes for a position; `None` if no table has the
/// query. The counts are those of the default variant. Other variants may have up to 2 % fewer instructions, but the branches
/// that are not counted have more than that. Only the variant `u64` has far fewer instructions, so there is no number for it.
pub fn per_position(query: &str, variant: Variant, vendor: Vendor) -> Option<f64> {
    let known = QUERIES.lines().filter_map(|line| line.split_once('\t'));
    let (kernel, _) = known.filter(|_| !variant.wide).find(|(_, text)| *text == query)?;
    vendor.counts(kernel).reduce(f64::min)
}

/// Returns the number of instructions that an invocation of `compute` in floors.wgsl executes in a turn of its loop.
pub fn per_turn(vendor: Vendor) -> f64 {
    vendor.counts(FLOOR).reduce(f64::max).expect("the tables have the row `floor`")
}

/// Returns the kernels that have changed since the instructions in NVIDIA's table were counted.
pub fn changed() -> Vec<&'static str> {
    let then = column(NVIDIA, "navi21").zip(column(NVIDIA, "sm_90")).filter(|(_, (_, count))| *count != "-");
    let now = |kernel: &str| column(AMD, "common").find(|(name, _)| *name == kernel).map(|(_, count)| count);
    then.map(|(row, _)| row).filter(|(name, count)| now(name) != Some(count)).map(|(name, _)| name).collect()
}
