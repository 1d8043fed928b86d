// The first pass: computes one bit for each query and slot (position), which is set if the query matches there. The
// entry points, in hits_alone.wgsl and hits_pairs.wgsl, divide the segments among invocations.

@group(0) @binding(7) var<storage, read_write> hits: array<u32>;

// Returns the bits of `hits[place]` that must not change, because they belong to slots that this dispatch does not
// evaluate.
fn kept(place: u32) -> u32 {
    if (!SOME_SLOTS) {
        return 0u;
    }
    return hits[place] & ~params.slots;
}

// Evaluates the queries at the slots of a segment that are in the mask `slots`. Only the first `words` groups of four
// moves are replayed.
fn replay(segment: u32, slots: u32, words: u32) -> Found {
    var at = first_slot(segment);
    var found = Found();
    for (var word = 0u; word < words; word++) {
        var four = four_moves(segment, word);
        for (var i = 0u; i < 4u; i++) {
            at.mv = low_word(four) & 0xffffu;
            four = shr(four, 16u);
            var is_wanted = true;
            if (SOME_SLOTS) {
                is_wanted = ((slots >> (4u * word + i)) & 1u) != 0u;
            }
            if (is_wanted) {
                found = evaluate(at, 4u * word + i, found);
            }
            at = advance(at);
        }
    }
    return found;
}
