//! Packs blocks into *uploads*, each small enough to fit on a device.
//!
//! An upload is a list of segments, block after block. Each segment can be replayed alone, so an upload may begin and
//! end in the middle of a block. A key (the first position of a segment) contains the index of its game and the index
//! of the next entry in the table of start positions. In an upload, these indices count from the first entry that the
//! upload contains.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};

use super::GpuError;
use crate::columns::GameColumn;
use orbit_core::board::Board;
use orbit_reel::{Block, Key, SEGMENT_SLOTS, Start};

/// The maximum number of segments in an upload (a batch of blocks). Their 8 million positions keep even the largest cards busy,
/// and their 30 MB are copied quickly.
pub(super) const SEGMENTS_MAX: usize = 1 << 18;

/// The size on the device of a segment's key (its first position), in bytes.
pub(super) const KEY_BYTES: u64 = size_of::<Key>() as u64;
/// The size of a segment's moves, in bytes.
pub(super) const MOVES_BYTES: u64 = 2 * SEGMENT_SLOTS as u64;
/// The size on the device of a game's range of slots (its first slot, and the slot after its last one), in bytes.
pub(super) const GAME_BYTES: u64 = size_of::<[u32; 2]>() as u64;
/// The size of an entry in the table of start positions, in bytes.
pub(super) const START_BYTES: u64 = size_of::<PackedStart>() as u64;

/// A start position, in the layout of `Start` in shaders/replay.wgsl.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Pod, Zeroable)]
pub(super) struct PackedStart {
    planes: [u64; 4],
    state: u32,
    ply: u32,
}

impl From<&Start> for PackedStart {
    fn from(Start { position, ply }: &Start) -> PackedStart {
        PackedStart { planes: position.board.planes, state: position.state.0, ply: *ply }
    }
}

/// Some segments of one block, with the ranges of start positions and games to which these segments may refer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Slice {
    pub(super) block: usize,
    pub(super) segments: Range<usize>,
    starts: Range<usize>,
    games: Range<usize>,
}

impl Slice {
    fn new(block: usize, of: &Block, segments: Range<usize>) -> Slice {
        let last = of.keys.get(segments.end);
        // A damaged key may contain any number, so the ranges of start positions and games are clamped to the numbers
        // that the block contains.
        let cut = |from: usize, to: usize, len: usize| from.min(len)..to.clamp(from.min(len), len);
        let (from, to) = (&of.keys[segments.start], last);
        Slice {
            block,
            starts: cut(
                from.first_start as usize,
                to.map_or(of.starts.len(), |key| key.first_start as usize),
                of.starts.len(),
            ),
            games: cut(
                from.first_game as usize,
                // The game to which the next segment's first position belongs may begin in this segment, so the range
                // of games includes it.
                to.map_or(of.games_len(), |key| (key.first_game as usize).saturating_add(1)),
                of.games_len(),
            ),
            segments,
        }
    }
}

/// Slices of blocks that are uploaded together.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Upload {
    pub(super) slices: Vec<Slice>,
    pub(super) segments: usize,
    pub(super) starts: usize,
    games: usize,
}

/// The maximum size of an upload (a batch of blocks) that the device can hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Caps {
    /// The largest number of segments.
    pub(super) segments: usize,
    /// The largest number of start positions.
    pub(super) starts: usize,
    /// The maximum number of games. It matters only if a kernel reads per-game columns.
    pub(super) games: usize,
    /// The largest total size of keys, moves and start positions, in bytes.
    pub(super) bytes: u64,
}

impl Upload {
    fn fits(&self, slice: &Slice, caps: &Caps) -> bool {
        let whole = Upload {
            slices: Vec::new(),
            segments: self.segments + slice.segments.len(),
            starts: self.starts + slice.starts.len(),
            games: self.games + slice.games.len(),
        };
        whole.is_within(caps)
    }

    /// Returns true if a device with these limits can hold the whole upload (a batch of blocks).
    pub(super) fn is_within(&self, caps: &Caps) -> bool {
        self.segments <= caps.segments
            && self.starts <= caps.starts
            && self.games <= caps.games
            && bytes(self.segments, self.starts) <= caps.bytes
    }

    fn push(&mut self, slice: Slice) {
        self.segments += slice.segments.len();
        self.starts += slice.starts.len();
        self.games += slice.games.len();
        self.slices.push(slice);
    }

    /// Returns true if a game in any of the blocks begins with several kings of one colour. Such games need kernels
    /// (shaders) that compute the moves of several kings.
    pub(super) fn has_several_kings(&self, blocks: &[&Block]) -> bool {
        let has_several = |board: &Board| {
            let [_, p1, p2, p3] = board.planes;
            [p1 & p2 & p3, p1 & p2 & !p3].iter().any(|kings| kings.count_ones() > 1)
        };
        self.slices.iter().map(|slice| blocks[slice.block]).any(|block| {
            // The start position of a block's first game is the block's first key, not an entry in the table of start positions.
            let first = block.keys.first().map(|key| &key.board);
            first.into_iter().chain(block.starts.iter().map(|start| &start.position.board)).any(has_several)
        })
    }

    /// Calls `write` with the keys (first positions) of the upload's segments in order, at most [`TILE_SEGMENTS`] at a time.
    /// The indices of games and start positions in the keys count from the start of the upload.
    pub(super) fn keys(&self, blocks: &[&Block], mut write: impl FnMut(&[Key])) {
        let (mut starts, mut games) = (0, 0);
        let mut tile = Vec::with_capacity(TILE_SEGMENTS);
        for slice in &self.slices {
            let rebase = |key: &Key| Key {
                first_start: key.first_start.wrapping_sub(slice.starts.start as u32).wrapping_add(starts),
                first_game: key.first_game.wrapping_sub(slice.games.start as u32).wrapping_add(games),
                ..*key
            };
            for keys in blocks[slice.block].keys[slice.segments.clone()].chunks(TILE_SEGMENTS) {
                tile.clear();
                tile.extend(keys.iter().map(rebase));
                write(&tile);
            }
            starts += slice.starts.len() as u32;
            games += slice.games.len() as u32;
        }
    }

    /// Returns the bytes of each slice's moves, and the number of padding bytes needed to complete the slice's last
    /// segment (32 positions).
    pub(super) fn moves<'a>(&'a self, blocks: &'a [&Block]) -> impl Iterator<Item = (&'a [u8], usize)> {
        self.slices.iter().map(|slice| {
            let moves = &blocks[slice.block].moves;
            let slots =
                slice.segments.start * SEGMENT_SLOTS..(slice.segments.end * SEGMENT_SLOTS).min(moves.len());
            let missing = slice.segments.len() * SEGMENT_SLOTS - slots.len();
            (bytemuck::cast_slice(&moves[slots]), 2 * missing)
        })
    }

    /// Writes the keys transposed: the first word of all segments (32 positions each), then the second word of all segments, and so
    /// on. Calls `write` with runs of words and the byte offset of each run.
    pub(super) fn key_words(&self, blocks: &[&Block], write: impl FnMut(u64, &[u64])) {
        let mut out = Transposed { segments: self.segments, at: 0, write };
        self.keys(blocks, |keys| out.tile::<KEY_WORDS>(bytemuck::cast_slice(keys)));
    }

    /// Writes the moves as words of four moves, transposed: the first word of all segments (32 positions each), then the second
    /// word of all segments, and so on.
    pub(super) fn move_words(&self, blocks: &[&Block], write: impl FnMut(u64, &[u64])) {
        let mut out = Transposed { segments: self.segments, at: 0, write };
        let mut tile = Vec::with_capacity(TILE_SEGMENTS);
        for slice in &self.slices {
            let moves = &blocks[slice.block].moves;
            for segment in slice.segments.clone() {
                let from = (segment * SEGMENT_SLOTS).min(moves.len());
                let these = &moves[from..(from + SEGMENT_SLOTS).min(moves.len())];
                let mut words = [0u64; MOVES_WORDS];
                let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
                bytes[..2 * these.len()].copy_from_slice(bytemuck::cast_slice(these));
                tile.push(words);
                if tile.len() == TILE_SEGMENTS {
                    out.tile(&tile);
                    tile.clear();
                }
            }
        }
        out.tile(&tile);
    }

    pub(super) fn start_table(&self, blocks: &[&Block]) -> Vec<PackedStart> {
        let of =
            |slice: &Slice| blocks[slice.block].starts[slice.starts.clone()].iter().map(PackedStart::from);
        self.slices.iter().flat_map(of).collect()
    }

    /// Returns two words for each game and each of its per-game columns: the column's mask and number for this game
    /// (see `GameColumn`). `columns` contains the columns of each block.
    pub(super) fn columns(&self, columns: &[&[GameColumn]]) -> Vec<u32> {
        let mut out = Vec::new();
        if columns.iter().all(|columns| columns.is_empty()) {
            return out;
        }
        for slice in &self.slices {
            for game in slice.games.clone() {
                for column in columns[slice.block] {
                    let word = |words: &[u64]| words.get(game).map_or(0, |&word| word as u32);
                    out.extend([word(&column.mask), word(&column.number)]);
                }
            }
        }
        out
    }
}

/// The number of 64-bit words in a key, and in the moves of a segment (32 positions).
const KEY_WORDS: usize = KEY_BYTES as usize / 8;
const MOVES_WORDS: usize = MOVES_BYTES as usize / 8;

/// The number of segments (32 positions each) that are written or transposed together. With this value, the input stays
/// in the L1 cache, and the output is written in long runs.
const TILE_SEGMENTS: usize = 256;

/// A writer that transposes records of a few words: it writes the first word of all segments (32 positions each), then the second
/// word of all segments, and so on.
struct Transposed<W> {
    segments: usize,
    /// The index of the next segment.
    at: usize,
    write: W,
}

impl<W: FnMut(u64, &[u64])> Transposed<W> {
    /// Writes the words of the next segments (32 positions each), at most [`TILE_SEGMENTS`].
    fn tile<const WORDS: usize>(&mut self, tile: &[[u64; WORDS]]) {
        if tile.is_empty() {
            return;
        }
        let mut run = [0; TILE_SEGMENTS];
        for word in 0..WORDS {
            let run = &mut run[..tile.len()];
            run.iter_mut().zip(tile).for_each(|(to, words)| *to = words[word]);
            (self.write)(8 * (word * self.segments + self.at) as u64, run);
        }
        self.at += tile.len();
    }
}

/// Returns the size of an upload (a batch of blocks) on the device, in bytes.
pub(super) const fn bytes(segments: usize, starts: usize) -> u64 {
    segments as u64 * (KEY_BYTES + MOVES_BYTES) + starts as u64 * START_BYTES
}

/// Divides blocks into uploads, each as large as `caps` allows. A block that fits into one upload is never divided
/// between two.
///
/// # Errors
///
/// Fails if a single segment (32 positions) does not fit.
pub(super) fn uploads(blocks: &[&Block], caps: &Caps) -> Result<Vec<Upload>, GpuError> {
    let mut out = Vec::new();
    let mut open = Upload::default();
    for (index, block) in blocks.iter().enumerate() {
        let mut from = 0;
        while from < block.segments() {
            let fits = |to: usize| open.fits(&Slice::new(index, block, from..to), caps);
            let to = longest(from, block.segments(), fits);
            // If possible, a block is not divided. The device can propagate results only along games that are whole in
            // an upload, and blocks contain whole games.
            let is_cut = from == 0 && to < block.segments() && !open.slices.is_empty();
            if is_cut && Upload::default().fits(&Slice::new(index, block, 0..block.segments()), caps) {
                out.push(std::mem::take(&mut open));
                continue;
            }
            if to > from {
                open.push(Slice::new(index, block, from..to));
                from = to;
                continue;
            }
            if open.slices.is_empty() {
                return Err(too_small(&Slice::new(index, block, from..from + 1), caps));
            }
            out.push(std::mem::take(&mut open));
        }
    }
    if !open.slices.is_empty() {
        out.push(open);
    }
    Ok(out)
}

/// Returns the error for a segment (32 positions) that does not fit. The error names the part of the segment that is
/// too large.
fn too_small(slice: &Slice, caps: &Caps) -> GpuError {
    let (starts, games) = (slice.starts.len(), slice.games.len());
    let (what, needed, available) = if caps.segments == 0 {
        ("a segment", bytes(1, 0), 0)
    } else if starts > caps.starts {
        ("a segment's start positions", starts as u64 * START_BYTES, caps.starts as u64 * START_BYTES)
    } else if games > caps.games {
        // One column needs eight bytes for each game.
        ("the columns of a segment's games", 8 * games as u64, 8 * caps.games as u64)
    } else {
        ("a segment", bytes(1, starts), caps.bytes)
    };
    GpuError::TooSmall { what, needed, available }
}

/// Returns the largest `to` in `from..=end` for which `fits` is true. If `fits` is false for a number, it must also be
/// false for all larger ones.
fn longest(from: usize, end: usize, fits: impl Fn(usize) -> bool) -> usize {
    if fits(end) {
        return end;
    }
    let (mut good, mut bad) = (from, end);
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if fits(middle) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    good
}
