// What an automaton finds from each slot of a game (games.wgsl): whether there is a walk, or with NUMBERS its value. From the
// last slot to the first, or with BACK from the first to the last.
//
// src/engine/gpu/walks.rs prints these constants, the Masks of a segment, what is known of the States at a slot, and what a
// slot says of them: `alive` and `begins`. The twins are src/engine/operations/reach.rs and walk.rs there.

// What is known of the slot to which a walk goes on.
struct Ahead {
    // States that take it, or the move to it, and from which the walk can be completed,
    alive: States,
    // and the same one slot further on.
    further: States,
}

fn along_game(first: u32, end: u32) {
    let low = first / SEGMENT_SLOTS;
    let count = (end - 1u) / SEGMENT_SLOTS - low + 1u;
    var ahead = Ahead(States(), States());
    for (var k = 0u; k < count; k++) {
        let segment = low + select(count - 1u - k, k, BACK);
        let these = masks_at(segment);
        let base = SEGMENT_SLOTS * segment;
        let low_slot = max(first, base) - base;
        let end_slot = min(end, base + SEGMENT_SLOTS) - base;
        var found = 0u;
        for (var j = low_slot; j < end_slot; j++) {
            let slot = select(low_slot + end_slot - 1u - j, j, BACK);
            let here = alive(these, slot, ahead);
            let more = begins(these, slot, here, ahead);
            ahead = Ahead(here, ahead.alive);
            if (NUMBERS) {
                // One more than the value.
                let value = more - 1u;
                let is_found = more != 0u && value >= LEAST && value <= MOST;
                let number = select(result(base + slot - first, value), value, NESTBAN);
                store(base + slot, select(NO_VALUE.x, number, is_found), select(NO_VALUE.y, 0u, is_found));
            } else {
                found |= select(0u, 1u << slot, more != 0u);
            }
        }
        if (!NUMBERS) {
            atomicOr(&column[segment], found);
        }
    }
    if (NESTBAN) {
        ban(first, end);
    }
}

// Takes those values away that no walk has: the positions of a walk begin no other one.
fn ban(first: u32, end: u32) {
    // The first positions from which a walk may begin: of the side that is to move in positions of even numbers, and of odd.
    var open = vec2<u32>();
    for (var node = 0u; node < end - first; node++) {
        let slot = first + node;
        let value = atomicLoad(&column[2u * slot]);
        let is_odd = (node & 1u) != 0u;
        let has_value = atomicLoad(&column[2u * slot + 1u]) == 0u;
        let is_found = has_value && is_evaluated(slot) && node >= select(open.x, open.y, is_odd);
        let behind = select(0u, banned_to(node, value), is_found);
        open = max(open, select(vec2<u32>(behind), select(vec2<u32>(behind, 0u), vec2<u32>(0u, behind), is_odd), BY_SIDE));
        let number = result(node, value);
        store(slot, select(NO_VALUE.x, number, is_found), select(NO_VALUE.y, 0u, is_found));
    }
}
