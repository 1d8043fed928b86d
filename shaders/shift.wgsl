// Moves the results of a stage (a program that runs before the rest of the plan) to the previous or the next position, or fetches
// them from the position whose number a word contains. games.wgsl calls `along_game` for each game.
//
// The generator inserts two constants before this file: WHERE, the kind of shift, and OTHERWISE, the word for positions
// that receive no word from a child. The CPU implementation is in crates/engine/src/operations.rs.

const MASK_TO_PARENT = 0u;
const MASK_TO_CHILD = 1u;
const WORD_TO_PARENT = 2u;
const MASK_FROM_NUMBER = 3u;

// Returns the slots of a segment that belong to the game and are reached by a move: all slots of the game except the
// first.
fn children(segment: u32, first: u32, end: u32) -> u32 {
    let root = select(0u, 1u << (first % SEGMENT_SLOTS), segment == first / SEGMENT_SLOTS);
    return within(segment, first, end) & ~root;
}

fn masks_to_parents(first: u32, end: u32) {
    let last = (end - 1u) / SEGMENT_SLOTS;
    let count = last - first / SEGMENT_SLOTS + 1u;
    var behind = 0u;
    for (var k = 0u; k < count; k++) {
        let segment = last - k;
        let mask = mask_of(segment) & children(segment, first, end);
        atomicOr(&column[segment], (mask >> 1u) | (behind << 31u));
        behind = mask & 1u;
    }
}

fn masks_to_children(first: u32, end: u32) {
    let low = first / SEGMENT_SLOTS;
    let count = (end - 1u) / SEGMENT_SLOTS - low + 1u;
    var before = 0u;
    for (var k = 0u; k < count; k++) {
        let segment = low + k;
        let mask = mask_of(segment);
        atomicOr(&column[segment], ((mask << 1u) | before) & children(segment, first, end));
        before = mask >> 31u;
    }
}

// Stores for each slot the word of the next slot if the mask is true at the next slot, otherwise the constant
// OTHERWISE.
fn words_to_parents(first: u32, end: u32) {
    for (var slot = first; slot < end; slot++) {
        let child = min(slot + 1u, end - 1u);
        let holds = child != slot && ((mask_of(child / SEGMENT_SLOTS) >> (child % SEGMENT_SLOTS)) & 1u) != 0u;
        let word = select(OTHERWISE, word_of(child), holds);
        store(slot, word.x, word.y);
    }
}

// Stores for each slot the value of the mask at the position whose number is the slot's word, or false if the game has
// no such position.
fn masks_from_numbers(first: u32, end: u32) {
    for (var slot = first; slot < end; slot++) {
        let number = word_of(slot);
        let there = first + min(number.x, end - first - 1u);
        let is_one = number.y == 0u && number.x < end - first;
        let holds = is_one && ((mask_of(there / SEGMENT_SLOTS) >> (there % SEGMENT_SLOTS)) & 1u) != 0u;
        atomicOr(&column[slot / SEGMENT_SLOTS], select(0u, 1u << (slot % SEGMENT_SLOTS), holds));
    }
}

fn along_game(first: u32, end: u32) {
    if (WHERE == MASK_TO_PARENT) {
        masks_to_parents(first, end);
    } else if (WHERE == MASK_TO_CHILD) {
        masks_to_children(first, end);
    } else if (WHERE == MASK_FROM_NUMBER) {
        masks_from_numbers(first, end);
    } else {
        words_to_parents(first, end);
    }
}
