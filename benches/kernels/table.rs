//! Collects the statistics of all kernels in a table, and compares it with the stored table.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use super::{assembly, radv::Made};

const COLUMNS: [&str; 10] =
    ["sgpr", "vgpr", "waves", "spills", "scratch", "lds", "code", "instructions", "vector", "common"];
/// Columns whose values must not grow by more than `MORE_MAX` percent.
const WATCHED: [&str; 3] = ["sgpr", "vgpr", "instructions"];
const MORE_MAX: u64 = 2;
/// The column whose values must equal the stored ones, because `benches/card` computes with them.
const SAME: &str = "common";
/// Columns whose values must be 0.
const NEVER: [&str; 2] = ["spills", "scratch"];

/// One kernel on one family of cards.
pub struct Row {
    /// The family, the query, the index of the shader within the query, and the shader's kind.
    key: String,
    cells: Vec<String>,
}

impl Row {
    /// Creates the row of one shader. `common` is the number of vector instructions outside the branches that few positions take.
    /// It is counted per position or, for the shader that measures instruction rates, per loop iteration. It is `None` if it was
    /// not counted.
    pub fn new(
        family: &str,
        name: &str,
        place: usize,
        kind: &str,
        made: &Made,
        common: Option<f64>,
    ) -> Result<Row, String> {
        let spills = made.number("Spilled SGPRs")? + made.number("Spilled VGPRs")?;
        let numbers = [
            made.number("SGPRs")?,
            made.number("VGPRs")?,
            made.number("Subgroups per SIMD")?,
            spills,
            made.number("Scratch size")?,
            made.number("LDS size")?,
            made.number("Code size")?,
            made.number("Instructions")?,
        ];
        let mut cells: Vec<String> = numbers.iter().map(u64::to_string).collect();
        let is_replayed = !["carry", "floor"].contains(&kind);
        let vector = assembly::vector_per_position(&made.assembly).filter(|_| is_replayed);
        cells.extend([vector, common].map(|count| count.map_or("-".into(), |count| format!("{count:.1}"))));
        Ok(Row { key: format!("{family}\t{name}\t{place}\t{kind}"), cells })
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\t{}", self.key, self.cells.join("\t"))
    }
}

/// The rows, and the version of the driver that reported the statistics.
#[derive(Default)]
pub struct Table {
    version: String,
    rows: Vec<Row>,
}

impl Table {
    /// Parses the rows in `text`, the output of a process or the contents of a file, and adds them to the table.
    pub fn extend(&mut self, text: &str) -> Result<(), String> {
        for line in text.lines().filter(|line| !line.starts_with("family\t")) {
            if let Some(version) = line.strip_prefix("# ") {
                self.version = version.into();
                continue;
            }
            let cells: Vec<&str> = line.split('\t').collect();
            if cells.len() != 4 + COLUMNS.len() {
                return Err(format!("no row of kernels: {line}"));
            }
            let cells = cells[4..].iter().map(|cell| (*cell).to_string()).collect();
            self.rows.push(Row { key: line.split('\t').take(4).collect::<Vec<_>>().join("\t"), cells });
        }
        Ok(())
    }

    fn path() -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("benches/kernels.tsv")
    }

    fn kept() -> Result<Table, String> {
        let path = Table::path();
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut table = Table::default();
        table.extend(&text)?;
        Ok(table)
    }

    /// Writes the file with which later runs are compared.
    pub fn write(&self) -> Result<(), String> {
        std::fs::write(Table::path(), self.to_string()).map_err(|error| error.to_string())
    }

    /// Compares the rows with the file, and prints each problem: a nonzero value in a column that must be 0, a value that has
    /// grown or changed, or a kernel that is new or missing. If another driver version produced the file, only the columns that
    /// must be 0 are checked. Returns an error if there is a problem.
    pub fn check(&self) -> Result<(), String> {
        let kept = Table::kept()?;
        let mut faults = Vec::new();
        for row in &self.rows {
            for column in NEVER {
                let found = number(row, column);
                if found > 0 {
                    faults.push(format!("{}: {column} {found}, there must be none", name(row)));
                }
            }
        }
        if kept.version == self.version {
            let known: BTreeMap<&str, &Row> = kept.rows.iter().map(|row| (row.key.as_str(), row)).collect();
            let found: BTreeMap<&str, &Row> = self.rows.iter().map(|row| (row.key.as_str(), row)).collect();
            for (key, row) in &found {
                let Some(known) = known.get(key) else {
                    faults.push(format!("{}: it is not in the table", name(row)));
                    continue;
                };
                let [was, is] = [known, row].map(|row| &row.cells[place(SAME)]);
                if was != is {
                    faults.push(format!("{}: {SAME} {is}, the table has {was}", name(row)));
                }
                for column in WATCHED {
                    let (was, is) = (number(known, column), number(row, column));
                    if is * 100 > was * (100 + MORE_MAX) {
                        faults.push(format!("{}: {column} {is}, the table has {was}", name(row)));
                    }
                }
            }
            let gone = known.iter().filter(|(key, _)| !found.contains_key(*key));
            faults.extend(gone.map(|(_, row)| format!("{}: there is no such kernel any more", name(row))));
        } else {
            println!(
                "the table is of {}, the driver is {}: spills alone are looked for",
                kept.version, self.version
            );
        }
        println!("{} kernels, {} faults", self.rows.len(), faults.len());
        if faults.is_empty() {
            return Ok(());
        }
        faults.push(
            "`cargo bench --features full --bench kernels -- update` writes a new benches/kernels.tsv".into(),
        );
        Err(faults.join("\n"))
    }
}

fn name(row: &Row) -> String {
    row.key.replace('\t', " ")
}

fn place(column: &str) -> usize {
    COLUMNS.iter().position(|name| *name == column).expect("a column of the table")
}

fn number(row: &Row, column: &str) -> u64 {
    row.cells[place(column)].parse().unwrap_or(u64::MAX)
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# {}", self.version)?;
        writeln!(f, "family\tquery\tshader\tkind\t{}", COLUMNS.join("\t"))?;
        self.rows.iter().try_for_each(|row| writeln!(f, "{row}"))
    }
}
