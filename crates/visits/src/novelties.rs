//! Novelties: the first position of each game that occurs in no earlier game.

mod chosen;

use std::collections::HashMap;
use std::ops::ControlFlow;

pub use self::chosen::{ChosenNovelties, POSITIONS_MAX, novelties_of, novelties_without_table};

use super::format::{DateOrder, GameEntry, TableError};
use super::games::game_of;
use super::key::counted;
use super::read::{PositionTable, block_of};
use super::seen::SeenGame;
use orbit_core::board::{PackedMove, Position};
use orbit_core::game::MoveNumbers;
use orbit_reel::replay::position_at;
use orbit_reel::{Block, GameRow, Reel};

/// The maximum number of novelties for which the moves of earlier games are read together. They take about 60 MB.
const GROUP_MAX: usize = 1 << 16;
/// The maximum number of visits (occurrences of positions in earlier games) whose moves are read together. They take 64 MB.
const VISITS_MAX: usize = 1 << 22;

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
    take: impl FnMut(Novelty) -> ControlFlow<()>,
) -> Result<(), TableError> {
    novelties_in_groups(reel, table, [GROUP_MAX, VISITS_MAX], take)
}

/// Does the same as [`novelties`], with limits on the memory: the maximum number of novelties and the maximum number of visits of
/// earlier games for which moves are read together. For each such group, each block of the reel is read at most once.
///
/// # Errors
///
/// Fails if the reel or the table cannot be read or is damaged.
///
/// # Panics
///
/// Panics if the table covers fewer blocks than the reel has.
pub fn novelties_in_groups(
    reel: &Reel,
    table: &PositionTable,
    [group_max, visits_max]: [usize; 2],
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
    let mut group =
        NoveltyGroup { reel, table, games: &games, visits_max, found: Vec::new(), visits: Vec::new() };
    for index in 0..reel.blocks() {
        let block = block_of(reel, index, true)?;
        for game in block.games() {
            let moves = firsts.get(games.before[index] + game.index()).copied().unwrap_or(u32::MAX);
            if moves == u32::MAX {
                continue;
            }
            group.add(&block, index, &game, moves as usize)?;
            let is_full = group.found.len() >= group_max || group.visits.len() >= visits_max;
            if is_full && group.finish(&mut take)?.is_break() {
                return Ok(());
            }
        }
    }
    group.finish(&mut take).map(|_| ())
}

/// Consecutive novelties, for which the moves of earlier games are read together.
struct NoveltyGroup<'a> {
    reel: &'a Reel,
    table: &'a PositionTable,
    games: &'a ReelGames,
    visits_max: usize,
    found: Vec<FoundNovelty>,
    /// The visits of earlier games whose moves have not been read: the slot in the reel, and the index of the novelty in `found`.
    visits: Vec<(u64, u32)>,
}

/// A novelty, and the moves of earlier games that have been read so far.
struct FoundNovelty {
    novelty: Novelty,
    parent: Option<Position>,
    before: HashMap<PackedMove, u64>,
    /// The last game of which a move was read, and its different moves. A game counts once for each of them.
    last: Option<(usize, usize)>,
    played: Vec<PackedMove>,
}

impl FoundNovelty {
    /// Counts a move that a game played in the position before the novelty.
    fn add_move(&mut self, game: (usize, usize), mv: PackedMove) {
        if self.last != Some(game) {
            self.last = Some(game);
            self.played.clear();
        }
        if !mv.is_start() && !self.played.contains(&mv) {
            self.played.push(mv);
            *self.before.entry(mv).or_default() += 1;
        }
    }

    fn into_novelty(self) -> Novelty {
        let FoundNovelty { mut novelty, parent, before, .. } = self;
        if let Some(parent) = parent {
            novelty.set_before(before, &parent);
        }
        novelty
    }
}

impl NoveltyGroup<'_> {
    /// Adds the novelty of a game, which is its position after `moves` half-moves.
    fn add(&mut self, block: &Block, index: usize, game: &GameRow, moves: usize) -> Result<(), TableError> {
        let (novelty, parent) = Novelty::from_game(block, game, moves);
        let place = (novelty.game.order, index, game.index());
        let slot = self.games.blocks[index].0 + (game.first_slot() + novelty.game.moves) as u64;
        let number = self.found.len();
        let (before, played) = (HashMap::new(), Vec::new());
        self.found.push(FoundNovelty { novelty, parent, before, last: None, played });
        let (Some(parent), Some(own)) = (parent, slot.checked_sub(1)) else { return Ok(()) };
        let mut last = None;
        for slot in self.slots_with(own, &parent)? {
            let Some((block, _, game, date)) = self.games.place(slot) else { continue };
            if (date, block, game) >= place {
                continue;
            }
            if last != Some((block, game)) {
                last = Some((block, game));
                self.found[number].novelty.games_before += 1;
            }
            // A frequent position can have more visits than are kept in memory.
            if self.visits.len() >= self.visits_max {
                self.read_moves()?;
            }
            self.visits.push((slot, number as u32));
        }
        Ok(())
    }

    /// Returns the slots of all visits of a position, one of which is `own`. This slot identifies the position's entry in the
    /// table, so no board is read from the reel.
    fn slots_with(&self, own: u64, position: &Position) -> Result<Vec<u64>, TableError> {
        for (page, entries) in self.table.entries_with_key_of(&counted(position))? {
            for slots in entries {
                let slots = self.table.slots_in(page, slots)?;
                if slots.binary_search(&own).is_ok() {
                    return Ok(slots);
                }
            }
        }
        Err(self.table.damaged("a position of the reel has no visit"))
    }

    /// Reads the moves at all visits, block by block.
    fn read_moves(&mut self) -> Result<(), TableError> {
        self.visits.sort_unstable();
        let mut last: Option<(usize, Block)> = None;
        for (slot, number) in self.visits.drain(..) {
            let Some((index, slot, game, _)) = self.games.place(slot) else { continue };
            if last.as_ref().is_none_or(|(last, _)| *last != index) {
                last = Some((index, block_of(self.reel, index, false)?));
            }
            let mv = last.as_ref().and_then(|(_, block)| block.moves.get(slot as usize));
            let mv = *mv.ok_or_else(|| self.table.damaged("a visit is of no position of the reel"))?;
            self.found[number as usize].add_move((index, game), mv);
        }
        Ok(())
    }

    /// Reads the moves that are missing, and passes the novelties to `take` until it returns a break. Leaves the group empty.
    fn finish(
        &mut self,
        take: &mut impl FnMut(Novelty) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, TableError> {
        self.read_moves()?;
        Ok(self.found.drain(..).try_for_each(|found| take(found.into_novelty())))
    }
}
