//! Formats tables for people, with cells in aligned columns. Terminal control characters are escaped.

use unicode_width::UnicodeWidthStr as _;

use orbit_core::visible;

/// A table with right-aligned columns. The first and the last column can be left-aligned.
#[derive(Clone, Debug)]
pub struct TextTable {
    lines: Vec<TableLine>,
    first_is_left: bool,
    last_is_left: bool,
}

#[derive(Clone, Debug)]
enum TableLine {
    Cells(Vec<String>),
    /// A line of text that does not follow the columns.
    Remark(String),
}

impl TextTable {
    /// Creates a table with a heading line.
    pub fn new(headings: Vec<String>) -> TextTable {
        let mut table = TextTable { lines: Vec::new(), first_is_left: false, last_is_left: false };
        table.lines.push(cells(headings));
        table
    }

    /// Sets whether the first column is left-aligned.
    #[must_use]
    pub fn first_left(self, first_is_left: bool) -> TextTable {
        TextTable { first_is_left, ..self }
    }

    /// Sets whether the last column is left-aligned.
    #[must_use]
    pub fn last_left(self, last_is_left: bool) -> TextTable {
        TextTable { last_is_left, ..self }
    }

    /// Adds a row, which may have fewer cells than there are columns.
    pub fn push(&mut self, first: String, rest: impl IntoIterator<Item = String>) {
        self.lines.push(cells(std::iter::once(first).chain(rest)));
    }

    /// Adds a line of text that does not follow the columns.
    pub fn remark(&mut self, text: String) {
        self.lines.push(TableLine::Remark(visible::line(&text).into_owned()));
    }

    /// Returns the cells of each line, starting with the heading line. A line that is not a row has one cell.
    pub fn lines(&self) -> impl Iterator<Item = &[String]> {
        self.lines.iter().map(|line| match line {
            TableLine::Cells(cells) => cells.as_slice(),
            TableLine::Remark(text) => std::slice::from_ref(text),
        })
    }

    /// Returns all lines.
    pub fn text(&self) -> String {
        let mut widths: Vec<usize> = Vec::new();
        for line in &self.lines {
            let TableLine::Cells(cells) = line else { continue };
            widths.resize(widths.len().max(cells.len()), 0);
            for (width, cell) in widths.iter_mut().zip(cells) {
                *width = cell.width().max(*width);
            }
        }
        let mut out = String::new();
        for line in &self.lines {
            match line {
                TableLine::Remark(text) => out.push_str(text),
                TableLine::Cells(cells) => out.push_str(self.aligned(cells, &widths).trim_end()),
            }
            out.push('\n');
        }
        out
    }

    fn aligned(&self, cells: &[String], widths: &[usize]) -> String {
        let mut line = String::new();
        for (index, (cell, width)) in cells.iter().zip(widths).enumerate() {
            let padding = " ".repeat(width - cell.width());
            let is_left = index == 0 && self.first_is_left || index + 1 == widths.len() && self.last_is_left;
            let gap = if index > 0 { "  " } else { "" };
            let (before, after) = if is_left { ("", &*padding) } else { (&*padding, "") };
            line.extend([gap, before, cell, after]);
        }
        line
    }
}

/// Returns a row of cells in which terminal control characters are escaped.
fn cells(texts: impl IntoIterator<Item = String>) -> TableLine {
    TableLine::Cells(texts.into_iter().map(|text| visible::line(&text).into_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let cells = |cells: [&str; 2]| cells.map(String::from);
        let mut grid =
            TextTable::new(vec!["name".into(), "n".into(), "text".into()]).first_left(true).last_left(true);
        grid.push("a".into(), cells(["1,234", "x"]));
        grid.remark("... and 2 more".into());
        grid.push("Müller".into(), cells(["5", "long text"]));
        let expected = "name        n  text\na       1,234  x\n... and 2 more\nMüller      5  long text\n";
        assert_eq!(grid.text(), expected);
        assert_eq!(grid.first_left(false).text().lines().next(), Some("  name      n  text"));
    }
}
