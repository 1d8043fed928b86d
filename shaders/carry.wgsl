// Propagates the results of a stage (a program that runs before the rest of the plan) along the games of an upload (a
// batch of blocks): combines, for each position, its own result with those at all earlier or all later positions of its
// game. games.wgsl calls `along_game` for each game.
//
// The generator inserts two constants before this file: WHAT, the way to combine results, and BACK. If BACK is true,
// each position receives the results of earlier positions, otherwise those of later positions. The CPU implementation
// is in crates/engine/src/carry.rs.

const ANY = 0u;
const COUNT = 1u;
const NEAREST = 2u;
const UNION = 3u;

// Marks the slots of the game up to the last one at which the mask is true. If BACK is true, marks the slots from the
// first one at which the mask is true to the end of the game.
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

// Stores for each slot the number of slots visited so far (including itself) at which the mask is true, or the node of
// the latest of them. Slots are visited from the last to the first or, if BACK is true, from the first to the last.
fn carry_numbers(first: u32, end: u32) {
    let count = end - first;
    var number = select(0u, EVERY, WHAT == NEAREST);
    for (var k = 0u; k < count; k++) {
        let slot = first + select(count - 1u - k, k, BACK);
        if (((mask_of(slot / SEGMENT_SLOTS) >> (slot % SEGMENT_SLOTS)) & 1u) != 0u) {
            number = select(number + 1u, slot - first, WHAT == NEAREST);
        }
        // The number for "no position" is -1.
        store(slot, number, select(0u, EVERY, number == EVERY));
    }
}

fn carry_sets(first: u32, end: u32) {
    let count = end - first;
    var all = vec2<u32>();
    for (var k = 0u; k < count; k++) {
        let slot = first + select(count - 1u - k, k, BACK);
        all |= word_of(slot);
        store(slot, all.x, all.y);
    }
}

fn along_game(first: u32, end: u32) {
    if (WHAT == ANY) {
        carry_masks(first, end);
    } else if (WHAT == UNION) {
        carry_sets(first, end);
    } else {
        carry_numbers(first, end);
    }
}
