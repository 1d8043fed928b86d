// Kernels that measure the speed limits of a device: the rates at which it reads memory, copies memory, and executes instructions
// on 32-bit words.
//
// The function `chains` in floors.rs computes the same words as `compute`.

const FLOOR_WORKGROUP = 256u;
// The number of vectors that an invocation loads before it uses the first one.
const AT_ONCE = 4u;
// The number of steps in one loop iteration of `compute`. Each step advances eight chains by three operations: an addition, a
// shift and an exclusive or. No device can combine two of these operations in one instruction. The bench `kernels` counts the
// instructions of an iteration.
const STEPS = 16u;

struct Extent {
    // The number of vectors in `source`: a multiple of AT_ONCE times the number of invocations.
    vectors: u32,
    invocations: u32,
    turns: u32,
    // The word that each step of a chain adds. It is read from a buffer, so the compiler cannot treat it as a constant.
    add: u32,
}

@group(0) @binding(0) var<uniform> extent: Extent;
@group(0) @binding(1) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> copied: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> sums: array<u32>;

@compute @workgroup_size(FLOOR_WORKGROUP)
fn read_all(@builtin(global_invocation_id) id: vec3<u32>) {
    let far = extent.invocations;
    var sum = vec4<u32>();
    for (var i = id.x; i < extent.vectors; i += AT_ONCE * far) {
        sum += (source[i] + source[i + far]) + (source[i + 2u * far] + source[i + 3u * far]);
    }
    sums[id.x] = (sum.x + sum.y) + (sum.z + sum.w);
}

@compute @workgroup_size(FLOOR_WORKGROUP)
fn copy_all(@builtin(global_invocation_id) id: vec3<u32>) {
    let far = extent.invocations;
    for (var i = id.x; i < extent.vectors; i += AT_ONCE * far) {
        let a = source[i];
        let b = source[i + far];
        let c = source[i + 2u * far];
        let d = source[i + 3u * far];
        copied[i] = a;
        copied[i + far] = b;
        copied[i + 2u * far] = c;
        copied[i + 3u * far] = d;
    }
}

fn next(chains: vec4<u32>, add: u32) -> vec4<u32> {
    return (chains + vec4<u32>(add)) ^ (chains >> vec4<u32>(5u));
}

@compute @workgroup_size(FLOOR_WORKGROUP)
fn compute(@builtin(global_invocation_id) id: vec3<u32>) {
    let add = extent.add;
    var a = vec4<u32>(id.x) + vec4<u32>(0u, 1u, 2u, 3u);
    var b = a + vec4<u32>(4u);
    for (var turn = 0u; turn < extent.turns; turn++) {
        // The steps are unrolled so that loop overhead is not measured.
        a = next(a, add);
        b = next(b, add);
        a = next(a, add);
        b = next(b, add);
        a = next(a, add);
        b = next(b, add);
        a = next(a, add);
        b = next(b, add);
        a = next(a, add);
        b = next(b, add);
        a = next(a, add);
        b = next(b, add);
        a = next(a, add);
        b = next(b, add);
        a = next(a, add);
        b = next(b, add);
        a = next(a, add);
        b = next(b, add);
        a = next(a, add);
        b = next(b, add);
        a = next(a, add);
        b = next(b, add);
        a = next(a, add);
        b = next(b, add);
        a = next(a, add);
        b = next(b, add);
        a = next(a, add);
        b = next(b, add);
        a = next(a, add);
        b = next(b, add);
        a = next(a, add);
        b = next(b, add);
    }
    let both = a ^ b;
    sums[id.x] = (both.x ^ both.y) ^ (both.z ^ both.w);
}
