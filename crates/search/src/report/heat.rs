//! Heat maps: hit counts by square or by shift, and their display on a terminal.

use std::fmt::Write as _;

use serde::{Serialize, Serializer, ser::SerializeStruct};

use orbit_core::board::Square;
use orbit_transforms::CopyPlaces;

/// The highest level of colour or shading. A count of 0 has level 0; all other counts have at least level 1.
pub const LEVELS: u8 = 8;

/// A square grid of counts: one for each square of the board, or one for each shift.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeatMap {
    /// The caption of the map, which describes the counts.
    pub label: String,
    /// The meaning of the cells.
    pub grid: Grid,
    /// The counts, row by row from bottom to top, each row from left to right.
    pub counts: Vec<u64>,
}

/// The meaning of a heat map's cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Grid {
    /// The 64 squares, starting with a1.
    Squares,
    /// The 225 shifts. The first one moves seven files to the left and seven ranks down.
    Offsets,
}

/// The style in which a terminal displays a heat map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Palette {
    /// 24-bit colours.
    TrueColor,
    /// The palette of 256 colours.
    Color256,
    /// Numbers with shading characters beside them, without colour.
    Shades,
}

impl Palette {
    /// Returns the best palette that a terminal can show, according to the environment variables `NO_COLOR`, `TERM` and
    /// `COLORTERM`. Output to a file or pipe has no colour.
    ///
    /// Source: <https://no-color.org>, <https://github.com/termstandard/colors>.
    pub fn from_terminal(is_terminal: bool, variable: impl Fn(&str) -> Option<String>) -> Palette {
        let is_plain = variable("NO_COLOR").is_some_and(|value| !value.is_empty())
            || variable("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        match variable("COLORTERM").as_deref() {
            _ if is_plain || !is_terminal => Palette::Shades,
            Some("truecolor" | "24bit") => Palette::TrueColor,
            _ => Palette::Color256,
        }
    }
}

impl HeatMap {
    /// Creates a map of the hits of transformed copies, added up by the place of the copy on the board. Returns `None` if all
    /// copies have the same place, or if the place of a copy is unknown because no single shift produces the copy.
    pub(crate) fn from_places(places: &CopyPlaces, counts: &[u64]) -> Option<HeatMap> {
        let (label, grid, cells): (_, _, Option<Vec<usize>>) = match places {
            CopyPlaces::Squares(squares) => (
                "Hits by the square on which the copy's first piece stands",
                Grid::Squares,
                Some(squares.iter().map(|&square| square as usize).collect()),
            ),
            CopyPlaces::Offsets(offsets) => (
                "Hits by how far the copy was shifted",
                Grid::Offsets,
                offsets.iter().map(|&offset| offset.map(offset_cell)).collect(),
            ),
        };
        let cells = cells.filter(|cells| cells.iter().any(|cell| *cell != cells[0]))?;
        let mut map = HeatMap { label: label.into(), grid, counts: vec![0; grid.side() * grid.side()] };
        for (cell, &count) in cells.into_iter().zip(counts) {
            map.counts[cell] = map.counts[cell].saturating_add(count);
        }
        Some(map)
    }

    /// Creates the map for a query whose value is a set of squares. `counts` has the number of positions at which each square,
    /// starting with a1, is in the set.
    pub fn from_squares(counts: &[u64; 64]) -> HeatMap {
        HeatMap {
            label: "Positions by the squares that the query found".into(),
            grid: Grid::Squares,
            counts: counts.to_vec(),
        }
    }

    /// Returns the count of a cell. Columns are numbered from the left, rows from the bottom.
    ///
    /// # Panics
    ///
    /// Panics if the cell is outside the grid.
    pub fn at(&self, column: usize, row: usize) -> u64 {
        self.counts[row * self.grid.side() + column]
    }

    /// Returns the names and counts of all cells. Each name is a square, or a shift in files and ranks such as `+1,-2`.
    pub fn cells(&self) -> Vec<(String, u64)> {
        let side = self.grid.side();
        let cell = |(index, &count): (usize, &u64)| {
            let (column, row) = (index % side, index / side);
            let name = match self.grid {
                Grid::Squares => format!("{}{}", char::from(b'a' + column as u8), row + 1),
                Grid::Offsets => format!("{:+},{:+}", column as i32 - 7, row as i32 - 7),
            };
            (name, count)
        };
        self.counts.iter().enumerate().map(cell).collect()
    }

    /// Returns the number of cells with a count greater than 0.
    pub fn cells_hit(&self) -> usize {
        self.counts.iter().filter(|&&count| count > 0).count()
    }

    /// Returns the largest count.
    pub fn most(&self) -> u64 {
        self.counts.iter().copied().max().unwrap_or(0)
    }

    /// Returns the level of a count: 0 for the count 0, up to [`LEVELS`] for the largest count.
    pub fn level(&self, count: u64) -> u8 {
        let (count, most) = (u128::from(count), u128::from(self.most().max(1)));
        (count * u128::from(LEVELS)).div_ceil(most) as u8
    }

    /// Returns the map as lines for a terminal, with White's side at the bottom.
    pub fn text(&self, palette: Palette) -> String {
        let side = self.grid.side();
        let wide = self.grid == Grid::Squares;
        let mut out = format!("{}\n", self.label);
        for row in (0..side).rev() {
            write!(out, "{:>2}", self.grid.row_name(row)).expect("a string takes what is written to it");
            for column in 0..side {
                out.push_str(if wide { " " } else { "" });
                push_cell(&mut out, self.at(column, row), self.level(self.at(column, row)), palette);
            }
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
        }
        out.push_str("  ");
        for column in 0..side {
            let name = self.grid.column_name(column);
            out.push_str(if wide { " " } else { "" });
            write!(out, "{name:>4} ").expect("a string takes what is written to it");
        }
        out.truncate(out.trim_end_matches(' ').len());
        out.push('\n');
        out
    }
}

impl Grid {
    /// Returns the number of cells on each side of the grid.
    pub fn side(self) -> usize {
        match self {
            Grid::Squares => 8,
            Grid::Offsets => 15,
        }
    }

    /// Returns the name of a column: `a` to `h`, or `-7` to `+7`.
    pub fn column_name(self, column: usize) -> String {
        match self {
            Grid::Squares => char::from(b'a' + column as u8).to_string(),
            Grid::Offsets => signed(column),
        }
    }

    /// Returns the name of a row: `1` to `8`, or `-7` to `+7`.
    pub fn row_name(self, row: usize) -> String {
        match self {
            Grid::Squares => (row + 1).to_string(),
            Grid::Offsets => signed(row),
        }
    }

    /// Returns the name of a cell: `d4`, or `+1 files -2 ranks`.
    pub fn cell_name(self, column: usize, row: usize) -> String {
        match self {
            Grid::Squares => Square::new((8 * row + column) as u32).to_string(),
            Grid::Offsets => format!("{} files {} ranks", signed(column), signed(row)),
        }
    }
}

fn signed(index: usize) -> String {
    match index as i32 - 7 {
        0 => "0".into(),
        offset => format!("{offset:+}"),
    }
}

fn offset_cell((dx, dy): (i8, i8)) -> usize {
    (15 * (i32::from(dy) + 7) + i32::from(dx) + 7) as usize
}

/// Formats a number in at most four characters: `1.2k`, `340k`, `18E`.
pub fn short(number: u64) -> String {
    if number < 1_000 {
        return number.to_string();
    }
    let mut unit = 1_000;
    for suffix in ["k", "M", "G", "T", "P", "E"] {
        let tenths = (u128::from(number) * 10 + unit / 2) / unit;
        let whole = (u128::from(number) + unit / 2) / unit;
        if tenths < 100 {
            return format!("{}.{}{suffix}", tenths / 10, tenths % 10);
        }
        if whole < 1_000 {
            return format!("{whole}{suffix}");
        }
        unit *= 1_000;
    }
    unreachable!("2^64 is less than 19 E")
}

/// The background colour of a cell at each level from 1 on: red, green and blue, followed by the index of a similar colour among
/// the 256 terminal colours. From level 5 on, the text is white.
const COLORS: [([u8; 3], u8); LEVELS as usize] = [
    ([222, 235, 247], 189),
    ([198, 219, 239], 153),
    ([158, 202, 225], 117),
    ([107, 174, 214], 74),
    ([49, 112, 171], 25),
    ([33, 91, 154], 25),
    ([8, 69, 134], 24),
    ([8, 42, 92], 18),
];
const SHADES: [char; LEVELS as usize + 1] = [' ', '░', '░', '▒', '▒', '▓', '▓', '█', '█'];

/// Appends a cell of a heat map, which is five characters wide.
fn push_cell(out: &mut String, count: u64, level: u8, palette: Palette) {
    let number = if count == 0 { "·".to_owned() } else { short(count) };
    let at = usize::from(level);
    let text = if level <= 4 { 16 } else { 231 };
    let cell = match (palette, level.checked_sub(1).map(|step| COLORS[usize::from(step)])) {
        (Palette::Shades, _) | (_, None) => {
            let shade = if palette == Palette::Shades { SHADES[at] } else { ' ' };
            format!("{number:>4}{shade}")
        }
        (Palette::TrueColor, Some(([red, green, blue], _))) => {
            format!("\x1b[48;2;{red};{green};{blue}m\x1b[38;5;{text}m{number:>4} \x1b[0m")
        }
        (Palette::Color256, Some((_, index))) => {
            format!("\x1b[48;5;{index}m\x1b[38;5;{text}m{number:>4} \x1b[0m")
        }
    };
    out.push_str(&cell);
}

impl Serialize for HeatMap {
    /// Writes `{"label", "grid": "squares" or "offsets", "side": 8 or 15, "counts"}`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let grid = match self.grid {
            Grid::Squares => "squares",
            Grid::Offsets => "offsets",
        };
        let mut map = serializer.serialize_struct("HeatMap", 4)?;
        map.serialize_field("label", &self.label)?;
        map.serialize_field("grid", grid)?;
        map.serialize_field("side", &self.grid.side())?;
        map.serialize_field("counts", &self.counts)?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_width::UnicodeWidthStr as _;

    fn offsets() -> HeatMap {
        let all: Vec<_> = (-7..=7).flat_map(|dx| (-7..=7).map(move |dy| Some((dx, dy)))).collect();
        let counts: Vec<u64> = (0..225).map(|k| k * k).collect();
        HeatMap::from_places(&CopyPlaces::Offsets(all), &counts).unwrap()
    }

    /// Returns a string without its colour codes.
    fn visible(text: &str) -> String {
        let mut parts = text.split('\x1b');
        let first = parts.next().unwrap().to_owned();
        parts.fold(first, |out, part| out + &part[part.find('m').unwrap() + 1..])
    }

    #[test]
    fn terminals_get_what_they_show() {
        let with = |variables: &'static [(&str, &str)]| {
            move |name: &str| variables.iter().find(|it| it.0 == name).map(|it| it.1.to_owned())
        };
        let full = &[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")];
        assert_eq!(Palette::from_terminal(true, with(full)), Palette::TrueColor);
        assert_eq!(Palette::from_terminal(false, with(full)), Palette::Shades);
        assert_eq!(Palette::from_terminal(true, with(&[("TERM", "xterm")])), Palette::Color256);
        for none in [&[("TERM", "dumb")][..], &[], &[("TERM", "xterm"), ("NO_COLOR", "1")]] {
            assert_eq!(Palette::from_terminal(true, with(none)), Palette::Shades);
        }
        let unset = &[("TERM", "xterm"), ("NO_COLOR", "")];
        assert_eq!(Palette::from_terminal(true, with(unset)), Palette::Color256);
    }

    #[test]
    fn numbers_take_four_places() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1.0k"),
            (1_249, "1.2k"),
            (1_250, "1.3k"),
            (9_949, "9.9k"),
            (9_950, "10k"),
            (999_499, "999k"),
            (999_500, "1.0M"),
            (u64::MAX, "18E"),
        ] {
            assert_eq!(short(number), text);
        }
    }

    #[test]
    fn counts_go_where_the_copies_stand() {
        let squares = CopyPlaces::Squares(vec![Square::A1, Square::H1, Square::C8, Square::H1]);
        let map = HeatMap::from_places(&squares, &[1, 20, 300, 4_000]).unwrap();
        assert_eq!((map.at(0, 0), map.at(7, 0), map.at(2, 7)), (1, 4_020, 300));
        assert_eq!(map.counts.iter().sum::<u64>(), 4_321);
        let map = offsets();
        // The helper `offsets` numbers the shifts from 0, file by file. The count of each shift is the square of its number.
        for (column, row) in [(0, 0), (14, 0), (0, 14), (3, 8)] {
            assert_eq!(map.at(column, row), ((15 * column + row) as u64).pow(2));
        }
        let same = CopyPlaces::Squares(vec![Square::A1; 3]);
        assert_eq!(HeatMap::from_places(&same, &[1, 2, 3]), None);
        let lost = CopyPlaces::Offsets(vec![Some((0, 0)), None, Some((1, 0))]);
        assert_eq!(HeatMap::from_places(&lost, &[1, 2, 3]), None);
        assert_eq!(HeatMap::from_places(&CopyPlaces::Squares(vec![]), &[]), None);
    }

    #[test]
    fn levels_go_from_none_to_the_most() {
        let mut counts = [0; 64];
        counts[0] = u64::MAX;
        let map = HeatMap::from_squares(&counts);
        let levels = [0, 1, u64::MAX / 8, u64::MAX / 2, u64::MAX - 1, u64::MAX].map(|count| map.level(count));
        assert_eq!(levels, [0, 1, 1, 4, 8, 8]);
        assert_eq!(HeatMap::from_squares(&[0; 64]).level(0), 0);
    }

    #[test]
    fn without_colour_there_are_shades() {
        let mut counts = [0; 64];
        (counts[0], counts[7], counts[63]) = (80, 10, 1_234);
        let text = HeatMap::from_squares(&counts).text(Palette::Shades);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 10);
        assert_eq!(lines[1], " 8    ·     ·     ·     ·     ·     ·     ·  1.2k█");
        assert_eq!(lines[8], " 1   80░    ·     ·     ·     ·     ·     ·    10░");
        assert_eq!(lines[9], "      a     b     c     d     e     f     g     h");
    }

    #[test]
    fn columns_stand_below_one_another_in_every_palette() {
        let mut counts = [0; 64];
        (0..64).for_each(|k| counts[k] = 7u64.pow(k as u32 % 22));
        for map in [HeatMap::from_squares(&counts), offsets()] {
            let plain = map.text(Palette::Shades);
            let width = plain.lines().skip(1).map(|line| line.width()).max().unwrap();
            assert!(width < 80, "{width}");
            for palette in [Palette::TrueColor, Palette::Color256] {
                let text = map.text(palette);
                for (line, plain) in text.lines().zip(plain.lines()) {
                    let shown = visible(line);
                    let bare = plain.replace(['░', '▒', '▓', '█'], " ");
                    let words = |text: &str| text.split_whitespace().map(String::from).collect::<Vec<_>>();
                    assert_eq!(words(&shown), words(&bare));
                    assert!(shown.trim_end().width().abs_diff(plain.width()) <= 1, "{shown:?} {plain:?}");
                }
                assert!(text.lines().all(|line| !line.contains('\x1b')
                    || line.trim_end().ends_with("\x1b[0m")
                    || line.ends_with('·')));
            }
            assert!(!plain.contains('\x1b'));
        }
    }
}
