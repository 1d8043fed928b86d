// One invocation takes one game of an upload that holds it whole, and makes a column for its slots. The game has no side
// lines: each slot but its first holds the child of the slot before.
//
// `along_game` says what is made: carry.wgsl, shift.wgsl or walk.wgsl. src/engine/gpu/ways.rs prints `mask_of`.

const SEGMENT_SLOTS = 32u;
const GAMES_WORKGROUP = 64u;

const EVERY = 0xffffffffu;

struct Making {
    // Games: from `first` on, `end` excluded.
    first: u32,
    end: u32,
    // Words from one mask to the next.
    segments: u32,
    // Where in `words` the word of the first slot stands, and how many words farther that of the next slot.
    place: u32,
    stride: u32,
    // The same word everywhere, if the stride is 0.
    low: u32,
    high: u32,
    unused: u32,
}

@group(0) @binding(0) var<uniform> making: Making;
// The first slot of each game, and the one after its last.
@group(0) @binding(1) var<storage, read> games: array<vec2<u32>>;
// A word for each segment, one mask behind the other.
@group(0) @binding(2) var<storage, read> masks: array<u32>;
// Two words for each slot.
@group(0) @binding(3) var<storage, read> words: array<u32>;
// All 0 before. A word of masks may belong to several games.
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

// The slots from `first` to `end` that lie in a segment, which has one of them.
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
