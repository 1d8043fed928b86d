// The second pass: computes the words of a query at each hit. The words are the query's value, or the copies
// (transformed patterns) that match.

struct Entry {
    segment: u32,
    // The slots of the segment at which the query matches, as bits.
    slots: u32,
    // The index in `words` of the first word of the first hit in the segment.
    first: u32,
}

@group(0) @binding(7) var<storage, read> entries: array<Entry>;
@group(0) @binding(8) var<storage, read_write> words: array<Bits>;

fn replay(segment: u32, slots: u32, first: u32, words: u32) {
    var at = first_slot(segment);
    var out = first;
    for (var word = 0u; word < words; word++) {
        var four = four_moves(segment, word);
        for (var i = 0u; i < 4u; i++) {
            at.mv = low_word(four) & 0xffffu;
            four = shr(four, 16u);
            if (((slots >> (4u * word + i)) & 1u) != 0u) {
                evaluate(at, out);
                out += WORDS;
            }
            at = advance(at);
        }
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let width = WORKGROUP / LANES;
    let lane = local / width;
    for (var k = 0u; k < SEGMENTS; k++) {
        let index = params.first + (group.x * SEGMENTS + k) * width + local % width;
        if (index < params.end) {
            let entry = entries[index];
            let slots = entry.slots & lane_slots(lane);
            // The second lane (invocation) writes its words after those of the first lane.
            let before = select(0u, countOneBits(entry.slots & lane_slots(0u)), lane == 1u);
            replay(entry.segment, slots, entry.first + before * WORDS, lane_words(lane));
        }
    }
}
