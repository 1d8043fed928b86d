//! Formats the record of a run as a table, with the numbers of the JSON document rounded.

use orbit_command::measuring::size_text;
use orbit_search::report::grouped;
use serde_json::Value;

const MEGA: f64 = 1e6;
const GIGA: f64 = 1e9;
const SOFTWARE: &str = "SOFTWARE ADAPTER, NOT A GPU: no figure below is that of a graphics card";

/// Returns a row's name for messages.
pub fn label(row: &Value) -> String {
    let variant = row["variant"].as_str().map_or(String::new(), |variant| format!(" ({variant})"));
    format!("{} {}{variant}", text(&row["kind"]), text(&row["name"]))
}

/// Describes a row in a few words.
pub fn short(row: &Value) -> String {
    let mut out = label(row);
    let mut add = |words: String| {
        out += if out.contains(':') { ", " } else { ": " };
        out += &words;
    };
    if let Some(error) = row["error"].as_str() {
        add(error.into());
    }
    if let Some(rate) = row["positions_s"].as_f64() {
        add(format!("{:.1} M positions/s", rate / MEGA));
    }
    if let Some(rate) = row["bytes_s"].as_f64() {
        add(format!("{:.1} GB/s", rate / GIGA));
    }
    if let Some(rate) = row["instructions_s"].as_f64() {
        add(format!("{:.1} G instructions/s", rate / GIGA));
    }
    if row["agree"] == false {
        add("DIFFERS FROM THE CPU".into());
    }
    out
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns a value divided by `unit`, or `-` if the value is not a number.
fn number(value: &Value, unit: f64, digits: usize) -> String {
    value.as_f64().map_or_else(|| "-".into(), |value| format!("{:.digits$}", value / unit))
}

fn percent(value: &Value) -> String {
    value.as_f64().map_or_else(|| "-".into(), |value| format!("{:.1} %", 100.0 * value))
}

fn whole(value: &Value) -> String {
    value.as_u64().map_or_else(|| "-".into(), grouped)
}

fn agree(row: &Value) -> String {
    let word = match (row["error"].as_str(), row["agree"].as_bool()) {
        (Some(error), _) => return format!("FAILED: {error}"),
        (None, Some(true)) => "yes",
        (None, Some(false)) => "NO: DIFFERS FROM THE CPU",
        (None, None) => "",
    };
    word.into()
}

/// A column of the table: its heading, and the function that formats its cell for a row.
type TableColumn = (&'static str, fn(&Value) -> String);

/// A section of the table: its title, its columns, and the kinds of rows that it contains. The first column is aligned left, as
/// is the last one, which shows if answers agree. All others are aligned right.
struct TableSection {
    kinds: &'static [&'static str],
    title: &'static str,
    columns: &'static [TableColumn],
}

const AGREE: TableColumn = ("agrees", agree);
const NAME: TableColumn = ("", |row| text(&row["name"]).into());
const VARIANT: TableColumn = ("variant", |row| text(&row["variant"]).into());
const NS: TableColumn = ("ns", |row| number(&row["ns"], 1.0, 4));
const G_POSITIONS: TableColumn = ("G pos/s", |row| number(&row["positions_s"], GIGA, 3));
const G_BYTES: TableColumn = ("GB/s", |row| number(&row["bytes_s"], GIGA, 2));

const SECTIONS: &[TableSection] = &[
    TableSection {
        kinds: &["cpu_memory", "device_memory", "device_instructions"],
        title: "floors: the speed of memory and arithmetic, which no kernel exceeds",
        columns: &[
            ("", |row| label(row).replace('_', " ")),
            ("bytes", |row| row["bytes"].as_u64().map_or_else(|| "-".into(), size_text)),
            G_BYTES,
            ("G instr/s", |row| number(&row["instructions_s"], GIGA, 1)),
            AGREE,
        ],
    },
    TableSection {
        kinds: &["upload", "games"],
        title: "uploads: the three ways, and the games themselves",
        columns: &[
            NAME,
            ("positions", |row| whole(&row["positions"])),
            ("bytes", |row| row["bytes"].as_u64().map_or_else(|| "-".into(), size_text)),
            G_BYTES,
            AGREE,
        ],
    },
    TableSection {
        kinds: &["variant"],
        title: "variants of kernels, on fewer positions, and their time as a share of the default's",
        columns: &[
            NAME,
            ("positions", |row| whole(&row["positions"])),
            ("kernel ns", |row| number(&row["kernel_ns"], 1.0, 4)),
            NS,
            ("of default", |row| number(&row["relative"], 1.0, 3)),
            ("compile s", |row| number(&row["compile_s"], 1.0, 3)),
            AGREE,
        ],
    },
    TableSection {
        kinds: &["replay", "resident", "along", "along_by_host"],
        title: "resident: the games already on the card, the answers read back",
        columns: &[
            NAME,
            VARIANT,
            ("copies", |row| whole(&row["copies"])),
            NS,
            G_POSITIONS,
            ("kernel", |row| number(&row["kernel_positions_s"], GIGA, 3)),
            ("of bytes", |row| percent(&row["share_bytes"])),
            ("of instr", |row| percent(&row["share_instructions"])),
            AGREE,
        ],
    },
    TableSection {
        kinds: &["streamed", "along_streamed"],
        title: "streamed: the games uploaded during the search",
        columns: &[
            NAME,
            VARIANT,
            NS,
            G_POSITIONS,
            G_BYTES,
            ("of best upload", |row| percent(&row["share_upload"])),
            AGREE,
        ],
    },
    TableSection {
        kinds: &["session"],
        title: "session: a database in memory, whose games stay on the card after the first search",
        columns: &[
            NAME,
            VARIANT,
            ("positions", |row| whole(&row["positions"])),
            ("first s", |row| number(&row["first_s"], 1.0, 3)),
            NS,
            G_POSITIONS,
            AGREE,
        ],
    },
    TableSection {
        kinds: &["cpu"],
        title: "the processor, for comparison",
        columns: &[
            NAME,
            ("threads", |row| whole(&row["threads"])),
            NS,
            G_POSITIONS,
            ("one thread", |row| number(&row["thread_positions_s"], GIGA, 4)),
            AGREE,
        ],
    },
    TableSection {
        kinds: &["shared"],
        title: "many queries at once, G positions/s with all of them",
        columns: &[
            NAME,
            VARIANT,
            ("resident", |row| number(&row["positions_s"], GIGA, 3)),
            ("streamed", |row| number(&row["streamed_positions_s"], GIGA, 3)),
            ("cpu", |row| number(&row["cpu_positions_s"], GIGA, 4)),
            ("one by one", |row| number(&row["one_by_one_positions_s"], GIGA, 3)),
            AGREE,
        ],
    },
    TableSection {
        kinds: &["crossover"],
        title: "from how many positions on the card is faster: seconds of the CPU / of the card, with its start",
        columns: &[
            NAME,
            ("from positions", |row| row["from_positions"].as_u64().map_or_else(|| "never".into(), grouped)),
            ("1 M", |row| both(row, 0)),
            ("10 M", |row| both(row, 1)),
            ("100 M", |row| both(row, 2)),
            ("500 M", |row| both(row, 3)),
            ("1,000 M", |row| both(row, 4)),
            ("10,000 M", |row| both(row, 5)),
            ("", |row| agree(row)),
        ],
    },
];

fn both(row: &Value, size: usize) -> String {
    let size = &row["sizes"][size];
    format!("{}/{}", number(&size["cpu_s"], 1.0, 2), number(&size["card_s"], 1.0, 2))
}

/// Returns the whole table.
pub fn lines(document: &Value) -> Vec<String> {
    let mut out = head(document);
    let rows = document["rows"].as_array().map_or(&[][..], Vec::as_slice);
    for part in SECTIONS {
        let rows: Vec<&Value> = rows.iter().filter(|row| part.kinds.contains(&text(&row["kind"]))).collect();
        if !rows.is_empty() {
            out.push(String::new());
            out.push(part.title.into());
            out.extend(part.lines(&rows));
        }
    }
    out.extend(auto(&document["auto"]));
    out.extend(targets(document));
    for (title, field) in [("not measured:", "skipped"), ("notes:", "notes")] {
        let entries = document[field].as_array().map_or(&[][..], Vec::as_slice);
        if !entries.is_empty() {
            out.extend([String::new(), title.into()]);
        }
        out.extend(entries.iter().map(|entry| match entry.as_str() {
            Some(note) => format!("  {note}"),
            None => format!("  {}: {}", label(entry), text(&entry["why"])),
        }));
    }
    out.push(String::new());
    out.push(match document["wrong"].as_array().map_or(0, Vec::len) {
        0 => "every answer was compared with that of the processor: no difference".into(),
        wrong => {
            format!("{wrong} rows differ from the processor or failed; please report this with both files")
        }
    });
    out
}

fn head(document: &Value) -> Vec<String> {
    let ended = match document["ended"].as_str() {
        None => "not finished, or stopped from outside".to_string(),
        Some(how) => how.to_string(),
    };
    let device = &document["device"];
    let machine = &document["machine"];
    let mut out = vec![
        format!(
            "orbit {}, bench card, {}; {ended} after {} s of {} s",
            text(&document["orbit"]),
            text(&document["begun"]),
            number(&document["seconds"], 1.0, 1),
            number(&document["budget_s"], 1.0, 0)
        ),
        format!(
            "device: {}, {}, {}",
            text(&device["name"]),
            text(&device["backend"]),
            text(&device["driver"])
        ),
        format!(
            "machine: {}, {} cores, {} threads used, {}",
            machine["cpu"].as_str().unwrap_or("a processor of unknown name"),
            whole(&machine["cores"]),
            whole(&machine["threads"]),
            machine["memory_bytes"].as_u64().map_or_else(|| "memory unknown".into(), size_text)
        ),
        format!(
            "{} positions, asked for {}; best of {} runs; fastest variant: {}",
            whole(&document["positions"]),
            whole(&document["positions_wanted"]),
            whole(&document["runs"]),
            document["fastest"].as_str().unwrap_or("not known")
        ),
    ];
    if document["software"] == true {
        out.insert(0, SOFTWARE.into());
    }
    out
}

impl TableSection {
    fn lines(&self, rows: &[&Value]) -> Vec<String> {
        let cells: Vec<Vec<String>> =
            std::iter::once(self.columns.iter().map(|(head, _)| head.to_string()).collect())
                .chain(rows.iter().map(|row| self.columns.iter().map(|(_, cell)| cell(row)).collect()))
                .collect();
        let last = self.columns.len() - 1;
        let width = |k: usize| cells.iter().map(|cells| cells[k].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..=last).map(width).collect();
        let line = |cells: &Vec<String>| {
            let mut line = String::from(" ");
            for (k, (cell, &width)) in cells.iter().zip(&widths).enumerate() {
                line += &match k {
                    0 => format!(" {cell:<width$}"),
                    k if k == last => format!("  {cell}"),
                    _ => format!("  {cell:>width$}"),
                };
            }
            line.trim_end().to_string()
        };
        cells.iter().map(line).collect()
    }
}

fn auto(auto: &Value) -> Vec<String> {
    if auto.is_null() {
        return Vec::new();
    }
    let measured = auto["from_positions_measured"].as_u64().zip(auto["positions_a_thread_measured"].as_u64());
    let suggested = match measured {
        Some((all, core)) => {
            format!("these rows suggest {} positions, {} a core", grouped(all), grouped(core))
        }
        None => "these rows suggest no number: the card is slower for most queries, or too few were measured"
            .into(),
    };
    let takes = if auto["takes_this_device"] == true { "" } else { "; it never uses a software adapter" };
    vec![
        String::new(),
        format!(
            "--engine auto uses the card above {} positions on this machine, {} a core{takes}",
            whole(&auto["from_positions_today"]),
            whole(&auto["positions_a_thread_today"])
        ),
        suggested,
    ]
}

fn targets(document: &Value) -> Vec<String> {
    let targets = document["targets"].as_array().map_or(&[][..], Vec::as_slice);
    let mut out = vec![String::new(), "targets, on an H200".to_string()];
    out.extend(targets.iter().map(|target| {
        let shown = |value: &Value| match text(&target["unit"]) {
            "share" => percent(value),
            "bytes/s" => format!("{} GB/s", number(value, GIGA, 2)),
            _ => format!("{} G positions/s", number(value, GIGA, 3)),
        };
        let verdict = match (target["met"].as_bool(), document["software"] == true) {
            (Some(true), _) => "met",
            (Some(false), _) => "not met",
            (None, true) => "not judged: this is no GPU",
            (None, false) => "not measured",
        };
        format!(
            "  {}: {}, measured {}: {verdict}",
            text(&target["name"]),
            shown(&target["target"]),
            shown(&target["measured"])
        )
    }));
    out
}
