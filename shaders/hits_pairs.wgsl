// The entry point of kernels in which two invocations compute a segment together, each for half of its slots. The
// kernels store only the hits.

// The results of the second half of the workgroup. The first half stores them together with its own results.
var<workgroup> second: array<Found, WORKGROUP / LANES>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let width = WORKGROUP / LANES;
    let lane = local / width;
    let place = local % width;
    for (var k = 0u; k < SEGMENTS; k++) {
        let segment = params.first + (group.x * SEGMENTS + k) * width + place;
        var found = Found();
        if (segment < params.end) {
            found = replay(segment, params.slots & lane_slots(lane), lane_words(lane));
        }
        if (lane == 1u) {
            second[place] = found;
        }
        workgroupBarrier();
        if (lane == 0u && segment < params.end) {
            store(segment, joined(found, second[place]));
        }
        // The barrier ensures that these results are read before the results for the next segment replace them.
        workgroupBarrier();
    }
}
