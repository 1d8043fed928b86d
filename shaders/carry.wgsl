// What a stage found, carried along games: one invocation takes one game of an upload that holds it whole.
//
// Two constants stand before this: WHAT is carried, and whether it goes BACK, from the positions before to those behind
// them. The twin is src/engine/carry.rs.

const ANY = 0u;
const COUNT = 1u;
const NEAREST = 2u;
const UNION = 3u;

const SEGMENT_SLOTS = 32u;
const CARRY_WORKGROUP = 64u;

const EVERY = 0xffffffffu;

struct Carry {
    // Games: from `first` on, `end` excluded.
    first: u32,
    end: u32,
    // Where in `found` the words of the first segment or slot stand; of sets, how many words farther those of the next
    // slot stand.
    place: u32,
    stride: u32,
    // The same word everywhere, if this is not 0.
    is_constant: u32,
    low: u32,
    high: u32,
    unused: u32,
}

@group(0) @binding(0) var<uniform> carry: Carry;
// The first slot of each game, and the one after its last.
@group(0) @binding(1) var<storage, read> games: array<vec2<u32>>;
// Masks: a word for each segment. Sets: two words for each slot.
@group(0) @binding(2) var<storage, read> found: array<u32>;
// All 0 before. A word of masks may belong to several games.
@group(0) @binding(3) var<storage, read_write> column: array<atomic<u32>>;

fn mask_of(segment: u32) -> u32 {
    if (carry.is_constant != 0u) {
        return carry.low;
    }
    return found[carry.place + segment];
}

fn set_of(slot: u32) -> vec2<u32> {
    if (carry.is_constant != 0u) {
        return vec2<u32>(carry.low, carry.high);
    }
    let at = carry.place + carry.stride * slot;
    return vec2<u32>(found[at], found[at + 1u]);
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

// Up to the last slot at which the mask is true, or from the first one on.
fn carry_masks(first: u32, end: u32) {
    let low = first / SEGMENT_SLOTS;
    let count = (end - 1u) / SEGMENT_SLOTS - low + 1u;
    var is_found = false;
    for (var k = 0u; k < count; k++) {
        let segment = low + select(count - 1u - k, k, BACK);
        let slots = within(segment, first, end);
        let mask = mask_of(segment) & slots;
        let down = select(0u, EVERY >> (countLeadingZeros(mask) & 31u), mask != 0u);
        let up = mask | (0u - mask);
        let reached = select(select(down, up, BACK), EVERY, is_found) & slots;
        atomicOr(&column[segment], reached);
        is_found = is_found || mask != 0u;
    }
}

// How often the mask was true on the way, or where it was last.
fn carry_numbers(first: u32, end: u32) {
    let count = end - first;
    var number = select(0u, EVERY, WHAT == NEAREST);
    for (var k = 0u; k < count; k++) {
        let slot = first + select(count - 1u - k, k, BACK);
        if (((mask_of(slot / SEGMENT_SLOTS) >> (slot % SEGMENT_SLOTS)) & 1u) != 0u) {
            number = select(number + 1u, slot - first, WHAT == NEAREST);
        }
        // The number of no position is -1.
        store(slot, number, select(0u, EVERY, number == EVERY));
    }
}

fn carry_sets(first: u32, end: u32) {
    let count = end - first;
    var all = vec2<u32>();
    for (var k = 0u; k < count; k++) {
        let slot = first + select(count - 1u - k, k, BACK);
        all |= set_of(slot);
        store(slot, all.x, all.y);
    }
}

@compute @workgroup_size(CARRY_WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let index = carry.first + id.x;
    if (index >= carry.end) {
        return;
    }
    let game = games[index];
    if (game.x >= game.y) {
        return;
    }
    if (WHAT == ANY) {
        carry_masks(game.x, game.y);
    } else if (WHAT == UNION) {
        carry_sets(game.x, game.y);
    } else {
        carry_numbers(game.x, game.y);
    }
}
