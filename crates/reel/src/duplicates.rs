//! Finds games that equal an earlier game.
//!
//! There are two rules. Under [`Alike::Tags`], two games are equal if they have the same start position, moves, result and tags (in
//! any order), and if both or neither were cut short. If the reel stores side lines, then side lines, comments and glyphs must also
//! be equal. Under [`Alike::Moves`], two games are equal if they have the same start position and main line. Games are compared by
//! a 128-bit hash: among a billion games, the chance that any two different games have the same hash is below 1 in 10^20.

use hashbrown::HashTable;
use twox_hash::XxHash3_128;

use super::block::{Block, GameRecord, GameRow, Problem, ProblemKind};
use super::builder::BlockBuilder;
use orbit_core::named::choices;
use orbit_pgn::{Annotation, AnnotationKind};

/// The parts in which two games must agree to count as equal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Alike {
    /// All parts that the reel stores: start position, moves, result, tags and, if they are kept, side lines and comments.
    #[default]
    Tags,
    /// The start position and the moves of the main line. Tags, result, side lines and comments may differ.
    Moves,
}

choices! { Alike, "likeness of games",
    Alike::Tags => "tags", "Everything: start position, moves, result and tags";
    Alike::Moves => "moves", "The start position and the moves of the main line";
}

/// The hash of a game. Games that are equal by the chosen rule ([`Alike`]) have the same hash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GameHash(pub u128);

impl GameHash {
    /// Returns the hashes of a block's games, in order. If `alike` compares tags, the block must contain them.
    pub fn from_block(block: &Block, alike: Alike) -> Vec<GameHash> {
        let mut text = Vec::new();
        block.games().map(|game| GameHash::new(game, alike, &mut text)).collect()
    }

    /// Computes the hash of a game. `text` is a reusable buffer.
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

/// Appends the side lines, tags and comments of a game to `text`, whose hash identifies the game.
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

/// A set of the games seen so far. A game takes 20 bytes, or 24 to 48 bytes if free table entries are counted. While the table
/// grows, the old table is also in memory.
#[derive(Clone, Debug, Default)]
pub struct GameSet {
    alike: Alike,
    /// For each distinct hash, its four 32-bit parts, and the number (over all sources) of the first game with this hash.
    games: HashTable<([u32; 4], u32)>,
    /// The runs of games that come from one source. They are used to find the source of a game number.
    runs: Vec<GameRun>,
}

/// Consecutive games of one source.
#[derive(Clone, Copy, Debug)]
struct GameRun {
    /// The number of games in all sources before this run.
    games_before: u32,
    source: u32,
    /// The number of games in the same source before this run.
    in_source_before: u32,
}

impl GameSet {
    /// Makes an empty set.
    pub fn new(alike: Alike) -> GameSet {
        GameSet { alike, ..GameSet::default() }
    }

    /// Returns the parts in which two games must agree to count as equal.
    pub fn alike(&self) -> Alike {
        self.alike
    }

    /// Adds a game. If the set already contains an equal game, returns the number of that game instead.
    fn insert(&mut self, hash: GameHash, number: u32) -> Option<u32> {
        let words = hash.words();
        let place = |words: &[u32; 4]| u64::from(words[0]) | u64::from(words[1]) << 32;
        if let Some(&(_, first)) = self.games.find(place(&words), |game| game.0 == words) {
            return Some(first);
        }
        self.games.insert_unique(place(&words), (words, number), |game| place(&game.0));
        None
    }

    /// Adds all games of a block. Blocks must be added in the order of the database.
    pub fn insert_block(&mut self, block: &Block, hashes: &[GameHash]) {
        self.add_runs(block);
        for (game, &hash) in block.games().zip(hashes) {
            self.insert(hash, game.number());
        }
    }

    /// Returns the games of a block that equal an earlier game in the block or the set, and adds all other games to the set. Blocks
    /// must be passed in the order of the database.
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
            // If the games of a source are not contiguous, each contiguous part gets its own run. `orbit index` never writes such
            // sources.
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

    /// Returns the source of a game, and the game's number in that source.
    fn place(&self, number: u32) -> (u32, u32) {
        let run = self.runs.partition_point(|run| run.games_before < number) - 1;
        let GameRun { games_before, source, in_source_before } = self.runs[run];
        (source, in_source_before.saturating_add(number - games_before))
    }
}

/// A game of a block that equals an earlier game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Duplicate {
    /// The index of the later game in the block.
    pub index: usize,
    /// The source of the earlier game.
    pub source: u32,
    /// The number of the earlier game in its source, from 1.
    pub number: u32,
}

impl Block {
    /// Returns a copy of the block in which the given duplicates count as skipped. All games keep their numbers. The indices must
    /// ascend. The problem recorded for each duplicate names the earlier game by its source and its number in that source, because
    /// numbers over all sources differ from reel to reel.
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
