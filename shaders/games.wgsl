// Computes a column, which has an entry for each slot of an upload. One invocation processes one game. The upload must
// contain the game as a whole. The game has no side lines, so each slot but the first holds the position after the slot
// before it.
//
// The computation is in `along_game`: in carry.wgsl, shift.wgsl or walk.wgsl. The function `mask_of` is printed by
// crates/engine/src/gpu/ways.rs.

const SEGMENT_SLOTS = 32u;
const GAMES_WORKGROUP = 64u;

const EVERY = 0xffffffffu;

struct Making {
    // The games of this dispatch: from `first` to before `end`.
    first: u32,
    end: u32,
    // The number of segments, which is the number of words of a mask.
    segments: u32,
    // The index in `words` of the first slot's word, and the distance to the word of the next slot.
    place: u32,
    stride: u32,
    // If `stride` is 0, this word is used for all slots.
    low: u32,
    high: u32,
    unused: u32,
}

@group(0) @binding(0) var<uniform> making: Making;
// For each game, its first slot and the slot after its last.
@group(0) @binding(1) var<storage, read> games: array<vec2<u32>>;
// The masks, one after the other, with one word of bits for each segment.
@group(0) @binding(2) var<storage, read> masks: array<u32>;
// The words: two integers for each slot.
@group(0) @binding(3) var<storage, read> words: array<u32>;
// The column to compute, filled with 0 before. It is atomic, because several games may share a word of a mask.
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

// Returns the slots from `first` to before `end` that are in a segment. There must be at least one.
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
