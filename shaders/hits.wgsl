// First pass: for each query a bit for each slot.

@group(0) @binding(7) var<storage, read_write> hits: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let segment = params.first + id.x;
    if (segment < params.end) {
        var at = first_slot(segment);
        var found = Found();
        for (var word = 0u; word < SEGMENT_SLOTS / 4u; word++) {
            var four = moves[segment * (SEGMENT_SLOTS / 4u) + word];
            for (var i = 0u; i < 4u; i++) {
                at.mv = four.x & 0xffffu;
                four = shr(four, 16u);
                if (((params.slots >> (4u * word + i)) & 1u) != 0u) {
                    found = evaluate(at, 4u * word + i, found);
                }
                at = advance(at);
            }
        }
        store(segment, found);
    }
}
