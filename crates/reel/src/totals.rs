//! Totals over the games of a database. The totals of its parts can be added in any order.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde::{Deserialize, Serialize};

use super::block::{Block, ProblemKind};
use super::bytes::{ByteReader, ListFault, put, put_bytes};
use orbit_core::board::Color;
use orbit_core::game::{Date, date, rating};

/// The maximum number of reason classes (reasons without their game-specific parts) that are counted separately for each kind of
/// problem. If there are more, the last ones in alphabetical order are counted as [`OTHER_REASONS`], which makes sums of totals
/// independent of the order.
pub const REASONS_MAX: usize = 256;
/// The class in which a problem is counted if there are more than [`REASONS_MAX`] classes and its reason has none of its own.
pub const OTHER_REASONS: &str = "other reasons";
/// The class of games that were dropped because they equal an earlier game.
pub const DUPLICATE: &str = "exact duplicate";

/// The class of games that were dropped because an earlier game has the same moves.
pub const SAME_MOVES: &str = "same moves as an earlier game";

/// Totals over games. Games that were read completely or cut short have positions; skipped games have none.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Totals {
    /// The number of games that were read completely.
    pub whole: u64,
    /// The number of games that were cut short. Their moves before the fault were kept.
    pub cut: u64,
    /// The number of skipped games, from which nothing was kept.
    pub skipped: u64,
    /// The number of positions, including positions in side lines.
    pub positions: u64,
    /// The number of side lines.
    pub side_lines: u64,
    /// The number of positions in side lines.
    pub side_positions: u64,
    /// The number of problems, by kind and class of reason.
    pub reasons: BTreeMap<(ProblemKind, String), u64>,
    /// The [dates](Date::from_game) of the earliest and the latest game, in PGN notation.
    pub dates: Option<(String, String)>,
    /// The lowest and the highest [rating](rating::of_value).
    pub elos: Option<(u32, u32)>,
}

impl Totals {
    /// Computes the totals of one block.
    pub fn from_block(block: &Block) -> Totals {
        let cut = block.games.iter().filter(|game| game.cut).count();
        let with_slots = block.games.len();
        let mut totals = Totals {
            whole: (with_slots - cut) as u64,
            cut: cut as u64,
            skipped: u64::from(block.games_read()).saturating_sub(with_slots as u64),
            positions: block.slots() as u64,
            side_lines: block.lines.len() as u64,
            side_positions: block.side_positions() as u64,
            ..Totals::default()
        };
        for problem in &block.problems {
            totals.add_reason((problem.kind, reason_class(&problem.reason)), 1);
        }
        totals.add_ranges(block);
        totals
    }

    /// Returns the number of all games, including skipped ones.
    pub fn games(&self) -> u64 {
        self.whole + self.cut + self.skipped
    }

    /// Adds the totals of other games.
    pub fn add(&mut self, other: &Totals) {
        self.whole += other.whole;
        self.cut += other.cut;
        self.skipped += other.skipped;
        self.positions += other.positions;
        self.side_lines += other.side_lines;
        self.side_positions += other.side_positions;
        for (reason, count) in &other.reasons {
            self.add_reason(reason.clone(), *count);
        }
        if let Some((first, last)) = &other.dates {
            self.add_dates(first, last);
        }
        if let Some((low, high)) = other.elos {
            self.add_elos(low, high);
        }
    }

    /// Checks totals read from a file. No number may exceed `most`, and the numbers must not contradict each other.
    ///
    /// # Errors
    ///
    /// Returns a description of the contradiction, or of the number that is too high.
    pub fn check(&self, most: u64) -> Result<(), &'static str> {
        let Totals { whole, cut, skipped, positions, side_lines, side_positions, .. } = *self;
        let counts = [whole, cut, skipped, positions, side_lines, side_positions];
        if counts.iter().chain(self.reasons.values()).any(|&count| count > most) {
            return Err("a count is greater than any database can have");
        }
        if side_positions > positions {
            return Err("there are more positions in side lines than positions");
        }
        Ok(())
    }

    fn add_reason(&mut self, reason: (ProblemKind, String), count: u64) {
        let kind = reason.0;
        match self.reasons.entry(reason) {
            Entry::Occupied(mut sum) => return *sum.get_mut() += count,
            Entry::Vacant(place) => _ = place.insert(count),
        }
        let of_kind = self.reasons.range((kind, String::new())..).map(|(reason, _)| reason);
        let classes =
            of_kind.take_while(|reason| reason.0 == kind).filter(|reason| reason.1 != OTHER_REASONS);
        let last = classes.clone().nth(REASONS_MAX).is_some().then(|| classes.last().cloned()).flatten();
        if let Some((last, count)) = last.and_then(|last| self.reasons.remove_entry(&last)) {
            self.add_reason((last.0, OTHER_REASONS.to_owned()), count);
        }
    }

    fn add_dates(&mut self, first: &str, last: &str) {
        self.dates = Some(match self.dates.take() {
            None => (first.to_owned(), last.to_owned()),
            Some((a, b)) => {
                let a = if first < a.as_str() { first.to_owned() } else { a };
                (a, if last > b.as_str() { last.to_owned() } else { b })
            }
        });
    }

    fn add_elos(&mut self, low: u32, high: u32) {
        let (a, b) = self.elos.unwrap_or((low, high));
        self.elos = Some((a.min(low), b.max(high)));
    }

    /// Adds the dates and ratings of a block to the totals. Each distinct tag value is examined only once as a date and only once
    /// as a rating.
    fn add_ranges(&mut self, block: &Block) {
        let names: Vec<Fact> = block.tags.names.iter().map(Fact::from_tag).collect();
        // `dates` contains the date that each value represents, if any, and `ratings` is true for values that were already examined
        // as ratings.
        let mut dates = vec![None; block.tags.values.len()];
        let mut ratings = vec![false; block.tags.values.len()];
        let value = |id: u32| block.tags.values.get(id).unwrap_or_default();
        let mut first = 0;
        for &end in &block.tags.ends {
            let mut of_game = [None; 2];
            for &(name, id) in &block.tags.pairs[first..end] {
                match names[name as usize] {
                    Fact::Other => {}
                    Fact::Date(place) => _ = of_game[place].get_or_insert(id),
                    Fact::Rating if std::mem::replace(&mut ratings[id as usize], true) => {}
                    Fact::Rating => {
                        if let Some(rating) = rating::of_value(value(id)) {
                            self.add_elos(rating, rating);
                        }
                    }
                }
            }
            // Only the game's first date tag with a known date is used.
            let mut add = |id: &u32| {
                *dates[*id as usize].get_or_insert_with(|| {
                    let date = Date::from_value(value(*id)).map(|date| date.to_string());
                    date.iter().for_each(|date| self.add_dates(date, date));
                    date.is_some()
                })
            };
            _ = of_game.iter().flatten().any(&mut add);
            first = end;
        }
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        for value in [self.whole, self.cut, self.skipped, self.positions] {
            put(out, value);
        }
        put(out, self.reasons.len() as u64);
        for ((kind, reason), count) in &self.reasons {
            out.push(*kind as u8);
            put_bytes(out, reason.as_bytes());
            put(out, *count);
        }
        let (first, last) = self.dates.clone().unwrap_or_default();
        put_bytes(out, first.as_bytes());
        put_bytes(out, last.as_bytes());
        let (low, high) = self.elos.unwrap_or_default();
        put(out, low.into());
        put(out, high.into());
        put(out, self.side_lines);
        put(out, self.side_positions);
    }

    pub(super) fn decode(bytes: &mut ByteReader<'_>, version: u32) -> Result<Totals, ListFault> {
        let [whole, cut, skipped, positions] = [(); 4].map(|()| bytes.number());
        let mut totals = Totals {
            whole: whole?,
            cut: cut?,
            skipped: skipped?,
            positions: positions?,
            ..Totals::default()
        };
        for _ in 0..bytes.count()? {
            let kind = ProblemKind::from_byte(bytes.take(1)?[0])?;
            let reason = bytes.text()?;
            totals.reasons.insert((kind, reason), bytes.number()?);
        }
        let dates = (bytes.text()?, bytes.text()?);
        totals.dates = Some(dates).filter(|dates| !dates.0.is_empty());
        let elos = (bytes.number_u32()?, bytes.number_u32()?);
        totals.elos = Some(elos).filter(|elos| elos.1 > 0);
        if version >= 3 {
            totals.side_lines = bytes.number()?;
            totals.side_positions = bytes.number()?;
            if totals.side_positions > totals.positions {
                return Err("there are more positions in side lines than positions");
            }
        }
        Ok(totals)
    }
}

/// The kind of fact that [`Totals`] collects from a tag, if any.
#[derive(Clone, Copy)]
enum Fact {
    /// A date, with the index of the tag's name in [`date::TAGS`].
    Date(usize),
    Rating,
    Other,
}

impl Fact {
    fn from_tag(name: &[u8]) -> Fact {
        let is = |known: &&str| known.as_bytes().eq_ignore_ascii_case(name);
        match date::TAGS.iter().position(is) {
            Some(place) => Fact::Date(place),
            None if [Color::White, Color::Black].map(rating::tag).iter().any(is) => Fact::Rating,
            None => Fact::Other,
        }
    }
}

/// Returns a reason without its game-specific parts, so games with the same kind of reason are counted together.
pub fn reason_class(reason: &str) -> String {
    for loss in ["left out", "cut"] {
        let said = [" side line is ", " side lines are "].map(|lines| format!("{lines}{loss}: "));
        if let Some(why) = said.iter().find_map(|said| Some(reason.split_once(said)?.1)) {
            let class = if why.starts_with("more than ") { why.to_owned() } else { reason_class(why) };
            return format!("side lines {loss}: {class}");
        }
    }
    for (end, class) in [(" is no move", "no move"), (" is illegal here", "illegal move")] {
        if reason.ends_with(end) {
            return class.to_owned();
        }
    }
    if reason.ends_with(')') && reason.contains(" is ambiguous (") {
        return String::from("ambiguous move");
    }
    if let Some((_, why)) = reason.split_once(" cannot be played: ") {
        return format!("a move cannot be played: {why}");
    }
    for (start, end) in [
        ("the FEN's castling rights", "were dropped"),
        ("impossible ones of the FEN's castling rights", "were dropped"),
        ("the FEN's en passant square", "was dropped"),
    ] {
        if reason.starts_with(start) && reason.ends_with(end) {
            return format!("{start} {end}");
        }
    }
    if reason.starts_with("exact duplicate of ") {
        return String::from(DUPLICATE);
    }
    if reason.starts_with("same moves as game ") {
        return String::from(SAME_MOVES);
    }
    if reason.starts_with("variant ") {
        return reason.to_lowercase();
    }
    let mut class = String::with_capacity(reason.len());
    let mut before = ' ';
    for letter in reason.chars() {
        // Digits after a letter belong to a name, such as Chess960.
        let is_of_number = letter.is_ascii_digit() && !before.is_alphabetic();
        match (is_of_number, before) {
            (false, _) => class.push(letter),
            (true, '0'..='9') => {}
            (true, _) => class.push('N'),
        }
        before = if letter.is_ascii_digit() && before.is_alphabetic() { before } else { letter };
    }
    class
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_classed() {
        for (reason, class) in [
            ("Nd7 is ambiguous (b8, f6)", "ambiguous move"),
            ("Nd7 is illegal here", "illegal move"),
            ("xyz is no move", "no move"),
            ("e4 cannot be played: a king is missing", "a move cannot be played: a king is missing"),
            ("the FEN's castling rights KQ were dropped", "the FEN's castling rights were dropped"),
            ("variant Atomic is not supported", "variant atomic is not supported"),
            ("game is longer than 67108864 bytes", "game is longer than N bytes"),
            ("comment is not closed", "comment is not closed"),
            ("a Chess960 game has no FEN to start from", "a Chess960 game has no FEN to start from"),
            ("line 120 of 3", "line N of N"),
            ("exact duplicate of game 17 of a.pgn", DUPLICATE),
            ("same moves as game 17 of a.pgn", SAME_MOVES),
            ("a side line is left out: without moves", "side lines left out: without moves"),
            ("12 side lines are cut: Nd7 is illegal here", "side lines cut: illegal move"),
        ] {
            assert_eq!(reason_class(reason), class);
        }
    }

    #[test]
    fn reasons_are_limited() {
        let count = 2 * REASONS_MAX;
        let sum = |numbers: &mut dyn Iterator<Item = usize>| {
            let mut totals = Totals::default();
            numbers.for_each(|i| totals.add_reason((ProblemKind::Cut, format!("{i}")), 1));
            totals
        };
        let totals = sum(&mut (0..count));
        assert_eq!(totals.reasons.len(), REASONS_MAX + 1);
        assert_eq!(totals.reasons.values().sum::<u64>(), count as u64);
        // The sum does not depend on order or grouping.
        assert_eq!(sum(&mut (0..count).rev()), totals);
        for cut in [1, 100, 300, 500] {
            let mut parts = sum(&mut (0..cut));
            parts.add(&sum(&mut (cut..count)));
            assert_eq!(parts, totals);
        }
    }
}
