//! The bytes of a file to a block. Nothing in them is trusted: every index that replay or a table
//! look-up will follow is checked here, so that a file with forged checksums gives an error or some
//! block, never a panic.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::block::{Block, GameRecord, Key, Problem, ProblemKind, SEGMENT_SLOTS, SourceGames, Tags};
use super::bytes::{Bytes, Fault, NO_MEMORY, room, to_vec};
use super::encode::Starts;
use super::fen;
use super::format::{
    BLOCK_HEADER_BYTES, BLOCK_MAGIC, BLOCK_PROBLEMS_MAX, BLOCK_TAGS_MAX, BlockHeader, FRAMES_BYTES_MAX,
    Frame, GAME_BYTES_MAX, PART_BYTES_MAX, START_BYTES_MAX,
};
use super::strings::Strings;
use crate::board::{Board, PackedMove, Position, State};
use crate::pgn::Outcome;

/// The frame that holds the tags.
const TAGS: usize = 2;

/// Frames of a block that together hold more are unpacked by one thread at a time. Those of ordinary blocks hold less
/// than a megabyte; what a forged block claims would otherwise be taken once a thread.
const FRAMES_BYTES_LARGE: u64 = 16 << 20;

/// The turn of a block whose frames are large.
fn turn(frames_bytes: u64) -> Option<MutexGuard<'static, ()>> {
    static TURN: Mutex<()> = Mutex::new(());
    (frames_bytes > FRAMES_BYTES_LARGE).then(|| TURN.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Decodes a block whose checksum was found right, without its tags if they are not wanted. It may hold so many games,
/// skipped ones included.
pub(super) fn decode(bytes: &[u8], games_read: u32, with_tags: bool) -> Result<Block, Fault> {
    let (header, rest) = bytes.split_first_chunk::<BLOCK_HEADER_BYTES>().ok_or("no block header")?;
    let header: BlockHeader = bytemuck::pod_read_unaligned(header);
    if header.magic != BLOCK_MAGIC {
        return Err("no block begins here");
    }
    check_claims(&header, games_read)?;
    let _turn = turn(header.frames.iter().map(|frame| u64::from(frame.raw_bytes)).sum());
    let mut rest = Bytes(rest);
    let segments = u64::from(header.slots).div_ceil(SEGMENT_SLOTS as u64);
    let mut block = Block {
        keys: to_vec(rest.take(segments * size_of::<Key>() as u64)?),
        moves: to_vec(rest.take(u64::from(header.slots) * 2)?),
        ..Block::default()
    };
    let mut frames = [const { Vec::new() }; 4];
    for (section, (raw, frame)) in frames.iter_mut().zip(header.frames).enumerate() {
        let stored = rest.take(frame.bytes.into())?;
        if section != TAGS || with_tags {
            *raw = decompress(stored, frame)?;
        }
    }
    if rest.0.len() >= 8 {
        return Err("bytes are left over");
    }
    let [starts, games, tags, problems] = frames.each_ref().map(|raw| Bytes(raw));
    block.starts = decode_starts(starts, header.starts as usize)?;
    decode_games(games, header.games as usize, &mut block)?;
    check_keys(&block)?;
    decode_problems(problems, &mut block)?;
    block.tags = match with_tags {
        true => decode_tags(tags, &block)?,
        false => Tags { ends: vec![0; block.games.len()], ..Tags::default() },
    };
    Ok(block)
}

/// Whether a block may be what its header says. Frames are small when they are stored, whatever they claim.
fn check_claims(header: &BlockHeader, games_read: u32) -> Result<(), Fault> {
    let BlockHeader { slots, starts, games, frames, .. } = *header;
    if games > slots || starts > games || games > games_read {
        return Err("there are more games than slots, or more starts than games");
    }
    let [starts_max, games_max] = [
        u64::from(starts) * START_BYTES_MAX,
        10 + u64::from(games) * GAME_BYTES_MAX + u64::from(games_read) * PART_BYTES_MAX,
    ];
    let claims = frames.map(|frame| u64::from(frame.raw_bytes));
    if claims[0] > starts_max || claims[1] > games_max || claims.iter().sum::<u64>() > FRAMES_BYTES_MAX {
        return Err("a frame claims to hold more than any may");
    }
    Ok(())
}

fn decompress(stored: &[u8], frame: Frame) -> Result<Vec<u8>, Fault> {
    let expected = u64::from(frame.raw_bytes);
    if stored.is_empty() {
        return if expected == 0 { Ok(Vec::new()) } else { Err("a frame is missing") };
    }
    let mut raw = room(expected)?;
    let mut decoder = zstd::bulk::Decompressor::new().map_err(|_| NO_MEMORY)?;
    match decoder.decompress_to_buffer(stored, &mut raw) {
        Ok(len) if len as u64 == expected => Ok(raw),
        Ok(_) => Err("a frame has another length than its header says"),
        // The library knows its errors by texts alone.
        Err(error) => Err(match error.to_string() {
            text if text.contains("not enough memory") => NO_MEMORY,
            text if text.contains("Destination") => "a frame has another length than its header says",
            _ => "a frame is not zstd",
        }),
    }
}

/// Whether a board holds nothing but pieces.
fn check_position(board: &Board, state: State) -> Result<(), Fault> {
    let [p0, p1, p2, p3] = board.planes;
    if p0 & p1 & p2 != 0 || p3 & !(p0 | p1 | p2) != 0 {
        return Err("a board holds what is no piece");
    }
    let rights = state.0 >> 16;
    let files = rights & 0x7777;
    // A nibble is 0 or 8 + file: no file without its 8.
    let granted = rights >> 3 & 0x1111;
    if state.0 & 0xfe != 0 || state.0 >> 8 & 0xff > 64 || files & !(granted * 7) != 0 {
        return Err("a position's state has undefined bits");
    }
    Ok(())
}

fn decode_starts(mut bytes: Bytes<'_>, len: usize) -> Result<Vec<Position>, Fault> {
    let columns = bytes.take(12 * len as u64)?;
    let column = |k: usize, i: usize| u64::from(columns[k * len + i]);
    let mut half = None;
    let mut starts = Vec::with_capacity(len);
    for i in 0..len {
        let occupied = (0..8).fold(0, |all, k| all | column(k, i) << (8 * k));
        let state = (0..4).fold(0, |all, k| all | (column(8 + k, i) as u32) << (8 * k));
        let mut position = Position { board: Board::default(), state: State(state) };
        for square in crate::board::Bitboard(occupied) {
            let code = match half.take() {
                Some(code) => code,
                None => {
                    let byte = bytes.take(1)?[0];
                    half = Some(byte >> 4);
                    byte & 15
                }
            };
            position.board.put(square, crate::board::Code(code));
        }
        check_position(&position.board, position.state)?;
        starts.push(position);
    }
    bytes.end()?;
    Ok(starts)
}

fn decode_games(mut bytes: Bytes<'_>, len: usize, block: &mut Block) -> Result<(), Fault> {
    for _ in 0..bytes.count()? {
        let [source, first_game, games, games_before] = [(); 4].map(|()| bytes.number_u32());
        let stretch = SourceGames {
            source: source?,
            first_game: first_game?,
            games: games?,
            games_before: games_before?,
        };
        stretch.games.checked_add(stretch.games_before).ok_or("a source has too many games")?;
        block.source_games.push(stretch);
    }
    let read: u64 = block.source_games.iter().map(|stretch| u64::from(stretch.games)).sum();
    if read < len as u64 || read > u64::from(u32::MAX) {
        return Err("the stretches have another number of games than the block");
    }
    let flags = bytes.take(len as u64)?;
    let first_slots = first_slots(&block.moves, len)?;
    let mut stretch = 0;
    for (index, (&flags, (first_slot, from_table))) in flags.iter().zip(first_slots).enumerate() {
        while block.source_games.get(stretch + 1).is_some_and(|next| next.first_game as usize <= index) {
            stretch += 1;
        }
        let outcome = match flags & 3 {
            0 => Outcome::Unknown,
            1 => Outcome::WhiteWins,
            2 => Outcome::BlackWins,
            _ => Outcome::Draw,
        };
        let cut = flags & 4 != 0;
        let stretch = stretch as u32;
        block.games.push(GameRecord { first_slot, stretch, number: 0, offset: 0, outcome, cut, from_table });
    }
    let mut before = (u32::MAX, 0u32);
    for game in &mut block.games {
        before = if before.0 == game.stretch { before } else { (game.stretch, 0) };
        before.1 = before.1.checked_add(bytes.number_u32()?).ok_or("a game's number is too large")?;
        if before.1 > block.source_games[game.stretch as usize].games {
            return Err("a game's number lies outside its stretch");
        }
        game.number = before.1;
    }
    let mut before = (u32::MAX, 0u64);
    for game in &mut block.games {
        before = if before.0 == game.stretch { before } else { (game.stretch, 0) };
        before.1 = before.1.wrapping_add(bytes.number()?);
        game.offset = before.1;
    }
    bytes.end()
}

/// Where games begin: after every start code but the last.
fn first_slots(moves: &[PackedMove], games: usize) -> Result<Vec<(u32, bool)>, Fault> {
    if moves.last().is_some_and(|&last| last != PackedMove::START_STANDARD) {
        return Err("the last slot leads on");
    }
    let mut slots = Vec::with_capacity(games.min(moves.len()));
    if !moves.is_empty() {
        slots.push((0, false));
    }
    for (seg, moves) in moves.chunks(SEGMENT_SLOTS).enumerate() {
        for i in starts(moves) {
            let mv = moves[i];
            if mv != PackedMove::START_STANDARD && mv != PackedMove::START_TABLE {
                return Err("a start code has undefined bits");
            }
            slots.push(((seg * SEGMENT_SLOTS + i) as u32 + 1, mv.is_start_table()));
        }
    }
    // Past the last slot begins no game.
    slots.pop_if(|slot| slot.0 as usize == moves.len());
    if slots.len() != games {
        return Err("the moves hold another number of games than the block");
    }
    Ok(slots)
}

/// The start codes among the moves of a segment. Most segments have none.
fn starts(moves: &[PackedMove]) -> impl Iterator<Item = usize> {
    let mask = moves.iter().zip(0..).fold(0, |mask, (mv, i)| mask | u32::from(mv.is_start()) << i);
    crate::board::Bitboard(mask.into()).into_iter().map(|square| square as usize)
}

/// Checks what keys say of tables and plies against the moves. (Whether a key's position is what
/// the moves lead to, only replay can tell.)
fn check_keys(block: &Block) -> Result<(), Fault> {
    let (mut game, mut start, mut first_slot) = (0u32, 0u32, 0usize);
    for (seg, moves) in block.moves.chunks(SEGMENT_SLOTS).enumerate() {
        let (key, slot) = (&block.keys[seg], seg * SEGMENT_SLOTS);
        check_position(&key.board, key.state)?;
        if (key.first_game, key.first_start, key.ply as usize) != (game, start, slot - first_slot) {
            return Err("a key does not fit the moves before it");
        }
        for i in starts(moves) {
            game += 1;
            start += u32::from(moves[i].is_start_table());
            first_slot = slot + i + 1;
        }
    }
    if start as usize != block.starts.len() {
        return Err("the start table has another length than the moves say");
    }
    Ok(())
}

const TOO_MANY_TAGS: Fault = "there are more tags than there may be";

fn decode_tags(mut bytes: Bytes<'_>, block: &Block) -> Result<Tags, Fault> {
    let mut tags = Tags::default();
    if block.games.is_empty() {
        return Ok(tags);
    }
    let names = bytes.count()?;
    if names as u64 > BLOCK_TAGS_MAX {
        return Err(TOO_MANY_TAGS);
    }
    for _ in 0..names {
        tags.names.push(bytes.string()?);
    }
    let mut shapes = Vec::new();
    let lists = bytes.count()?;
    if lists > block.games.len() {
        return Err("there are more lists of tags than games");
    }
    let mut listed = 0;
    for _ in 0..lists {
        let mut shape = Vec::new();
        for _ in 0..bytes.count()? {
            let name = bytes.number_u32()?;
            if name as usize >= tags.names.len() {
                return Err("a tag has no name");
            }
            shape.push(name);
        }
        listed += shape.len() as u64;
        if listed > BLOCK_TAGS_MAX {
            return Err(TOO_MANY_TAGS);
        }
        shapes.push(shape);
    }
    let mut chosen = Vec::with_capacity(block.games.len());
    let mut pairs = 0u64;
    for _ in &block.games {
        let shape: &Vec<u32> = shapes.get(bytes.number()? as usize).ok_or("a game has no list of tags")?;
        pairs += shape.len() as u64;
        chosen.push(shape);
    }
    let values = bytes.count()?;
    if pairs > BLOCK_TAGS_MAX || values as u64 > pairs {
        return Err(TOO_MANY_TAGS);
    }
    if pairs > bytes.0.len() as u64 {
        return Err("tags are missing");
    }
    let mut last = vec![0u32; tags.names.len()];
    let mut owners = Vec::with_capacity(values);
    for (game, shape) in chosen.into_iter().enumerate() {
        for &name in shape {
            let value = match bytes.number()? {
                0 => {
                    owners.push(game);
                    owners.len() as u64 - 1
                }
                1 => last[name as usize].into(),
                code => code - 2,
            };
            if value >= owners.len() as u64 {
                return Err("a tag has no value");
            }
            last[name as usize] = value as u32;
            tags.pairs.push((name, value as u32));
        }
        tags.ends.push(tags.pairs.len());
    }
    if owners.len() != values {
        return Err("a tag value belongs to no game");
    }
    tags.values = decode_values(bytes, block, &owners)?;
    Ok(tags)
}

fn decode_values(mut bytes: Bytes<'_>, block: &Block, owners: &[usize]) -> Result<Strings, Fault> {
    let mut codes = Vec::with_capacity(owners.len());
    for _ in owners {
        codes.push(bytes.number()?);
    }
    let mut values = Strings::default();
    let mut starts = Starts::new(block);
    let mut fen = Vec::new();
    for (&code, &game) in codes.iter().zip(owners) {
        let value = match code {
            0 | 1 => {
                let counters =
                    if code == 0 { Some((bytes.number_u32()?, bytes.number_u32()?)) } else { None };
                fen.clear();
                fen::write(&starts.of(game), counters, &mut fen).ok_or("a FEN cannot be rebuilt")?;
                &fen
            }
            _ => bytes.take(code - 2)?,
        };
        values.push(value);
    }
    bytes.end()?;
    Ok(values)
}

fn decode_problems(mut bytes: Bytes<'_>, block: &mut Block) -> Result<(), Fault> {
    while !bytes.0.is_empty() {
        let kind = ProblemKind::from_byte(bytes.take(1)?[0])?;
        let (stretch, number) = (bytes.number_u32()?, bytes.number_u32()?);
        if block.source_games.get(stretch as usize).is_none_or(|stretch| number > stretch.games) {
            return Err("a problem's game lies outside its stretch");
        }
        let (offset, ply) = (bytes.number()?, bytes.number_u32()?);
        let reason = bytes.text()?;
        if block.problems.len() == BLOCK_PROBLEMS_MAX {
            return Err("there are more problems than there may be");
        }
        block.problems.push(Problem { kind, stretch, number, offset, ply, reason });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use bytemuck::Zeroable as _;

    use super::*;

    /// A block that claims so many bytes of tags and holds none.
    fn claiming(bytes: u64) -> Vec<u8> {
        let mut header = BlockHeader { magic: BLOCK_MAGIC, ..BlockHeader::zeroed() };
        header.frames[TAGS].raw_bytes = bytes as u32;
        bytemuck::bytes_of(&header).to_vec()
    }

    #[test]
    fn large_frames_are_unpacked_by_one_thread_at_a_time() {
        let held = turn(FRAMES_BYTES_LARGE + 1);
        assert!(held.is_some() && turn(FRAMES_BYTES_LARGE).is_none());
        assert!(decode(&claiming(FRAMES_BYTES_LARGE), 0, true).is_err());
        let (sender, receiver) = mpsc::channel();
        let large = std::thread::spawn(move || {
            sender.send(decode(&claiming(FRAMES_BYTES_LARGE + 1), 0, true).err()).unwrap();
        });
        assert!(receiver.recv_timeout(Duration::from_millis(200)).is_err(), "it does not wait");
        drop(held);
        assert_eq!(receiver.recv_timeout(Duration::from_secs(60)).unwrap(), Some("a frame is missing"));
        large.join().unwrap();
    }
}
