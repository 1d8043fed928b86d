// The entry point of kernels that store only the hits. An invocation replays several segments in sequence.

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    for (var k = 0u; k < SEGMENTS; k++) {
        let segment = params.first + (group.x * SEGMENTS + k) * WORKGROUP + local;
        if (segment < params.end) {
            store(segment, replay(segment, params.slots, SEGMENT_SLOTS / 4u));
        }
    }
}
