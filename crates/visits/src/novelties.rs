//! Novelties: the first position of each game that occurs in no earlier game.

mod chosen;

use std::collections::{HashMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;

pub use self::chosen::{ChosenNovelties, POSITIONS_MAX, novelties_of, novelties_without_table};

use super::format::{DateOrder, GameEntry, TableError};
use super::games::game_of;
use super::read::{PositionTable, block_of};
use super::seen::SeenGame;
use orbit_core::board::{PackedMove, Position};
use orbit_core::game::MoveNumbers;
use orbit_reel::replay::position_at;
use orbit_reel::{Block, GameRow, Reel};

/// The maximum number of blocks to cache while moves of earlier games are looked up.
const BLOCKS_MAX: usize = 128;

/// The first position of a game that occurs in no earlier game. Games are ordered by date ([`DateOrder`]), and games with the same
/// date by their order in the reel. A game that repeats an earlier game move for move has no novelty.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Novelty {
    /// The game, and the number of half-moves before the position.
    pub game: SeenGame,
    /// The ply of the position.
    pub ply: u32,
    /// The move that leads to the position, with its number: `12... Nd5`. `None` if the position is the game's start.
    pub label: Option<String>,
    /// The position.
    pub position: Position,
    /// The moves that earlier games played instead, the most frequent first, each with its number of games. Equally frequent moves
    /// are in alphabetical order.
    pub before: Vec<MoveCount>,
    /// The number of earlier games that contain the position before the novelty.
    pub games_before: u64,
}

impl Novelty {
    /// Creates the novelty of a game: its position after `moves` half-moves. The moves of earlier games are added later. Also
    /// returns the position before it, if there is one.
    fn from_game(block: &Block, game: &GameRow, moves: usize) -> (Novelty, Option<Position>) {
        let moves = moves.min(game.plies());
        let slot = game.first_slot() + moves;
        let ply = game.ply_of(moves as u32);
        let parent = moves.checked_sub(1).map(|before| (position_at(block, slot - 1), game.moves()[before]));
        let label = parent.map(|(parent, mv)| {
            let mut label = Vec::new();
            MoveNumbers::from_header(game).push_label(ply, &mut label);
            format!("{} {}", String::from_utf8_lossy(&label), mv.to_san(&parent))
        });
        let novelty = Novelty {
            game: SeenGame::from_game(game, moves),
            ply,
            label,
            position: position_at(block, slot),
            before: Vec::new(),
            games_before: 0,
        };
        (novelty, parent.map(|(parent, _)| parent))
    }

    /// Sets the moves that earlier games played in the preceding position.
    fn set_before(&mut self, games: HashMap<PackedMove, u64>, parent: &Position) {
        let played = |(mv, games): (PackedMove, u64)| MoveCount { san: mv.to_san(parent), games };
        self.before = games.into_iter().map(played).collect();
        self.before.sort_by(|a, b| b.games.cmp(&a.games).then_with(|| a.san.cmp(&b.san)));
    }
}

/// A move, and the number of games in which it was played.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct MoveCount {
    /// The move in SAN.
    pub san: String,
    /// The number of games with the move.
    pub games: u64,
}

/// The games of a reel, as listed in its table of positions.
struct ReelGames {
    blocks: Vec<(u64, Vec<GameEntry>)>,
    /// The number of games before each block.
    before: Vec<usize>,
}

impl ReelGames {
    fn from_table(table: &PositionTable) -> Result<ReelGames, TableError> {
        let (mut blocks, mut before, mut games) = (Vec::new(), Vec::new(), 0);
        for (index, first_slot) in table.first_slots().enumerate() {
            let of_block = table.games(index)?;
            before.push(games);
            games += of_block.len();
            blocks.push((first_slot, of_block));
        }
        before.push(games);
        Ok(ReelGames { blocks, before })
    }

    /// Returns the block that contains a slot (a position of the reel), the slot within the block, and the index and the date of
    /// the game. Returns `None` if the slot belongs to no game.
    fn place(&self, slot: u64) -> Option<(usize, u32, usize, DateOrder)> {
        let block = self.blocks.partition_point(|(first, _)| *first <= slot).checked_sub(1)?;
        let (first, games) = &self.blocks[block];
        let slot = u32::try_from(slot - first).ok()?;
        let (game, date) = game_of(games, slot);
        (game < games.len()).then_some((block, slot, game, date))
    }
}

/// Calls `take` with the novelty of each game that has one, in reel order, until `take` returns a break.
///
/// # Errors
///
/// Fails if the reel or the table cannot be read or is damaged.
///
/// # Panics
///
/// Panics if the table covers fewer blocks than the reel has.
pub fn novelties(
    reel: &Reel,
    table: &PositionTable,
    mut take: impl FnMut(Novelty) -> ControlFlow<()>,
) -> Result<(), TableError> {
    assert_eq!(table.blocks(), reel.blocks(), "the table knows only some of the blocks");
    let games = ReelGames::from_table(table)?;
    // For each game, the number of half-moves before its first new position.
    let mut firsts = vec![u32::MAX; *games.before.last().unwrap_or(&0)];
    table.for_each_position(|slots| {
        let places = slots.iter().filter_map(|&slot| games.place(slot));
        // Slots are in ascending order, so the first one counts as the earliest among games with the same date.
        let earliest = places.min_by_key(|&(block, slot, _, date)| (date, block, slot));
        if let Some((block, slot, game, _)) = earliest {
            let first = &mut firsts[games.before[block] + game];
            *first = (*first).min(slot - games.blocks[block].1[game].first_slot);
        }
    })?;
    let mut lookup = Lookup { reel, table, games: &games, blocks: HashMap::new(), used: VecDeque::new() };
    for index in 0..reel.blocks() {
        let block = block_of(reel, index, true)?;
        for game in block.games() {
            let moves = firsts.get(games.before[index] + game.index()).copied().unwrap_or(u32::MAX);
            if moves == u32::MAX {
                continue;
            }
            let novelty = lookup.novelty(&block, index, &game, moves as usize)?;
            if take(novelty).is_break() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Finds in the reel the moves that earlier games played in a position. The most recently read blocks are cached.
struct Lookup<'a> {
    reel: &'a Reel,
    table: &'a PositionTable,
    games: &'a ReelGames,
    blocks: HashMap<usize, Arc<Block>>,
    used: VecDeque<usize>,
}

impl Lookup<'_> {
    fn block(&mut self, index: usize) -> Result<Arc<Block>, TableError> {
        if let Some(block) = self.blocks.get(&index) {
            return Ok(Arc::clone(block));
        }
        if self.used.len() == BLOCKS_MAX
            && let Some(oldest) = self.used.pop_front()
        {
            self.blocks.remove(&oldest);
        }
        let block = Arc::new(block_of(self.reel, index, false)?);
        self.used.push_back(index);
        self.blocks.insert(index, Arc::clone(&block));
        Ok(block)
    }

    fn novelty(
        &mut self,
        block: &Block,
        index: usize,
        game: &GameRow,
        moves: usize,
    ) -> Result<Novelty, TableError> {
        let (mut novelty, parent) = Novelty::from_game(block, game, moves);
        let Some(parent) = parent else { return Ok(novelty) };
        let place = (novelty.game.order, index, game.index());
        let mut counts: HashMap<PackedMove, u64> = HashMap::new();
        let table = self.table;
        let found = table.find_in(&parent, &mut |block| self.block(block))?;
        let slots = found.map(|found| table.slots(&found)).transpose()?.unwrap_or_default();
        let mut last = None;
        let mut played = Vec::new();
        for slot in slots {
            let Some((block, slot, game, date)) = self.games.place(slot) else { continue };
            if (date, block, game) >= place {
                continue;
            }
            if last != Some((block, game)) {
                last = Some((block, game));
                played.clear();
                novelty.games_before += 1;
            }
            let found = self.block(block)?;
            let mv = found.moves[slot as usize];
            if !mv.is_start() && !played.contains(&mv) {
                played.push(mv);
                *counts.entry(mv).or_default() += 1;
            }
        }
        novelty.set_before(counts, &parent);
        Ok(novelty)
    }
}
