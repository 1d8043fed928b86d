// Second pass: for each slot that hits, the words of the query (its value, or which of its copies match).

struct Entry {
    segment: u32,
    // The slots that hit.
    slots: u32,
    // Where the words of the first of them go.
    first: u32,
}

@group(0) @binding(7) var<storage, read> entries: array<Entry>;
@group(0) @binding(8) var<storage, read_write> words: array<vec2<u32>>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let index = params.first + id.x;
    if (index < params.end) {
        let entry = entries[index];
        var at = first_slot(entry.segment);
        var out = entry.first;
        for (var word = 0u; word < SEGMENT_SLOTS / 4u; word++) {
            var four = moves[entry.segment * (SEGMENT_SLOTS / 4u) + word];
            for (var i = 0u; i < 4u; i++) {
                at.mv = four.x & 0xffffu;
                four = shr(four, 16u);
                if (((entry.slots >> (4u * word + i)) & 1u) != 0u) {
                    evaluate(at, out);
                    out += WORDS;
                }
                at = advance(at);
            }
        }
    }
}
