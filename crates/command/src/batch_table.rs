//! Writes the output of `orbit batch`: the hit counts of themes, or a list of the themes.

use std::cmp::Reverse;
use std::collections::HashMap;

use orbit_core::text::clipped;
use orbit_core::visible::{EscapeContext, escape};
use orbit_search::report::{TextTable, grouped};
use orbit_search::stats::{GroupKey, GroupRow, Grouping, Share, ThemeCounts, ThemeMatrix};
use orbit_search::themes::Theme;
use serde::Serialize;

use super::failure::Failure;
use super::sink::Sink;
use super::table_format::TableFormat;
use super::terminal;

/// The maximum number of columns in a text table; each column is a group of games.
const COLUMNS_MAX: usize = 10;

/// The maximum width of a group's name as a column heading. Longer names are truncated.
const HEADING_MAX: usize = 16;

pub(super) fn write(matrix: &ThemeMatrix, format: TableFormat, sink: Sink) -> Result<(), Failure> {
    sink.write_whole(&match format {
        TableFormat::Text => text(matrix).into_bytes(),
        TableFormat::Csv => matrix.csv(),
        TableFormat::Json => json(matrix),
    })
}

fn text(matrix: &ThemeMatrix) -> String {
    if matrix.groupings().is_empty() {
        return totals(matrix).text();
    }
    let tables = matrix.groupings().iter().enumerate().map(|(place, by)| table(matrix, place, by));
    tables.collect::<Vec<_>>().join("\n")
}

/// Returns a table with one line for each theme.
fn totals(matrix: &ThemeMatrix) -> TextTable {
    let header = ["theme", "games hit", "share", "positions hit", "share"];
    let percent =
        |share: Option<Share>| share.map_or("-".into(), |share| format!("{:.2} %", 100.0 * share.value));
    grid(matrix, header.map(String::from).to_vec(), None, |ThemeCounts { total: row, .. }| {
        let (games, positions) = (grouped(row.hit.games), grouped(row.hit.positions));
        vec![games, percent(row.games()), positions, percent(row.positions())]
    })
}

/// Returns a table with one line for each theme and one column for each group of games. `place` is the index of the grouping.
fn table(matrix: &ThemeMatrix, place: usize, grouping: &Grouping) -> String {
    let widest = matrix.widest();
    let groups: &[GroupRow] = widest.as_ref().map_or(&[], |theme| &theme.groups[place]);
    let mut shown: Vec<&GroupRow> = groups.iter().collect();
    if shown.len() > COLUMNS_MAX {
        let mut sizes: Vec<(Reverse<u64>, usize)> =
            groups.iter().enumerate().map(|(place, row)| (Reverse(row.all.games), place)).collect();
        sizes.sort_unstable();
        let mut places: Vec<usize> = sizes[..COLUMNS_MAX].iter().map(|&(_, place)| place).collect();
        places.sort_unstable();
        shown = places.into_iter().map(|place| &groups[place]).collect();
    }
    let share = |row: &GroupRow| match row.hit.games {
        0 => String::from("-"),
        _ => row.games().map_or(String::new(), |share| format!("{:.1}", 100.0 * share.value)),
    };
    let names = shown.iter().map(|row| heading(&row.keys[0]));
    // If there are exactly two groups, and no game is in both, a last column shows the difference between them.
    let is_pair = shown.len() == 2 && grouping.first.divides_games();
    let last = ["all".into()].into_iter().chain(is_pair.then(|| String::from("second - first (95 %)")));
    let header: Vec<String> = std::iter::once("theme".into()).chain(names).chain(last).collect();
    let all = widest.as_ref().map_or(0, |theme| theme.total.all.games);
    let sizes = shown.iter().map(|row| grouped(row.all.games)).chain([grouped(all)]);
    let grid = grid(matrix, header, Some(sizes.collect()), |theme| {
        let rows: HashMap<&GroupKey, &GroupRow> =
            theme.groups[place].iter().map(|row| (&row.keys[0], row)).collect();
        let found: Vec<Option<&GroupRow>> =
            shown.iter().map(|group| rows.get(&group.keys[0]).copied()).collect();
        let cells = found.iter().map(|row| row.map_or(String::new(), share));
        let compared = match &found[..] {
            [Some(first), Some(second)] => second.difference_from(first),
            _ => None,
        };
        let compared = compared.map_or(String::new(), |difference| difference.to_string());
        cells.chain([share(&theme.total)]).chain(is_pair.then_some(compared)).collect()
    });
    let mut out = format!("games hit, in percent of the games, by {grouping}\n{}", grid.text());
    if shown.len() < groups.len() {
        let more = grouped((groups.len() - shown.len()) as u64);
        out.push_str(&format!("... and {more} more columns, with fewer games: --format csv has them all\n"));
    }
    out
}

/// Returns a table with a line for each theme, under the name of the theme's group. If `sizes` is given, the first line shows the
/// number of games in each column.
fn grid(
    matrix: &ThemeMatrix,
    headings: Vec<String>,
    sizes: Option<Vec<String>>,
    cells: impl Fn(&ThemeCounts) -> Vec<String>,
) -> TextTable {
    let mut grid = TextTable::new(headings).first_left(true);
    sizes.into_iter().for_each(|sizes| grid.push("games".into(), sizes));
    let themes: Vec<_> = matrix.labels().iter().enumerate().collect();
    for (group, members) in by_group(&themes, |(_, label)| &label.group) {
        grid.push(group.to_owned(), []);
        members.into_iter().for_each(|&(index, label)| {
            grid.push(format!("  {}", label.theme), cells(&matrix.theme(index)));
        });
    }
    grid
}

/// Returns the theme groups in order of first appearance, each with its themes. `group` returns the group of a theme.
fn by_group<T>(themes: &[T], group: impl Fn(&T) -> &str) -> Vec<(&str, Vec<&T>)> {
    let mut out: Vec<(&str, Vec<&T>)> = Vec::new();
    for theme in themes {
        match out.iter_mut().find(|(other, _)| *other == group(theme)) {
            Some((_, members)) => members.push(theme),
            None => out.push((group(theme), vec![theme])),
        }
    }
    out
}

/// Returns the name of a group of games, escaped for a terminal and truncated to the column width.
fn heading(key: &GroupKey) -> String {
    clipped(&escape(&key.to_string(), EscapeContext::Line), HEADING_MAX)
}

/// A theme as it appears in JSON output.
#[derive(Serialize)]
struct ThemeRecord<'a> {
    theme: &'a str,
    title: &'a str,
    group: &'a str,
    query: &'a str,
    description: &'a str,
    source: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    hits: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    misses: &'a [String],
}

impl<'a> ThemeRecord<'a> {
    fn from_theme(theme: &'a Theme) -> ThemeRecord<'a> {
        ThemeRecord {
            theme: &theme.name,
            title: &theme.title,
            group: &theme.group,
            query: theme.query.trim(),
            description: &theme.description,
            source: &theme.source,
            hits: &theme.hits,
            misses: &theme.misses,
        }
    }
}

/// Writes the list of themes without their example positions.
pub(super) fn list(themes: &[Theme], format: TableFormat, sink: Sink) -> Result<(), Failure> {
    let brief = |theme| ThemeRecord { hits: &[], misses: &[], ..ThemeRecord::from_theme(theme) };
    sink.write_whole(&match format {
        TableFormat::Json => json(&themes.iter().map(brief).collect::<Vec<_>>()),
        TableFormat::Csv => {
            let mut out = csv::Writer::from_writer(Vec::new());
            themes.iter().for_each(|theme| out.serialize(brief(theme)).expect("memory takes everything"));
            out.into_inner().expect("memory takes everything")
        }
        TableFormat::Text => {
            let mut out = String::new();
            for (group, members) in by_group(themes, |theme| &theme.group) {
                out.push_str(&format!("{group}\n"));
                for Theme { name, title, description, .. } in members {
                    out.push_str(&format!("  {name}: {title}\n"));
                    if !description.is_empty() {
                        out.push_str(&format!("      {description}\n"));
                    }
                }
            }
            shown(&out)
        }
    })
}

/// Writes everything about one theme.
pub(super) fn show(theme: &Theme, format: TableFormat, sink: Sink) -> Result<(), Failure> {
    match format {
        TableFormat::Json => sink.write_whole(&json(&ThemeRecord::from_theme(theme))),
        TableFormat::Csv => list(std::slice::from_ref(theme), format, sink),
        TableFormat::Text => sink.write_whole(&shown(&whole(theme))),
    }
}

fn whole(theme: &Theme) -> String {
    let Theme { name, title, group, description, source, .. } = theme;
    let mut out = String::new();
    for (label, text) in
        [("theme", name), ("title", title), ("group", group), ("about", description), ("source", source)]
    {
        if !text.is_empty() {
            out.push_str(&format!("{label:<8}{text}\n"));
        }
    }
    let (query, hits, misses) = (theme.query.trim(), theme.hits.join("\n"), theme.misses.join("\n"));
    for (label, lines) in [("query", query), ("hits", &hits), ("misses", &misses)] {
        for (place, line) in lines.lines().enumerate() {
            out.push_str(&format!("{:<8}{line}\n", if place == 0 { label } else { "" }));
        }
    }
    out
}

/// Escapes a string, since theme files may be from untrusted sources.
fn shown(text: &str) -> Vec<u8> {
    escape(text, EscapeContext::Lines).into_owned().into_bytes()
}

fn json(value: &impl Serialize) -> Vec<u8> {
    format!("{}\n", terminal::json(value)).into_bytes()
}
