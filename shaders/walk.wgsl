// Where an automaton finds a walk, whatever its value (games.wgsl): from the last slot of a game to the first, or with BACK
// from the first to the last.
//
// src/engine/gpu/walks.rs prints BACK, the Masks of a segment, and what a slot of it says of them: `lead`, `alive` and
// `begins`. The twin is src/engine/operations/reach.rs.

// A bit for each state.
alias States = vec2<u32>;

// What is known of the slot to which a walk goes on.
struct Ahead {
    // States that take it, or the move to it, and from which the walk can be completed,
    alive: States,
    // the same one slot further on,
    further: States,
    // and states tied to a move for which the move between passes.
    led: States,
    // Whether there is such a slot.
    is_one: bool,
}

fn has(states: States, state: u32) -> bool {
    return ((select(states.x, states.y, state >= 32u) >> (state % 32u)) & 1u) != 0u;
}

fn only(state: u32, holds: bool) -> States {
    let one = select(0u, 1u << (state % 32u), holds);
    return select(States(one, 0u), States(0u, one), state >= 32u);
}

fn along_game(first: u32, end: u32) {
    let low = first / SEGMENT_SLOTS;
    let count = (end - 1u) / SEGMENT_SLOTS - low + 1u;
    var ahead = Ahead(States(), States(), States(), false);
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
            found |= select(0u, 1u << slot, begins(these, slot, here, ahead));
            ahead = Ahead(here, ahead.alive, lead(these, slot), true);
        }
        atomicOr(&column[segment], found);
    }
}
