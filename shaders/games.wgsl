// Computes a column, which has an entry for each slot of an upload (a batch of blocks). Each invocation processes one
// game. The upload must contain the whole game, and the game must have no side lines (variations), so the position in
// each slot except the first follows the position in the slot before it.
//
// The function `along_game`, in carry.wgsl, shift.wgsl or walk.wgsl, computes the entries of one game.
// crates/engine/src/gpu/ways.rs generates the function `mask_of`.

const SEGMENT_SLOTS = 32u;
const GAMES_WORKGROUP = 64u;

const EVERY = 0xffffffffu;

struct Making {
    // The games of this dispatch, from `first` up to but not including `end`.
    first: u32,
    end: u32,
    // The number of segments in the upload, which is also the number of words in a mask.
    segments: u32,
    // The place of the words in `words`: the index of the first slot's word, and the distance between the words of
    // consecutive slots.
    place: u32,
    stride: u32,
    // The two halves of the constant word that all slots have if `stride` is 0.
    low: u32,
    high: u32,
    unused: u32,
}

@group(0) @binding(0) var<uniform> making: Making;
// For each game, its first slot and the slot after its last slot.
@group(0) @binding(1) var<storage, read> games: array<vec2<u32>>;
// The masks from which the column is computed, stored consecutively. Each has one 32-bit word for each segment.
@group(0) @binding(2) var<storage, read> masks: array<u32>;
// The words from which the column is computed. Each slot has one word of two 32-bit integers.
@group(0) @binding(3) var<storage, read> words: array<u32>;
// The column to compute, which is 0 everywhere before the dispatch. It is atomic, because several games may share a
// word of a mask.
@group(0) @binding(4) var<storage, read_write> column: array<atomic<u32>>;

fn word_of(slot: u32) -> vec2<u32> {
    if (making.stride == 0u) {
        return vec2<u32>(making.low, making.high);
    }
    let at = making.place + making.stride * slot;
    return vec2<u32>(words[at], words[at + 1u]);
}

fn store(slot: u32, low: u32, high: u32) {
    atomicStore(&column[2u * slot], low);
    atomicStore(&column[2u * slot + 1u], high);
}

// Returns a mask of the slots of a segment that are at or after `first` and before `end`. There must be at least one
// such slot.
fn within(segment: u32, first: u32, end: u32) -> u32 {
    let base = SEGMENT_SLOTS * segment;
    let low = max(first, base) - base;
    let high = min(end, base + SEGMENT_SLOTS) - base;
    return (EVERY << low) & (EVERY >> (SEGMENT_SLOTS - high));
}

@compute @workgroup_size(GAMES_WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let index = making.first + id.x;
    if (index >= making.end) {
        return;
    }
    let game = games[index];
    if (game.x >= game.y) {
        return;
    }
    along_game(game.x, game.y);
}
