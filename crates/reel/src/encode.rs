//! Encodes a block as the bytes of a file. Equal blocks have equal bytes.

use std::collections::HashMap;

use super::block::{Annotations, Block, Key, Tags};
use super::bytes::{put, put_bytes};
use super::fen;
use super::format::{
    BLOCK_ANNOTATIONS_MAX, BLOCK_BYTES_MAX, BLOCK_GAMES_MAX, BLOCK_HEADER_BYTES, BLOCK_MAGIC,
    BLOCK_PROBLEMS_MAX, BLOCK_TAGS_MAX, BlockFrame, BlockHeader, FRAMES_BYTES_MAX, SectionBytes,
};
use super::scratch;
use orbit_core::board::Position;
use orbit_pgn::{Annotation, AnnotationKind};

/// A block, encoded for storage in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EncodedBlock {
    pub(super) bytes: Vec<u8>,
    pub(super) slots: u32,
    pub(super) games: u32,
    pub(super) games_read: u32,
    pub(super) sections: SectionBytes,
    /// A description of the format limit that the block exceeds, or `None`.
    pub(super) excess: Option<&'static str>,
}

impl EncodedBlock {
    /// Encodes a block. This is the slow part of writing, so callers should encode several blocks in parallel.
    ///
    /// # Panics
    ///
    /// Panics if the tags of the block take more than 4 GiB.
    pub fn new(block: &Block) -> EncodedBlock {
        let raw = [starts(block), games(block), tags(block), problems(block), annotations(block)];
        let frames = raw.each_ref().map(|raw| scratch::compress(raw));
        let short = |len: usize| u32::try_from(len).expect("a block's tables are smaller than 4 GiB");
        let mut header = BlockHeader {
            magic: BLOCK_MAGIC,
            slots: short(block.slots()),
            starts: short(block.starts.len() - block.lines.len()),
            games: short(block.games.len()),
            lines: short(block.lines.len()),
            ..BlockHeader::default()
        };
        let headers = header.frames.iter_mut().chain([&mut header.annotations]);
        for ((frame, stored), raw) in headers.zip(&frames).zip(&raw) {
            *frame = BlockFrame { bytes: short(stored.len()), raw_bytes: short(raw.len()) };
        }
        let (keys, moves) = (bytemuck::cast_slice(&block.keys), bytemuck::cast_slice(&block.moves));
        let mut bytes = bytemuck::bytes_of(&header).to_vec();
        [keys, moves].into_iter().chain(frames.iter().map(Vec::as_slice)).for_each(|section| {
            bytes.extend_from_slice(section);
        });
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        let crc = crc32fast::hash(&bytes[4..]);
        bytes[..4].copy_from_slice(&crc.to_le_bytes());
        let mut sections = SectionBytes {
            keys: keys.len() as u64,
            moves: moves.len() as u64,
            starts: frames[0].len() as u64,
            games: frames[1].len() as u64,
            tags: frames[2].len() as u64,
            problems: frames[3].len() as u64,
            annotations: frames[4].len() as u64,
            other: 0,
        };
        sections.other = bytes.len() as u64 - sections.total();
        debug_assert!(sections.other >= BLOCK_HEADER_BYTES as u64);
        let is_too_large = bytes.len() as u64 > BLOCK_BYTES_MAX
            || raw.iter().map(|raw| raw.len() as u64).sum::<u64>() > FRAMES_BYTES_MAX
            || block.games_read() > BLOCK_GAMES_MAX
            || block.problems.len() > BLOCK_PROBLEMS_MAX
            || block.annotations.all.len() > BLOCK_ANNOTATIONS_MAX
            || block.tags.pairs.len() as u64 > BLOCK_TAGS_MAX;
        EncodedBlock {
            excess: is_too_large
                .then_some("a game is too large for a reel, or so many in a row are: leave them out"),
            slots: header.slots,
            games: header.games,
            games_read: block.games_read(),
            bytes,
            sections,
        }
    }

    /// Returns the encoded bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Encodes the start positions of games as columns: eight bytes for the occupied squares, four for the state, and then
/// the codes of the pieces on these squares, two per byte. The side lines follow as columns: the number of nodes from
/// the parent to the first node, the index among siblings, and the move to the first node. The first slots of side
/// lines are not encoded, since they can be computed from the moves.
fn starts(block: &Block) -> Vec<u8> {
    let occupied = |start: &Position| start.board.planes.iter().fold(0, |all, plane| all | plane);
    let starts = game_starts(block);
    let mut out = Vec::new();
    for k in 0..8 {
        out.extend(starts.iter().map(|start| (occupied(start) >> (8 * k)) as u8));
    }
    for k in 0..4 {
        out.extend(starts.iter().map(|start| (start.state.0 >> (8 * k)) as u8));
    }
    let mut half = None;
    for start in &starts {
        for square in orbit_core::board::Bitboard(occupied(start)) {
            let code = start.board.at(square).0;
            match half.take() {
                None => half = Some(code),
                Some(low) => out.push(low | code << 4),
            }
        }
    }
    out.extend(half);
    let lines = block.games().flat_map(|game| game.lines());
    lines.for_each(|line| put(&mut out, (line.first_node() - line.parent()).into()));
    block.lines.iter().for_each(|line| put(&mut out, line.sibling.into()));
    for shift in [0, 8] {
        out.extend(block.lines.iter().map(|line| (line.edge.0 >> shift) as u8));
    }
    out
}

/// Returns the start positions of all games that do not begin from the standard position, except the block's first game.
fn game_starts(block: &Block) -> Vec<Position> {
    if block.lines.is_empty() {
        return block.starts.iter().map(|start| start.position).collect();
    }
    let codes = block.moves.iter().filter(|mv| mv.is_start_table());
    let starts = codes.zip(&block.starts).filter(|(code, _)| code.is_game_start());
    starts.map(|(_, start)| start.position).collect()
}

/// Encodes comments and glyphs as columns. The first column contains the number of annotations of each game. The next columns
/// contain, for each annotation, the number of nodes since the previous annotation of the game, the kind, and the length of the
/// comment or the number of the glyph. The bytes of all comments follow.
fn annotations(block: &Block) -> Vec<u8> {
    let Annotations { ends, all } = &block.annotations;
    let mut out = Vec::new();
    if all.is_empty() {
        return out;
    }
    let mut before = 0;
    for &end in ends {
        put(&mut out, (end - before) as u64);
        before = end;
    }
    for game in block.games() {
        let mut before = 0;
        for annotation in game.annotations() {
            put(&mut out, (annotation.node - before).into());
            before = annotation.node;
        }
    }
    out.extend(all.iter().map(|annotation| match annotation.kind {
        AnnotationKind::Before(_) => 0,
        AnnotationKind::Comment(_) => 1,
        AnnotationKind::Nag(_) => 2,
    }));
    let mut texts = Vec::new();
    for Annotation { kind, .. } in all {
        match kind {
            AnnotationKind::Before(text) | AnnotationKind::Comment(text) => {
                put(&mut out, text.len() as u64);
                texts.extend_from_slice(text);
            }
            AnnotationKind::Nag(glyph) => put(&mut out, (*glyph).into()),
        }
    }
    out.extend(texts);
    out
}

fn games(block: &Block) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, block.source_games.len() as u64);
    for stretch in &block.source_games {
        for value in [stretch.source, stretch.first_game, stretch.games, stretch.games_before] {
            put(&mut out, value.into());
        }
    }
    out.extend(block.games.iter().map(|game| game.outcome as u8 | u8::from(game.cut) << 2));
    let mut before = (u32::MAX, 0, 0);
    for game in &block.games {
        if before.0 != game.stretch {
            before = (game.stretch, 0, 0);
        }
        put(&mut out, (game.number - before.1).into());
        before.1 = game.number;
    }
    before = (u32::MAX, 0, 0);
    for game in &block.games {
        if before.0 != game.stretch {
            before = (game.stretch, 0, 0);
        }
        put(&mut out, game.offset.wrapping_sub(before.2));
        before.2 = game.offset;
    }
    out
}

/// Encodes tags: the names, the distinct lists of names that occur in games, the index of each game's list, and the
/// values.
///
/// A value is written as 0 if it is the next new value, as 1 if it equals the value of the same name in the previous game, and
/// otherwise as its index plus 2. So the values shared by the games of one event are encoded as equal bytes, which compress well.
fn tags(block: &Block) -> Vec<u8> {
    let Tags { names, values, ends, pairs } = &block.tags;
    let mut out = Vec::new();
    put(&mut out, names.len() as u64);
    names.iter().for_each(|name| put_bytes(&mut out, name));
    let rows = || {
        let mut start = 0;
        ends.iter().map(move |&end| &pairs[std::mem::replace(&mut start, end)..end])
    };
    let mut shapes: HashMap<Vec<u32>, usize> = HashMap::new();
    let (mut lists, mut chosen) = (Vec::new(), Vec::new());
    // Most games have the same tag names as the previous game, so its list of names is compared before the map is searched.
    let mut before: Option<(&[(u32, u32)], usize)> = None;
    for row in rows() {
        let names = || row.iter().map(|pair| pair.0);
        let same = before.filter(|(before, _)| before.iter().map(|pair| pair.0).eq(names()));
        let shape = same.map(|(_, shape)| shape).unwrap_or_else(|| {
            let next = shapes.len();
            *shapes.entry(names().collect()).or_insert_with(|| {
                put(&mut lists, row.len() as u64);
                names().for_each(|name| put(&mut lists, name.into()));
                next
            })
        });
        before = Some((row, shape));
        put(&mut chosen, shape as u64);
    }
    put(&mut out, shapes.len() as u64);
    out.extend(lists);
    out.extend(chosen);
    put(&mut out, values.len() as u64);
    let mut last = vec![u32::MAX; names.len()];
    let mut owners = Vec::with_capacity(values.len());
    for (game, row) in rows().enumerate() {
        for &(name, value) in row {
            let last = &mut last[name as usize];
            if value as usize == owners.len() {
                owners.push((game, name));
                out.push(0);
            } else if value == *last {
                out.push(1);
            } else {
                put(&mut out, 2 + u64::from(value));
            }
            *last = value;
        }
    }
    put_values(block, &owners, &mut out);
    out
}

/// Encodes the distinct values: a column of lengths, then a column of bytes. A length of 0 or 1 stands for the FEN, with or without
/// counters, of the start position of the first game that has the value. All other lengths are increased by 2.
fn put_values(block: &Block, owners: &[(usize, u32)], out: &mut Vec<u8>) {
    let fen_name = block.tags.names.find(b"FEN");
    let mut starts = Starts::new(block);
    let mut bytes = Vec::new();
    for (value, &(game, name)) in block.tags.values.iter().zip(owners) {
        let start = starts.at_game(game);
        match (Some(name) == fen_name).then(|| fen::counters(&start, value)).flatten() {
            Some(Some((halfmoves, fullmoves))) => {
                out.push(0);
                put(&mut bytes, halfmoves.into());
                put(&mut bytes, fullmoves.into());
            }
            Some(None) => out.push(1),
            None => {
                put(out, 2 + value.len() as u64);
                bytes.extend_from_slice(value);
            }
        }
    }
    out.extend(bytes);
}

/// The start positions of a block's games. They must be requested in game order.
pub(super) struct Starts<'a> {
    block: &'a Block,
    /// The entries of the start table (the block's list of start positions) for the games after the current one.
    starts: std::vec::IntoIter<Position>,
    game: usize,
    start: Position,
}

impl<'a> Starts<'a> {
    pub(super) fn new(block: &'a Block) -> Starts<'a> {
        let start = block.keys.first().map_or(Position::STANDARD, Key::position);
        Starts { block, starts: game_starts(block).into_iter(), game: 0, start }
    }

    pub(super) fn at_game(&mut self, game: usize) -> Position {
        while self.game < game {
            self.game += 1;
            let from_table = self.block.games[self.game].from_table;
            let start = if from_table { self.starts.next() } else { None };
            self.start = start.unwrap_or(Position::STANDARD);
        }
        self.start
    }
}

fn problems(block: &Block) -> Vec<u8> {
    let mut out = Vec::new();
    for problem in &block.problems {
        out.push(problem.kind as u8);
        put(&mut out, problem.stretch.into());
        put(&mut out, problem.number.into());
        put(&mut out, problem.offset);
        put(&mut out, problem.ply.into());
        put_bytes(&mut out, problem.reason.as_bytes());
    }
    out
}
