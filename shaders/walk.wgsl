// Runs an automaton along a game, for `line` and `path`. games.wgsl calls `along_game` for each game. A walk is a
// sequence of positions that the automaton accepts. For each slot, this shader computes whether a walk begins there or,
// if NUMBERS is true, the walk's value. It proceeds from the last slot to the first or, if BACK is true, from the first
// to the last.
//
// crates/engine/src/gpu/walks.rs generates the constants, the types Masks and States, and the functions `alive`, which
// returns the states at a slot, and `begins`, which tests whether a walk begins there. The CPU implementation is in
// crates/engine/src/operations/reach.rs and crates/engine/src/operations/walk.rs.

// The states of the automaton at the slots to which a walk can continue.
struct Ahead {
    // The states that accept the next slot (or the move to it) and from which the walk can be completed.
    alive: States,
    // The corresponding states for the slot after the next one.
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
                // `more` is the value plus one; 0 means that there is no walk.
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

// Removes the values of walks that `nestban` forbids: no walk may begin inside an earlier walk.
fn ban(first: u32, end: u32) {
    // The first node at which the next walk may begin, separately for nodes with even numbers (x) and with odd
    // numbers (y), that is, for each side to move.
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
