//! Decodes a block from the bytes of a file. The bytes are not trusted: every index that replay or a table look-up will use is
//! checked. So a file with forged checksums can cause an error or a wrong block, but never a panic.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

use super::block::{
    Annotations, Block, GameRecord, Key, LineRecord, Problem, ProblemKind, SEGMENT_SLOTS, SourceGames, Start,
    Tags,
};
use super::bytes::{ByteReader, ListFault, NO_MEMORY, room, to_vec};
use super::encode::Starts;
use super::fen;
use super::format::{
    BLOCK_ANNOTATIONS_MAX, BLOCK_HEADER_BYTES, BLOCK_MAGIC, BLOCK_PROBLEMS_MAX, BLOCK_TAGS_MAX, BlockFrame,
    BlockHeader, FRAMES_BYTES_MAX, GAME_BYTES_MAX, LINE_BYTES_MAX, PART_BYTES_MAX, START_BYTES_MAX,
};
use super::replay::position_at;
use super::scratch;
use super::start_codes::{places, start_masks};
use super::strings::Strings;
use orbit_core::board::{Board, PackedMove, Position, State};
use orbit_core::sync::lock;
use orbit_pgn::{Annotation, AnnotationKind, Outcome, SIDE_LINE_DEPTH_MAX};

/// The index of the frame (zstd-compressed section) that contains the tags.
const TAGS: usize = 2;
/// The index of the frame (zstd-compressed section) that contains comments and glyphs.
const ANNOTATIONS: usize = 4;

/// The size in bytes above which the frames of a block are large. Only one thread at a time unpacks a block with large frames.
/// Otherwise every thread could allocate as much memory as a forged block claims to need. The frames of ordinary blocks have less
/// than a megabyte.
const FRAMES_BYTES_LARGE: u64 = 16 << 20;

/// Waits until no other thread is unpacking a block with large frames (zstd-compressed sections), if the frames of this block are
/// also large.
fn turn(frames_bytes: u64) -> Option<MutexGuard<'static, ()>> {
    static TURN: Mutex<()> = Mutex::new(());
    (frames_bytes > FRAMES_BYTES_LARGE).then(|| lock(&TURN))
}

/// The parts of a block that are decoded in addition to its positions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Contents {
    /// True to decode tags, which takes about as long as decoding everything else. If false, games have no tags, and an error in
    /// the tags goes unnoticed unless the checksum is wrong.
    pub tags: bool,
    /// True to decode comments and glyphs. If false, games have none, and an error in them goes unnoticed unless the checksum is
    /// wrong.
    pub annotations: bool,
}

/// Decodes a block whose checksum has been verified. The block may contain at most `games_read` games, skipped games included.
pub(super) fn decode(bytes: &[u8], games_read: u32, contents: Contents) -> Result<Block, ListFault> {
    let (header, rest) = bytes.split_first_chunk::<BLOCK_HEADER_BYTES>().ok_or("no block header")?;
    let header: BlockHeader = bytemuck::pod_read_unaligned(header);
    if header.magic != BLOCK_MAGIC {
        return Err("no block begins here");
    }
    check_claims(&header, games_read)?;
    let stored_frames: Vec<BlockFrame> = header.frames.iter().copied().chain([header.annotations]).collect();
    let _turn = turn(stored_frames.iter().map(|frame| u64::from(frame.raw_bytes)).sum());
    let mut rest = ByteReader(rest);
    let segments = u64::from(header.slots).div_ceil(SEGMENT_SLOTS as u64);
    let mut block = Block {
        keys: to_vec(rest.take(segments * size_of::<Key>() as u64)?),
        moves: to_vec(rest.take(u64::from(header.slots) * 2)?),
        ..Block::default()
    };
    let mut frames = [const { Vec::new() }; 5];
    for (section, (raw, frame)) in frames.iter_mut().zip(stored_frames).enumerate() {
        let stored = rest.take(frame.bytes.into())?;
        let is_wanted = match section {
            TAGS => contents.tags,
            ANNOTATIONS => contents.annotations,
            _ => true,
        };
        if is_wanted {
            *raw = decompress(stored, frame)?;
        }
    }
    if rest.0.len() >= 8 {
        return Err("bytes are left over");
    }
    let [mut starts, games, tags, problems, annotations] = frames.each_ref().map(|raw| ByteReader(raw));
    let of_games = decode_starts(&mut starts, header.starts as usize)?;
    let begun = start_masks(&block.moves);
    let first_lines = decode_games(games, (header.games as usize, &begun), &mut block)?;
    decode_lines(starts, &first_lines, &mut block)?;
    if first_lines.len() != header.lines as usize {
        return Err("the moves hold another number of side lines than the block");
    }
    add_starts(of_games, &mut block)?;
    check_keys(&block, &begun)?;
    find_lines(&mut block);
    decode_problems(problems, &mut block)?;
    if contents.annotations {
        block.annotations = decode_annotations(annotations, &block)?;
    }
    block.tags = match contents.tags {
        true => decode_tags(tags, &block)?,
        false => Tags { ends: vec![0; block.games.len()], ..Tags::default() },
    };
    Ok(block)
}

/// Checks the sizes that a block's header claims, before memory for them is allocated. A header may claim large sizes although the
/// frames are small.
fn check_claims(header: &BlockHeader, games_read: u32) -> Result<(), ListFault> {
    let BlockHeader { slots, starts, games, lines, frames, annotations, .. } = *header;
    if games > slots || starts > games || games > games_read {
        return Err("there are more games than slots, or more starts than games");
    }
    if lines > slots {
        return Err("there are more side lines than slots");
    }
    let [starts_max, games_max] = [
        u64::from(starts) * START_BYTES_MAX + u64::from(lines) * LINE_BYTES_MAX,
        10 + u64::from(games) * GAME_BYTES_MAX + u64::from(games_read) * PART_BYTES_MAX,
    ];
    let claims = frames.map(|frame| u64::from(frame.raw_bytes));
    let claimed = claims.iter().sum::<u64>() + u64::from(annotations.raw_bytes);
    if claims[0] > starts_max || claims[1] > games_max || claimed > FRAMES_BYTES_MAX {
        return Err("a frame claims to hold more than any may");
    }
    Ok(())
}

fn decompress(stored: &[u8], frame: BlockFrame) -> Result<Vec<u8>, ListFault> {
    let expected = u64::from(frame.raw_bytes);
    if stored.is_empty() {
        return if expected == 0 { Ok(Vec::new()) } else { Err("a frame is missing") };
    }
    let mut raw = room(expected)?;
    match scratch::decompress(stored, &mut raw)? {
        Ok(len) if len as u64 == expected => Ok(raw),
        Ok(_) => Err("a frame has another length than its header says"),
        // The zstd library's errors differ only in their messages.
        Err(error) => Err(match error.to_string() {
            text if text.contains("not enough memory") => NO_MEMORY,
            text if text.contains("Destination") => "a frame has another length than its header says",
            _ => "a frame is not zstd",
        }),
    }
}

/// Checks that each square of a board is empty or contains a valid piece, and that the state is valid.
fn check_position(board: &Board, state: State) -> Result<(), ListFault> {
    let [p0, p1, p2, p3] = board.planes;
    if p0 & p1 & p2 != 0 || p3 & !(p0 | p1 | p2) != 0 {
        return Err("a board holds what is no piece");
    }
    let rights = state.0 >> 16;
    let files = rights & 0x7777;
    // The four bits for a castling right are 0, or 8 plus a file. A file without the 8 is an error.
    let granted = rights >> 3 & 0x1111;
    if state.0 & 0xfe != 0 || state.0 >> 8 & 0xff > 64 || files & !(granted * 7) != 0 {
        return Err("a position's state has undefined bits");
    }
    Ok(())
}

fn decode_starts(bytes: &mut ByteReader<'_>, len: usize) -> Result<Vec<Position>, ListFault> {
    let columns = bytes.take(12 * len as u64)?;
    let column = |k: usize, i: usize| u64::from(columns[k * len + i]);
    let mut half = None;
    let mut starts = Vec::with_capacity(len);
    for i in 0..len {
        let occupied = (0..8).fold(0, |all, k| all | column(k, i) << (8 * k));
        let state = (0..4).fold(0, |all, k| all | (column(8 + k, i) as u32) << (8 * k));
        let mut position = Position { board: Board::default(), state: State(state) };
        for square in orbit_core::board::Bitboard(occupied) {
            let code = match half.take() {
                Some(code) => code,
                None => {
                    let byte = bytes.take(1)?[0];
                    half = Some(byte >> 4);
                    byte & 15
                }
            };
            position.board.put(square, orbit_core::board::Code(code));
        }
        check_position(&position.board, position.state)?;
        starts.push(position);
    }
    Ok(starts)
}

/// Decodes the side lines of a block. `first_slots` are their first slots.
fn decode_lines(mut bytes: ByteReader<'_>, first_slots: &[u32], block: &mut Block) -> Result<(), ListFault> {
    for &first_slot in first_slots {
        let parent = bytes.number_u32()?;
        block.lines.push(LineRecord {
            first_slot,
            parent,
            sibling: 0,
            edge: PackedMove::NULL,
            ply: 0,
            depth: 0,
        });
    }
    for line in &mut block.lines {
        line.sibling = bytes.number_u32()?;
    }
    let [low, high] = [(); 2].map(|()| bytes.take(first_slots.len() as u64));
    for ((line, &low), &high) in block.lines.iter_mut().zip(low?).zip(high?) {
        line.edge = PackedMove(u16::from_le_bytes([low, high]));
        if line.edge.is_start() {
            return Err("a side line begins with no move");
        }
    }
    let (mut game, mut first_line) = (0, 0);
    for index in 0..block.lines.len() {
        let mut line = block.lines[index];
        while block.games.get(game + 1).is_some_and(|next| next.first_slot <= line.first_slot) {
            (game, first_line) = (game + 1, index);
        }
        let game_slot = block.games[game].first_slot;
        let node = line.first_slot - game_slot;
        let parent = node.checked_sub(line.parent).filter(|&parent| parent < node);
        line.parent = parent.ok_or("a side line has no parent")?;
        line.follow(&block.lines[first_line..index], game_slot);
        if line.depth > SIDE_LINE_DEPTH_MAX {
            return Err("side lines are nested deeper than any may be");
        }
        block.lines[index] = line;
    }
    check_order(block)?;
    bytes.end()
}

/// A line whose side lines are being checked, with the range of its nodes (position numbers in the game).
struct OpenLine {
    nodes: Range<u32>,
    /// The last side line that branches off from this line: its parent node, and its index among its siblings.
    last: (u32, u32),
}

impl OpenLine {
    fn new(nodes: Range<u32>) -> OpenLine {
        OpenLine { nodes, last: (u32::MAX, 0) }
    }
}

/// Checks the order of side lines. Each must be an alternative to a move. Side lines of the same line must be ordered by the node
/// from which they branch off, from the end of the line to its start. Side lines of a side line must come before its next sibling.
fn check_order(block: &Block) -> Result<(), ListFault> {
    for game in block.games().filter(|game| game.has_lines()) {
        let mut open = vec![OpenLine::new(0..game.plies() as u32 + 1)];
        for line in game.lines() {
            let (parent, sibling) = (line.parent(), line.sibling());
            while open.pop_if(|open| !open.nodes.contains(&parent)).is_some() {}
            let around = open.last_mut().ok_or(NO_ORDER)?;
            let (last, place) = around.last;
            let is_next = if parent == last { sibling == place + 1 } else { parent < last && sibling == 1 };
            if !is_next || parent + 1 >= around.nodes.end {
                return Err(NO_ORDER);
            }
            around.last = (parent, sibling);
            open.push(OpenLine::new(line.first_node()..line.end_node()));
        }
    }
    Ok(())
}

/// Fills the start table, the block's list of start positions: one entry for each start code that refers to it, in the order of the
/// moves. The entries of games get the positions `of_games`. [`find_lines`] later computes the positions in the entries of side
/// lines.
fn add_starts(of_games: Vec<Position>, block: &mut Block) -> Result<(), ListFault> {
    let mut of_games = of_games.into_iter();
    if block.lines.is_empty() {
        block.starts = of_games.map(|position| Start { position, ply: 0 }).collect();
        return Ok(());
    }
    let mut lines = block.lines.iter();
    let mut starts = Vec::with_capacity(of_games.len() + block.lines.len());
    for mv in block.moves.iter().filter(|mv| mv.is_start_table()) {
        starts.push(match mv.is_game_start() {
            true => Start { position: of_games.next().ok_or(START_TABLE)?, ply: 0 },
            false => Start { position: Position::STANDARD, ply: lines.next().ok_or(START_TABLE)?.ply },
        });
    }
    block.starts = starts;
    if of_games.next().is_some() { Err(START_TABLE) } else { Ok(()) }
}

/// Computes the first position of each side line from its parent position and the move that leads to it.
fn find_lines(block: &mut Block) {
    if block.lines.is_empty() {
        return;
    }
    let mut game = 0;
    // The indices of the entries of side lines in the start table (the block's list of start positions), in order.
    let codes = block.moves.iter().filter(|mv| mv.is_start_table()).enumerate();
    let entries: Vec<usize> = codes.filter(|(_, mv)| !mv.is_game_start()).map(|(entry, _)| entry).collect();
    for (index, entry) in entries.into_iter().enumerate() {
        let LineRecord { first_slot, parent, edge, .. } = block.lines[index];
        while block.games.get(game + 1).is_some_and(|next| next.first_slot <= first_slot) {
            game += 1;
        }
        let mut position = position_at(block, (block.games[game].first_slot + parent) as usize);
        position.play(edge);
        block.starts[entry].position = position;
    }
}

fn decode_annotations(mut bytes: ByteReader<'_>, block: &Block) -> Result<Annotations, ListFault> {
    let mut annotations = Annotations::default();
    if bytes.0.is_empty() {
        return Ok(annotations);
    }
    let mut end = 0usize;
    for _ in &block.games {
        end = end.checked_add(bytes.count()?).ok_or(TOO_MANY_ANNOTATIONS)?;
        annotations.ends.push(end);
    }
    // Each annotation takes at least three bytes.
    if end > bytes.0.len() / 3 || end > BLOCK_ANNOTATIONS_MAX {
        return Err(TOO_MANY_ANNOTATIONS);
    }
    let mut nodes = Vec::with_capacity(end);
    for game in block.games() {
        let (mut node, end) = (0u32, annotations.ends[game.index()]);
        while nodes.len() < end {
            node = node.checked_add(bytes.number_u32()?).ok_or(NO_NODE)?;
            if node as usize >= game.positions() {
                return Err(NO_NODE);
            }
            nodes.push(node);
        }
    }
    let kinds = bytes.take(end as u64)?;
    let mut lengths = Vec::with_capacity(end);
    for _ in 0..end {
        lengths.push(bytes.number()?);
    }
    for ((node, kind), length) in nodes.into_iter().zip(kinds).zip(lengths) {
        let kind = match kind {
            0 => AnnotationKind::Before(bytes.take(length)?.to_vec()),
            1 => AnnotationKind::Comment(bytes.take(length)?.to_vec()),
            2 => AnnotationKind::Nag(u16::try_from(length).map_err(|_| "a glyph has too large a number")?),
            _ => return Err("an annotation is of no known kind"),
        };
        annotations.all.push(Annotation { node, kind });
    }
    bytes.end()?;
    Ok(annotations)
}

const TOO_MANY_ANNOTATIONS: ListFault = "there are more annotations than there may be";
const NO_ORDER: ListFault = "side lines are out of order";
const NO_NODE: ListFault = "an annotation stands at no position";
const START_TABLE: ListFault = "the start table has another length than the moves say";

/// Decodes the game table, and returns the first slots of side lines.
fn decode_games(
    mut bytes: ByteReader<'_>,
    (len, begun): (usize, &[u32]),
    block: &mut Block,
) -> Result<Vec<u32>, ListFault> {
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
    let first_slots = first_slots(&block.moves, begun, len)?;
    block.games.reserve_exact(len);
    let mut stretch = 0;
    for (index, (&flags, (first_slot, from_table))) in flags.iter().zip(first_slots.games).enumerate() {
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
        let (number, offset, is_swapped) = (0, 0, false);
        let record = GameRecord { first_slot, stretch, number, offset, outcome, cut, from_table, is_swapped };
        block.games.push(record);
    }
    let mut before = (u32::MAX, 0u32);
    for game in &mut block.games {
        before = if before.0 == game.stretch { before } else { (game.stretch, 0) };
        let step = bytes.number_u32()?;
        if step == 0 {
            return Err("a game has the number 0, or that of another game");
        }
        before.1 = before.1.checked_add(step).ok_or("a game's number is too large")?;
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
    bytes.end()?;
    Ok(first_slots.lines)
}

/// The first slots of the main lines and side lines of a block.
#[derive(Default)]
struct FirstSlots {
    /// The first slots of games. The flag is true if the game's start position is an entry of the start table, the block's list of
    /// start positions.
    games: Vec<(u32, bool)>,
    /// The first slots of side lines.
    lines: Vec<u32>,
}

/// Returns the first slots of games and side lines: slot 0, and the slot after each start code (a mark that replaces a move) except
/// the last one of the block.
fn first_slots(moves: &[PackedMove], begun: &[u32], games: usize) -> Result<FirstSlots, ListFault> {
    if moves.last().is_some_and(|&last| last != PackedMove::START_STANDARD) {
        return Err("the last slot leads on");
    }
    let (mut slots, mut lines) = (Vec::with_capacity(games.min(moves.len())), Vec::new());
    if !moves.is_empty() {
        slots.push((0, false));
    }
    for (seg, &begun) in begun.iter().enumerate() {
        for i in places(begun) {
            let slot = seg * SEGMENT_SLOTS + i;
            let next = slot as u32 + 1;
            match moves[slot] {
                PackedMove::START_STANDARD => slots.push((next, false)),
                PackedMove::START_TABLE => slots.push((next, true)),
                PackedMove::START_LINE => lines.push(next),
                _ => return Err("a start code has undefined bits"),
            }
        }
    }
    // No game begins after the last slot.
    slots.pop_if(|slot| slot.0 as usize == moves.len());
    if slots.len() != games {
        return Err("the moves hold another number of games than the block");
    }
    Ok(FirstSlots { games: slots, lines })
}

/// Checks the key positions of a block against its moves: their plies, their games, and their indices into the start table (the
/// block's list of start positions). The boards can be checked only by replay.
fn check_keys(block: &Block, begun: &[u32]) -> Result<(), ListFault> {
    let (mut game, mut start) = (0u32, 0u32);
    // The first slot of the current line, and the ply of the position there.
    let mut line = (0usize, 0u32);
    for (seg, (key, &begun)) in block.keys.iter().zip(begun).enumerate() {
        let slot = seg * SEGMENT_SLOTS;
        check_position(&key.board, key.state)?;
        let ply = line.1.wrapping_add((slot - line.0) as u32);
        if (key.first_game, key.first_start, key.ply) != (game, start, ply) {
            return Err("a key does not fit the moves before it");
        }
        for i in places(begun) {
            let (mv, mut ply) = (block.moves[slot + i], 0);
            if mv.is_start_table() {
                ply = block.starts.get(start as usize).ok_or(START_TABLE)?.ply;
                start += 1;
            }
            game += u32::from(mv.is_game_start());
            line = (slot + i + 1, ply);
        }
    }
    if start as usize == block.starts.len() { Ok(()) } else { Err(START_TABLE) }
}

const TOO_MANY_TAGS: ListFault = "there are more tags than there may be";

fn decode_tags(mut bytes: ByteReader<'_>, block: &Block) -> Result<Tags, ListFault> {
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

fn decode_values(mut bytes: ByteReader<'_>, block: &Block, owners: &[usize]) -> Result<Strings, ListFault> {
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
                fen::write(&starts.at_game(game), counters, &mut fen).ok_or("a FEN cannot be rebuilt")?;
                &fen
            }
            _ => bytes.take(code - 2)?,
        };
        values.push(value);
    }
    bytes.end()?;
    Ok(values)
}

fn decode_problems(mut bytes: ByteReader<'_>, block: &mut Block) -> Result<(), ListFault> {
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
    use crate::{BlockBuilder, EncodedBlock};
    use orbit_pgn::{ParseOptions, Sources};

    const ALL: Contents = Contents { tags: true, annotations: true };

    /// Returns the bytes of a block whose header claims `bytes` bytes of tags, although it contains none.
    fn claiming(bytes: u64) -> Vec<u8> {
        let mut header = BlockHeader { magic: BLOCK_MAGIC, ..BlockHeader::zeroed() };
        header.frames[TAGS].raw_bytes = bytes as u32;
        bytemuck::bytes_of(&header).to_vec()
    }

    #[test]
    fn a_side_line_leaves_an_earlier_position_of_its_game() {
        let pgn = b"1. e4 e5 (1... c5) *\n\n1. d4 (1. c4) d5 *".to_vec();
        let mut options = ParseOptions::default();
        (options.variations, options.annotations) = (true, true);
        let mut builder = BlockBuilder::new();
        let chunk = Sources::from_bytes("a", pgn).next_chunk().unwrap();
        chunk.parse(&options, &mut |source, game| builder.push(source, game));
        let block = builder.finish();
        let decoded = |block: &Block| decode(&EncodedBlock::new(block).bytes, 2, ALL);
        assert_eq!(decoded(&block).unwrap(), block);
        // The second game begins at slot 4.
        for (line, parent) in [(0, 3), (1, 3)] {
            let mut forged = block.clone();
            forged.lines[line].parent = parent;
            assert_eq!(decoded(&forged).unwrap_err(), "a side line has no parent");
        }
        // No move is played from the last position of a line, so no side line can be an alternative there.
        let mut forged = block.clone();
        forged.lines[0].parent = 2;
        assert_eq!(decoded(&forged).unwrap_err(), NO_ORDER);
        for sibling in [0, 2] {
            let mut forged = block.clone();
            forged.lines[1].sibling = sibling;
            assert_eq!(decoded(&forged).unwrap_err(), NO_ORDER);
        }
    }

    #[test]
    fn large_frames_are_unpacked_by_one_thread_at_a_time() {
        let held = turn(FRAMES_BYTES_LARGE + 1);
        assert!(held.is_some() && turn(FRAMES_BYTES_LARGE).is_none());
        assert!(decode(&claiming(FRAMES_BYTES_LARGE), 0, ALL).is_err());
        let (sender, receiver) = mpsc::channel();
        let large = std::thread::spawn(move || {
            sender.send(decode(&claiming(FRAMES_BYTES_LARGE + 1), 0, ALL).err()).unwrap();
        });
        assert!(receiver.recv_timeout(Duration::from_millis(200)).is_err(), "it does not wait");
        drop(held);
        assert_eq!(receiver.recv_timeout(Duration::from_secs(600)).unwrap(), Some("a frame is missing"));
        large.join().unwrap();
    }
}
