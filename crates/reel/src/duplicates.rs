//! Games that equal an earlier one.
//!
//! Two games are equal by their tags if start position, moves, result and tag pairs are, the pairs in any order, and if both
//! or neither were cut; where side lines are kept, these, comments and glyphs must be equal as well. By their moves they are
//! equal if start position and main line are. Games are compared by a hash of 128 bits: among a billion games, the chance that any
//! two different ones have the same is below 1 in 10^20.

use hashbrown::HashTable;
use twox_hash::XxHash3_128;

use super::block::{Block, GameRecord, GameRow, Problem, ProblemKind};
use super::builder::BlockBuilder;
use orbit_core::named::choices;
use orbit_pgn::{Annotation, AnnotationKind};

/// What of two games must be equal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Alike {
    /// Everything that is kept of them.
    #[default]
    Tags,
    /// The start position and the moves of the main line; whatever tags, result, side lines and comments are.
    Moves,
}

choices! { Alike, "likeness of games",
    Alike::Tags => "tags", "Everything: start position, moves, result and tags";
    Alike::Moves => "moves", "The start position and the moves of the main line";
}

/// What equal games have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GameHash(pub u128);

impl GameHash {
    /// The hashes of a block's games, in order. Tags must have been read if they count.
    pub fn of_block(block: &Block, alike: Alike) -> Vec<GameHash> {
        let mut text = Vec::new();
        block.games().map(|game| GameHash::new(game, alike, &mut text)).collect()
    }

    /// `text` is room that is used again.
    fn new(game: GameRow<'_>, alike: Alike, text: &mut Vec<u8>) -> GameHash {
        let start = game.start();
        text.clear();
        text.extend_from_slice(bytemuck::cast_slice(&start.board.planes));
        text.extend_from_slice(&start.state.0.to_le_bytes());
        if alike == Alike::Tags {
            text.extend([game.outcome() as u8, u8::from(game.is_cut())]);
        }
        text.extend((game.plies() as u64).to_le_bytes());
        text.extend_from_slice(bytemuck::cast_slice(game.moves()));
        if alike == Alike::Tags {
            add_the_rest(game, text);
        }
        GameHash(XxHash3_128::oneshot(text))
    }

    fn words(self) -> [u32; 4] {
        [0, 32, 64, 96].map(|shift| (self.0 >> shift) as u32)
    }
}

/// Adds the side lines, tags and comments of a game.
fn add_the_rest(game: GameRow<'_>, text: &mut Vec<u8>) {
    for line in game.lines() {
        text.extend([line.parent(), line.end_node()].iter().flat_map(|node| node.to_le_bytes()));
        text.extend_from_slice(&line.edge().0.to_le_bytes());
        text.extend_from_slice(bytemuck::cast_slice(line.moves()));
    }
    let mut tags: Vec<(&[u8], &[u8])> = game.tags().collect();
    tags.sort_unstable();
    for part in tags.iter().flat_map(|(name, value)| [name, value]) {
        text.extend((part.len() as u64).to_le_bytes());
        text.extend_from_slice(part);
    }
    for Annotation { node, kind } in game.annotations() {
        let (kind, note): (u8, &[u8]) = match kind {
            AnnotationKind::Before(note) => (0, note),
            AnnotationKind::Comment(note) => (1, note),
            AnnotationKind::Nag(glyph) => (2, &glyph.to_le_bytes()),
        };
        text.extend(node.to_le_bytes());
        text.push(kind);
        text.extend((note.len() as u64).to_le_bytes());
        text.extend_from_slice(note);
    }
}

/// The games that were seen so far. Each takes 20 bytes, and with the free places of the table 24 to 48; while
/// the table grows, the old one is there as well.
#[derive(Clone, Debug, Default)]
pub struct GameSet {
    alike: Alike,
    /// Words of the hash, and the number over all sources of the first game that has it.
    games: HashTable<([u32; 4], u32)>,
    /// Where these numbers lead to, by the first of each run.
    runs: Vec<GameRun>,
}

/// Games of one source that follow each other.
#[derive(Clone, Copy, Debug)]
struct GameRun {
    /// Games over all sources before it.
    games_before: u32,
    source: u32,
    /// Games of the source before it.
    in_source_before: u32,
}

impl GameSet {
    /// No games yet.
    pub fn new(alike: Alike) -> GameSet {
        GameSet { alike, ..GameSet::default() }
    }

    /// What of two games must be equal.
    pub fn alike(&self) -> Alike {
        self.alike
    }

    /// Adds a game unless an equal one is there, whose number is returned then.
    fn insert(&mut self, hash: GameHash, number: u32) -> Option<u32> {
        let words = hash.words();
        let place = |words: &[u32; 4]| u64::from(words[0]) | u64::from(words[1]) << 32;
        if let Some(&(_, first)) = self.games.find(place(&words), |game| game.0 == words) {
            return Some(first);
        }
        self.games.insert_unique(place(&words), (words, number), |game| place(&game.0));
        None
    }

    /// Adds all games of a block. Blocks come in their order.
    pub fn insert_block(&mut self, block: &Block, hashes: &[GameHash]) {
        self.add_runs(block);
        for (game, &hash) in block.games().zip(hashes) {
            self.insert(hash, game.number());
        }
    }

    /// The games of a block that equal an earlier one, of it or seen before; the others are added. Blocks come
    /// in their order, after those that were seen before.
    pub fn duplicates(&mut self, block: &Block, hashes: &[GameHash]) -> Vec<Duplicate> {
        self.add_runs(block);
        let numbered = block.games().zip(hashes);
        numbered
            .filter_map(|(game, &hash)| {
                let first = self.insert(hash, game.number())?;
                let (source, number) = self.place(first);
                Some(Duplicate { index: game.index(), source, number })
            })
            .collect()
    }

    fn add_runs(&mut self, block: &Block) {
        let mut games_before = block.games_before;
        for stretch in &block.source_games {
            let run =
                GameRun { games_before, source: stretch.source, in_source_before: stretch.games_before };
            // A source whose parts lie apart, as no index makes them, gets a run for each.
            let goes_on = |last: &GameRun| {
                last.source == run.source
                    && run.games_before.wrapping_sub(last.games_before)
                        == run.in_source_before.wrapping_sub(last.in_source_before)
            };
            if !self.runs.last().is_some_and(goes_on) {
                self.runs.push(run);
            }
            games_before += stretch.games;
        }
    }

    /// The source of a game, and its number in that.
    fn place(&self, number: u32) -> (u32, u32) {
        let run = self.runs.partition_point(|run| run.games_before < number) - 1;
        let GameRun { games_before, source, in_source_before } = self.runs[run];
        (source, in_source_before.saturating_add(number - games_before))
    }
}

/// A game of a block that equals an earlier one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Duplicate {
    /// Its index in the block.
    pub index: usize,
    /// The source of the earlier one.
    pub source: u32,
    /// The number of the earlier one in its source, from 1.
    pub number: u32,
}

impl Block {
    /// The same block with some games skipped, which keep their numbers. Indices rise. What a game repeats is
    /// told by its source's name and its number in that: numbers over all sources change from reel to reel.
    pub fn without_duplicates<'a>(
        &self,
        duplicates: &[Duplicate],
        alike: Alike,
        name: impl Fn(u32) -> &'a str,
    ) -> Block {
        let mut builder = BlockBuilder::with_source_games(&self.source_games);
        let mut dropped = Vec::with_capacity(duplicates.len());
        for row in self.games() {
            let Some(duplicate) = duplicates.get(dropped.len()).filter(|next| next.index == row.index())
            else {
                builder.push_row(row);
                continue;
            };
            let GameRecord { stretch, number, offset, .. } = self.games[row.index()];
            let what = match alike {
                Alike::Tags => "exact duplicate of",
                Alike::Moves => "same moves as",
            };
            let reason = format!("{what} game {} of {}", duplicate.number, name(duplicate.source));
            dropped.push(Problem { kind: ProblemKind::Skipped, stretch, number, offset, ply: 0, reason });
        }
        let place = |problem: &Problem| (problem.stretch, problem.number);
        let is_kept = |problem: &&Problem| dropped.binary_search_by_key(&place(problem), place).is_err();
        let mut problems: Vec<Problem> = self.problems.iter().filter(is_kept).cloned().collect();
        problems.extend(dropped);
        problems.sort_by_key(place);
        let mut block = builder.finish();
        block.games_before = self.games_before;
        block.problems = problems;
        block
    }
}
