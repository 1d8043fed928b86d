//! Finds the novelties of chosen games without a table, by reading all games three times. A novelty is the first position of a game
//! that occurs in no earlier game.
//!
//! The first pass collects the positions of the chosen games. The second pass finds the first game with each of these positions.
//! The third pass counts the moves that earlier games played in the position before each novelty. Only positions of the chosen
//! games are in memory. Invariant: the results are the same as those of [`novelties`](super::novelties).

use std::ops::ControlFlow;

use hashbrown::{HashMap, HashSet};

use super::Novelty;
use crate::format::{DateOrder, TableError};
use crate::key::{PositionKey, counted};
use orbit_core::board::{PackedMove, Position};
use orbit_core::game::Date;
use orbit_database::{BlockStream, StreamedBlock, Summary};
use orbit_reel::replay::SegmentColumns;
use orbit_reel::{Block, GameRow, SEGMENT_SLOTS};

/// The maximum number of positions of chosen games. A game that would exceed it and all later games are left out, but the first
/// game is always examined. The limit is enough for about 50,000 games, whose positions take about 250 MB.
pub const POSITIONS_MAX: usize = 1 << 22;

/// The place of a game in the order of all games. Earlier games have lower places.
type GamePlace = (DateOrder, u32);

/// The novelties of chosen games.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ChosenNovelties<T> {
    /// The games examined, in database order: the caller's note about each game, and its novelty, if it has one.
    pub games: Vec<(T, Option<Novelty>)>,
    /// The number of chosen games left out because earlier ones already have too many positions.
    pub left_out: u64,
    /// The results of reading all games once.
    pub summary: Summary,
}

struct ChosenGame<T> {
    note: T,
    place: GamePlace,
    /// The numbers of its positions.
    positions: Vec<u32>,
}

/// A position that directly precedes a novelty in at least one game, with the moves that earlier games played in it.
#[derive(Default)]
struct NoveltyParent {
    /// The games with a novelty right after this position, each with its place in the order of all games.
    novelties: Vec<(GamePlace, MovesBefore)>,
}

#[derive(Default)]
struct MovesBefore {
    games: u64,
    moves: std::collections::HashMap<PackedMove, u64>,
}

/// Finds the novelties of chosen games, compared with all games of the database. `choose` is called with each block, including its
/// tags. For each game of the block it returns a note, or `None` if the game is not chosen. `watch` is called with each block of
/// each pass. Returns `None` if the database cannot be read repeatedly, or after an interrupt.
///
/// # Errors
///
/// Fails if a reel cannot be read or is damaged.
pub fn novelties_of<T: Send>(
    database: &BlockStream,
    threads: usize,
    choose: impl Fn(&Block) -> Vec<Option<T>> + Sync,
    watch: impl FnMut(&StreamedBlock),
) -> Result<Option<ChosenNovelties<T>>, TableError> {
    novelties_within(database, threads, POSITIONS_MAX, choose, watch)
}

/// Calls `take` with the novelty of each game that has one, in database order, until `take` returns a break. Needs no table: the
/// games are handled in groups of up to `positions_max` positions (a group has at least one game), and all games are read three
/// times for each group. Returns the results of reading all games once, or `None` if the database cannot be read repeatedly, or
/// after an interrupt.
///
/// # Errors
///
/// Fails if a reel cannot be read or is damaged.
pub fn novelties_without_table(
    database: &BlockStream,
    threads: usize,
    positions_max: usize,
    mut take: impl FnMut(Novelty) -> ControlFlow<()>,
) -> Result<Option<Summary>, TableError> {
    let mut next = 0;
    loop {
        let choose = |block: &Block| -> Vec<Option<u32>> {
            block.games().map(|game| Some(game.number()).filter(|number| *number >= next)).collect()
        };
        let found = novelties_within(database, threads, positions_max, choose, |_| ())?;
        let Some(ChosenNovelties { games, left_out, summary }) = found else { return Ok(None) };
        next = games.last().map_or(next, |(number, _)| number + 1);
        let ended = games.into_iter().filter_map(|(_, novelty)| novelty).try_for_each(&mut take).is_break();
        if ended || left_out == 0 {
            return Ok(Some(summary));
        }
    }
}

fn novelties_within<T: Send>(
    database: &BlockStream,
    threads: usize,
    positions_max: usize,
    choose: impl Fn(&Block) -> Vec<Option<T>> + Sync,
    mut watch: impl FnMut(&StreamedBlock),
) -> Result<Option<ChosenNovelties<T>>, TableError> {
    if !database.is_repeatable() {
        return Ok(None);
    }
    let mut known: HashMap<PositionKey, u32> = HashMap::new();
    let (mut games, mut left_out) = (Vec::new(), 0);
    let noted = |block: &Block| -> Vec<(T, GamePlace, Vec<PositionKey>)> {
        let chosen = choose(block).into_iter().zip(block.games());
        let chosen = chosen.filter_map(|(note, game)| Some((note?, game)));
        chosen.map(|(note, game)| (note, place_of(&game), keys_of(&game))).collect()
    };
    let first = database.unread().for_each_block(threads, noted, |streamed, noted| {
        watch(&streamed);
        for (note, place, keys) in noted {
            if left_out > 0 || !games.is_empty() && known.len() + keys.len() > positions_max {
                left_out += 1;
                continue;
            }
            let mut number = |key| {
                let next = known.len() as u32;
                *known.entry(key).or_insert(next)
            };
            let positions = keys.into_iter().map(&mut number).collect();
            games.push(ChosenGame { note, place, positions });
        }
        ControlFlow::Continue(())
    })?;
    // For each position, the place of the first game in which it occurs.
    let mut firsts: Vec<GamePlace> = vec![(DateOrder::from_date(None), u32::MAX); known.len()];
    let plain = || database.unread().without_variations(false);
    let second = plain().for_each_block(
        threads,
        |block| first_games(block, &known),
        |streamed, found| {
            watch(&streamed);
            for (position, place) in found {
                let first = &mut firsts[position as usize];
                *first = (*first).min(place);
            }
            ControlFlow::Continue(())
        },
    )?;
    // `novel` maps the number of each game with a novelty to the number of half-moves before it. `parents` maps the number of each
    // position before a novelty to that position's data.
    let new = |game: &ChosenGame<T>| {
        let is_new = |position: &u32| firsts[*position as usize] == game.place;
        game.positions.iter().position(is_new)
    };
    let novel: HashMap<u32, usize> =
        games.iter().filter_map(|game| Some((game.place.1, new(game)?))).collect();
    let mut parents: HashMap<u32, NoveltyParent> = HashMap::new();
    for game in &games {
        let before = novel.get(&game.place.1).and_then(|moves| moves.checked_sub(1));
        if let Some(before) = before {
            let parent = parents.entry(game.positions[before]).or_default();
            parent.novelties.push((game.place, MovesBefore::default()));
        }
    }
    known.retain(|_, position| parents.contains_key(position));
    let mut described: HashMap<u32, (Novelty, Option<Position>)> = HashMap::new();
    let third = plain().for_each_block(
        threads,
        |block| (visits(block, &known), describe(block, &novel)),
        |streamed, (visits, found)| {
            watch(&streamed);
            for GameVisits { position, place, moves } in visits {
                let parent = parents.entry(position).or_default();
                for (_, before) in parent.novelties.iter_mut().filter(|(novelty, _)| place < *novelty) {
                    before.games += 1;
                    moves.iter().for_each(|mv| *before.moves.entry(*mv).or_default() += 1);
                }
            }
            described.extend(found);
            ControlFlow::Continue(())
        },
    )?;
    if !(first.finished && second.finished && third.finished) {
        return Ok(None);
    }
    for (place, before) in parents.into_values().flat_map(|parent| parent.novelties) {
        if let Some((novelty, Some(parent))) = described.get_mut(&place.1) {
            novelty.games_before = before.games;
            novelty.set_before(before.moves, parent);
        }
    }
    let novelty = |game: ChosenGame<T>| {
        let described = described.remove(&game.place.1);
        (game.note, described.map(|(novelty, _)| novelty))
    };
    Ok(Some(ChosenNovelties { games: games.into_iter().map(novelty).collect(), left_out, summary: first }))
}

fn place_of(game: &GameRow) -> GamePlace {
    (DateOrder::from_date(Date::from_game(game)), game.number())
}

/// Returns the keys of all positions in a game's main line.
fn keys_of(game: &GameRow) -> Vec<PositionKey> {
    let mut position = game.start();
    let mut keys = vec![PositionKey::new(&counted(&position), u64::BITS)];
    for &mv in game.moves() {
        position.play(mv);
        keys.push(PositionKey::new(&counted(&position), u64::BITS));
    }
    keys
}

/// Calls `take` for each occurrence of a known position in a block, with the slot, the game, and the number of the position.
fn for_each_visit(
    block: &Block,
    known: &HashMap<PositionKey, u32>,
    mut take: impl FnMut(usize, &GameRow, u32),
) {
    let mut columns = SegmentColumns::new();
    let mut game: Option<GameRow> = None;
    for segment in 0..block.segments() {
        columns.replay(block, segment);
        for i in 0..columns.masks.valid.count_ones() as usize {
            let key = PositionKey::new(&counted(&columns.position(i)), u64::BITS);
            let Some(&position) = known.get(&key) else { continue };
            let slot = segment * SEGMENT_SLOTS + i;
            let same = game.take().filter(|game| game.slots().contains(&slot));
            let of_slot = same.unwrap_or_else(|| block.game(block.game_of_slot(slot)));
            take(slot, &of_slot, position);
            game = Some(of_slot);
        }
    }
}

/// Returns, for each known position in a block, the first game of the block in which it occurs.
fn first_games(block: &Block, known: &HashMap<PositionKey, u32>) -> HashMap<u32, GamePlace> {
    let mut firsts: HashMap<u32, GamePlace> = HashMap::new();
    let mut last: Option<GamePlace> = None;
    for_each_visit(block, known, |_, game, position| {
        // Reading a date means reading tags, so each game's date is read only once.
        let place = last.filter(|(_, number)| *number == game.number()).unwrap_or_else(|| place_of(game));
        last = Some(place);
        let first = firsts.entry(position).or_insert(place);
        *first = (*first).min(place);
    });
    firsts
}

/// The visits of one game at one position.
struct GameVisits {
    position: u32,
    place: GamePlace,
    /// The different moves that the game played in the position.
    moves: HashSet<PackedMove>,
}

/// Returns, for each game of a block, its visits to each of the known positions.
fn visits(block: &Block, known: &HashMap<PositionKey, u32>) -> Vec<GameVisits> {
    let mut all: Vec<GameVisits> = Vec::new();
    let mut of_game = 0;
    for_each_visit(block, known, |slot, game, position| {
        if all.get(of_game).is_some_and(|visits| visits.place.1 != game.number()) {
            of_game = all.len();
        }
        let at = all[of_game..].iter().position(|visits| visits.position == position);
        let at = at.map_or(all.len(), |at| of_game + at);
        if at == all.len() {
            let place = all.get(of_game).map_or_else(|| place_of(game), |visits| visits.place);
            all.push(GameVisits { position, place, moves: HashSet::new() });
        }
        let mv = block.moves[slot];
        if !mv.is_start() {
            all[at].moves.insert(mv);
        }
    });
    all
}

/// Describes the novelties of a block. `novel` maps the number of each game with a novelty to the number of half-moves before the
/// novelty.
fn describe(block: &Block, novel: &HashMap<u32, usize>) -> Vec<(u32, (Novelty, Option<Position>))> {
    let of_game = |game: GameRow| {
        let moves = *novel.get(&game.number())?;
        Some((game.number(), Novelty::from_game(block, &game, moves)))
    };
    block.games().filter_map(of_game).collect()
}
