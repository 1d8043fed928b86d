//! Compares the games that orbit's reader and the second reader find in the same text.

use std::ops::Range;

use super::play::{End, GameReading, How, reading};
use super::rules::{Rule, Rules};
use super::{lists, plain, visit};
use orbit_core::board::PackedMove;
use orbit_pgn::{Chunk, Game, GameStatus, ParseOptions, SideLine, SourceKind, SourceText};

/// The result of comparing the two readers: the number of games, and the number of games read differently because of a known rule.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Agreement {
    /// The number of games that orbit's reader read.
    pub games: u64,
    /// The number of games that the readers read differently because of a known rule.
    pub differing: u64,
    /// For each rule, the number of games that it explains.
    by_rule: [u64; Rule::ALL.len()],
}

impl Agreement {
    /// Adds the counts of another comparison.
    pub fn add(&mut self, other: &Agreement) {
        self.games += other.games;
        self.differing += other.differing;
        self.by_rule.iter_mut().zip(other.by_rule).for_each(|(sum, other)| *sum += other);
    }

    /// Returns the rules that explain differences, each with its number of games.
    pub fn by_rule(&self) -> impl Iterator<Item = (Rule, u64)> {
        Rule::ALL.iter().copied().zip(self.by_rule).filter(|(_, games)| *games > 0)
    }

    fn note(&mut self, rules: Rules) {
        self.differing += 1;
        rules.iter().for_each(|rule| self.by_rule[rule as usize] += 1);
    }
}

/// A difference between the two readers that no [`Rule`] explains.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The index of the source.
    pub source: u32,
    /// The number of the game in its stretch (a piece of a source's text), counted from 1. If only the second reader finds a game
    /// here, this is the number of the first reader's next game.
    pub number: u32,
    /// The offset of the game's first byte in the decompressed source.
    pub offset: u64,
    /// The ply at which the two readings of the game first differ.
    pub ply: u32,
    /// A description of the difference: what the first reader read, and what the second reader read.
    pub what: String,
}

/// Selects the readers that read a text.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Readers {
    /// Orbit's reader alone.
    #[default]
    First,
    /// Orbit's reader. The second reader checks it on one of every [`SAMPLE`] chunks (pieces of the text).
    Sampled,
    /// Both readers. The games of orbit's reader are used.
    Both,
    /// Both readers. The games of the second reader are used, except those that it cannot read.
    Second,
}

/// The second reader checks one chunk (piece of the text) out of this many.
pub const SAMPLE: u64 = 16;

impl Readers {
    /// Returns whether both readers read a chunk.
    pub fn read_again(self, chunk: &Chunk) -> bool {
        match self {
            Readers::First => false,
            Readers::Sampled => chunk.index.is_multiple_of(SAMPLE),
            Readers::Both | Readers::Second => true,
        }
    }
}

/// The results of reading a chunk with both readers.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Reread {
    /// The number of side lines (variations) in the chunk that orbit's reader skipped.
    pub side_lines: u64,
    /// The agreement of the readers.
    pub agreement: Agreement,
    /// The first difference that no rule explains.
    pub difference: Option<Difference>,
}

/// Reads the games of a chunk with both readers and compares them. Then, like [`Chunk::parse`], passes the games and their sources
/// to `on_game`. `readers` selects the reader whose games are passed.
pub fn read(
    chunk: &Chunk,
    options: &ParseOptions,
    readers: Readers,
    on_game: &mut dyn FnMut(u32, &Game),
) -> Reread {
    let mut out = Reread::default();
    let mut games: Vec<(u32, Game)> = Vec::new();
    // Tags are read and compared even if the caller does not need them.
    let with_tags = ParseOptions { tags: true, ..options.clone() };
    out.side_lines = chunk.parse(&with_tags, &mut |source, game| games.push((source, game.clone())));
    for text in &chunk.texts {
        let first = games.partition_point(|(source, _)| *source < text.source);
        let last = games.partition_point(|(source, _)| *source <= text.source);
        let games = &mut games[first..last];
        let ours: Vec<&Game> = games.iter().map(|(_, game)| game).collect();
        let mut pass = TextPass {
            text,
            game_bytes_max: chunk.game_bytes_max(),
            variations: options.variations,
            ours: &ours,
            agreement: Agreement::default(),
            kept: Vec::new(),
        };
        let compared = pass.compare();
        let TextPass { agreement, kept, .. } = pass;
        out.agreement.add(&agreement);
        out.difference = out.difference.or(compared.err());
        if readers == Readers::Second {
            kept.into_iter().for_each(|(index, reading)| take_second(&mut games[index].1, reading));
        }
    }
    for (source, game) in &mut games {
        if !options.tags {
            game.tags.clear();
        }
        on_game(*source, game);
    }
    out
}

/// Replaces the contents of a game by the second reader's reading. If the game was cut, keeps the first reader's place and reason
/// for the cut.
fn take_second(game: &mut Game, reading: GameReading) {
    game.start = reading.start;
    game.moves = reading.moves;
    game.positions.clear();
    game.lines = reading.lines;
    game.outcome = reading.outcome;
    game.tags = reading.tags;
}

/// The comparison of one text.
struct TextPass<'a> {
    text: &'a SourceText,
    game_bytes_max: usize,
    variations: bool,
    ours: &'a [&'a Game],
    agreement: Agreement,
    /// The second reader's games, each with the index of the corresponding game of the first reader.
    kept: Vec<(usize, GameReading)>,
}

impl TextPass<'_> {
    fn compare(&mut self) -> Result<(), Difference> {
        self.agreement.games = self.ours.len() as u64;
        let theirs = match self.text.kind {
            SourceKind::Pgn => visit::games(&self.text.bytes, self.variations),
            SourceKind::Epd => lists::games(&self.text.bytes),
        };
        let how = self.how(false);
        let theirs: Vec<GameReading> = theirs.iter().map(|found| reading(found, how)).collect();
        let (mut mine, mut other) = (0..0, 0..0);
        while mine.end < self.ours.len() || other.end < theirs.len() {
            (mine, other) = (mine.end..mine.end + 1, other.end..other.end + 1);
            // Extends both ranges of games up to the next offset in the text at which both readers begin a game.
            loop {
                mine.end = mine.end.min(self.ours.len());
                other.end = other.end.min(theirs.len());
                let place = other_place(&theirs, other.end, self.text.bytes.len());
                match self.place(mine.end).cmp(&place) {
                    std::cmp::Ordering::Less => mine.end += 1,
                    std::cmp::Ordering::Greater => other.end += 1,
                    std::cmp::Ordering::Equal => break,
                }
            }
            self.group(mine.clone(), &theirs[other.clone()])?;
        }
        Ok(())
    }

    fn how(&self, by_rules: bool) -> How {
        How { by_rules, variations: self.variations }
    }

    /// Returns the offset in the text of a game of the first reader, or the length of the text if there is no such game.
    fn place(&self, index: usize) -> usize {
        let end = self.text.bytes.len();
        self.ours.get(index).map_or(end, |game| (game.offset - self.text.offset) as usize)
    }

    /// Compares the games between two consecutive places at which both readers begin a game.
    fn group(&mut self, mine: Range<usize>, theirs: &[GameReading]) -> Result<(), Difference> {
        if let (&[index], [reading]) = (&mine.clone().collect::<Vec<_>>()[..], theirs)
            && reading.at == self.place(index)
            && !is_passed_in_check(self.ours[index], reading)
            && self.check(index, reading).is_ok()
        {
            self.kept.push((index, reading.clone()));
            return Ok(());
        }
        let first = theirs.first().map_or(usize::MAX, |reading| reading.at);
        let from = self.place(mine.start).min(first);
        let text = &self.text.bytes[from..self.place(mine.end)];
        let mut found = match self.text.kind {
            SourceKind::Pgn => plain::games(text, self.game_bytes_max),
            SourceKind::Epd => lists::games(text),
        };
        for game in &mut found {
            game.start += from;
            game.places.iter_mut().for_each(|place| *place += from);
        }
        if found.len() != mine.len() {
            let (ours, theirs) = (mine.len(), found.len());
            return Err(self.difference(mine.start, 0, format!("games from here on: {ours} and {theirs}")));
        }
        let readings: Vec<GameReading> = found.iter().map(|found| reading(found, self.how(true))).collect();
        for (index, reading) in mine.clone().zip(&readings) {
            self.check(index, reading)?;
        }
        let mut rules: Vec<Rules> =
            mine.clone().zip(&readings).map(|(index, reading)| self.rules_of(index, reading)).collect();
        // If pgn-reader gave up on a game, its error shows the rule that explains the difference.
        if let (Some(rules), Some(rule)) = (rules.first_mut(), theirs.iter().find_map(|theirs| theirs.broken))
        {
            rules.add(rule);
        }
        if mine.is_empty() {
            self.agreement.by_rule[Rule::Outside as usize] += 1;
        } else if rules.iter().all(|rules| rules.is_empty()) {
            return self.unexplained(mine, theirs);
        }
        for ((index, reading), rules) in mine.zip(readings).zip(rules) {
            if !rules.is_empty() {
                self.agreement.note(rules);
            }
            if !is_passed_in_check(self.ours[index], &reading) {
                self.kept.push((index, reading));
            }
        }
        Ok(())
    }

    /// Compares the games with the readings of pgn-reader and shakmaty alone. No rule applies to these games, so any difference is
    /// returned as an error.
    fn unexplained(&self, mine: Range<usize>, theirs: &[GameReading]) -> Result<(), Difference> {
        if let [reading] = theirs
            && mine.len() == 1
        {
            return self.check(mine.start, reading);
        }
        let (ours, theirs) = (mine.len(), theirs.len());
        Err(self.difference(
            mine.start,
            0,
            format!("games from here on: {ours} and {theirs}, without a rule"),
        ))
    }

    fn rules_of(&self, index: usize, reading: &GameReading) -> Rules {
        let mut rules = reading.rules;
        if is_passed_in_check(self.ours[index], reading) {
            rules.add(Rule::NullInCheck);
        }
        rules
    }

    fn difference(&self, index: usize, ply: usize, what: String) -> Difference {
        let game = self.ours.get(index).or(self.ours.last());
        let (number, offset) = game.map_or((0, self.text.offset), |game| (game.number, game.offset));
        Difference { source: self.text.source, number, offset, ply: ply as u32, what }
    }

    /// Compares a game with the second reader's reading of it, and returns the first difference as an error.
    fn check(&self, index: usize, reading: &GameReading) -> Result<(), Difference> {
        let game = self.ours[index];
        let differ = |ply: usize, what: String| Err(self.difference(index, ply, what));
        if reading.at != self.place(index) {
            let at = self.text.offset + reading.at as u64;
            return differ(0, format!("where it begins: byte {} and byte {at}", game.offset));
        }
        if game.tags != reading.tags {
            let pairs = game.tags.len().max(reading.tags.len());
            let pair = (0..pairs).find(|&k| game.tags.get(k) != reading.tags.get(k)).unwrap_or(0);
            let text = |tags: &[orbit_pgn::Tag]| {
                tags.get(pair).map_or("none".into(), |tag| {
                    let (name, value) = (tag.name.escape_ascii(), tag.value.escape_ascii());
                    format!("[{name} \"{value}\"]")
                })
            };
            let (ours, theirs) = (text(&game.tags), text(&reading.tags));
            return differ(0, format!("tag pair {}: {ours} and {theirs}", pair + 1));
        }
        if game.outcome != reading.outcome {
            return differ(game.moves.len(), format!("result: {:?} and {:?}", game.outcome, reading.outcome));
        }
        let is_skipped = matches!(game.status, GameStatus::Skipped(_));
        if is_skipped != matches!(reading.end, End::Refused(_)) {
            return differ(0, format!("what is kept: {:?} and {:?}", game.status, reading.end));
        }
        if is_skipped {
            return Ok(());
        }
        if game.start != reading.start {
            return differ(0, format!("start: {:?} and {:?}", game.start, reading.start));
        }
        if passes_in_main_line(game, reading) {
            return Ok(());
        }
        if game.moves != reading.moves {
            let same = game.moves.iter().zip(&reading.moves).take_while(|(a, b)| a == b).count();
            let text = |moves: &[PackedMove]| {
                moves.get(same).map_or("none".into(), |mv| format!("{}{}", mv.from(), mv.to()))
            };
            let (ours, theirs) = (text(&game.moves), text(&reading.moves));
            return differ(
                same,
                format!("move: {ours} and {theirs}; {:?} and {:?}", game.status, reading.end),
            );
        }
        if let Some(last) = game.positions.last().filter(|last| **last != reading.last) {
            return differ(game.moves.len(), format!("last position: {last:?} and {:?}", reading.last));
        }
        let cut = match &game.status {
            GameStatus::Cut(fault) => Some((fault.offset - self.text.offset) as usize),
            _ => None,
        };
        let is_cut = matches!(reading.end, End::Cut(_));
        if cut.is_some() != is_cut || reading.cut_at.is_some() && cut != reading.cut_at {
            return differ(
                game.moves.len(),
                format!("end: {:?} and {:?} at {:?}", game.status, reading.end, reading.cut_at),
            );
        }
        if game.lines != reading.lines && !reading.side_line_passes {
            let same = game.lines.iter().zip(&reading.lines).take_while(|(a, b)| a == b).count();
            let (ours, theirs) = (game.lines.get(same), reading.lines.get(same));
            let text = |line: Option<&SideLine>| {
                line.map_or("none".into(), |SideLine { parent, sibling, moves }| {
                    let first =
                        moves.first().map_or(String::new(), |mv| format!(", {}{}", mv.from(), mv.to()));
                    format!("{} moves from node {parent}, place {sibling}{first}", moves.len())
                })
            };
            return differ(0, format!("side line {}: {} and {}", same + 1, text(ours), text(theirs)));
        }
        Ok(())
    }
}

fn other_place(theirs: &[GameReading], index: usize, end: usize) -> usize {
    theirs.get(index).map_or(end, |reading| reading.at)
}

/// Returns whether the readers differ only because a side in check passes. The first reader plays the null move, and the second
/// reader stops there.
fn is_passed_in_check(game: &Game, reading: &GameReading) -> bool {
    reading.side_line_passes || passes_in_main_line(game, reading)
}

/// Returns whether the second reader's main line ends at a null move in check. The moves before it must be equal in both readings.
/// Side lines are not compared, since the null move changes the numbers of later ones.
fn passes_in_main_line(game: &Game, reading: &GameReading) -> bool {
    let plies = reading.moves.len();
    let goes_on = game.moves.get(plies) == Some(&PackedMove::NULL);
    reading.passes_in_check && goes_on && game.moves[..plies] == reading.moves[..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use orbit_pgn::{Outcome, ReadFault, Sources};

    const TEXT: &str = "[White \"a\"]\n[Black \"b\"]\n\n1. e4 e5 (1... c5 2. Nf3) (1... e6) 2. Nf3 1-0\n\n\
                        [White \"c\"]\n[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n\n1. e4 Kd7 *\n\n\
                        [White \"d\"]\n\ng1f3 Nc9 *\n\n\
                        [White \"e\"]\n[Variant \"atomic\"]\n\n1. e4 *\n";

    /// Calls `alter` to change the first reader's games, and compares them with the second reader's.
    fn compare(alter: impl FnOnce(&mut Vec<Game>)) -> Result<Agreement, String> {
        let options = ParseOptions { variations: true, ..ParseOptions::default() };
        let mut sources = Sources::from_bytes("test", TEXT.into());
        let chunk = sources.next_chunk().expect("a chunk");
        let mut games = Vec::new();
        chunk.parse(&options, &mut |_, game| games.push(game.clone()));
        alter(&mut games);
        let ours: Vec<&Game> = games.iter().collect();
        let mut pass = TextPass {
            text: &chunk.texts[0],
            game_bytes_max: chunk.game_bytes_max(),
            variations: true,
            ours: &ours,
            agreement: Agreement::default(),
            kept: Vec::new(),
        };
        let compared = pass.compare();
        compared.map_err(|difference| {
            let Difference { number, ply, what, .. } = difference;
            format!("{number} {ply} {what}")
        })?;
        Ok(pass.agreement)
    }

    #[test]
    fn what_was_read_well_agrees() {
        let agreement = compare(|_| ()).expect("no difference");
        assert_eq!((agreement.games, agreement.differing), (4, 1));
        let rules: Vec<_> = agreement.by_rule().collect();
        assert_eq!(rules, [(Rule::NoMove, 1), (Rule::Coordinates, 1)]);
    }

    #[test]
    fn whatever_is_altered_is_seen() {
        type Alter = fn(&mut Vec<Game>);
        let rows: &[(Alter, &str)] = &[
            (|games| games[0].moves[2] = PackedMove(games[0].moves[2].0 - 1), "1 2 move: f1f3 and g1f3"),
            (|games| games[0].moves.truncate(2), "1 2 move: none and g1f3"),
            (|games| games[2].moves.clear(), "3 0 move: none and g1f3"),
            (|games| _ = games[0].tags.pop(), "1 0 tag pair 2: none and [Black \"b\"]"),
            (|games| games[1].tags[0].value.push(b'x'), "2 0 tag pair 1: [White \"cx\"] and [White \"c\"]"),
            (|games| games[0].outcome = Outcome::Draw, "1 3 result: Draw and WhiteWins"),
            (|games| games[1].start = None, "2 0 start: None and Some("),
            (|games| games[0].lines[1].sibling = 1, "1 0 side line 2: "),
            (|games| games[0].lines[0].parent = 2, "1 0 side line 1: "),
            (|games| _ = games[0].lines.pop(), "1 0 side line 2: none and "),
            (|games| games[0].positions[3].state.0 ^= 1, "1 3 last position: "),
            (|games| games[1].offset += 1, "2 0 where it begins: byte 74 and byte 73"),
            (|games| _ = games.remove(1), "1 0 games from here on: 1 and 2"),
            (|games| games.insert(1, games[1].clone()), "2 0 games from here on: 2 and 1"),
            (|games| games[2].status = GameStatus::Whole, "3 1 end: Whole and Cut("),
            (|games| games[3].status = GameStatus::Whole, "4 0 what is kept: Whole and Refused("),
            (
                |games| games[0].status = GameStatus::Skipped(ReadFault::default()),
                "1 0 what is kept: Skipped(",
            ),
        ];
        let found = rows.iter().map(|(alter, _)| compare(alter).expect_err("a difference"));
        let wrong: Vec<String> = rows
            .iter()
            .zip(found)
            .filter(|((_, wanted), found)| !found.starts_with(wanted))
            .map(|((_, wanted), found)| format!("{found}, not {wanted}"))
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn a_cut_at_another_place_is_seen() {
        let moved = compare(|games| {
            if let GameStatus::Cut(fault) = &mut games[2].status {
                fault.offset -= 1;
            }
        });
        assert!(moved.expect_err("a difference").starts_with("3 1 end: Cut("));
    }
}
