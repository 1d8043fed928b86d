//! Counts the vector instructions per position in the machine code of kernels that replay segments (32 positions).

use std::ops::Range;

/// The iteration counts of the two loops in `replay` of shaders/hits.wgsl.
const WORDS: f64 = 8.0;
const SLOTS: f64 = 32.0;

/// A run of instructions that begins at a label, and facts about these instructions.
#[derive(Default)]
struct Part {
    label: String,
    vector: u32,
    loads: bool,
    stores: bool,
    /// The labels to which the part jumps.
    jumps: Vec<String>,
}

/// Returns the number of vector instructions that a wave executes per position if it takes every branch. A loop over pieces or
/// moves within the code for a position counts as one iteration. Returns `None` if the code lacks the loops of a kernel that
/// replays moves.
pub fn vector_per_position(assembly: &str) -> Option<f64> {
    let parts = parts(assembly);
    let loops = loops(&parts);
    let all = |range: &Range<usize>, test: fn(&Part) -> bool| parts[range.clone()].iter().any(test);
    let vector =
        |range: &Range<usize>| parts[range.clone()].iter().map(|part| f64::from(part.vector)).sum::<f64>();
    // The outer loops iterate over segments and store results, so loops with stores are not considered here.
    let words = loops.iter().filter(|range| all(range, |part| part.loads) && !all(range, |part| part.stores));
    let words = words.max_by_key(|range| range.len())?;
    let inner =
        loops.iter().filter(|range| range.start >= words.start && range.end <= words.end && *range != words);
    let slots = inner.max_by(|a, b| vector(a).total_cmp(&vector(b)));
    // If no loop over the four slots of a word of moves is found, the driver has unrolled it.
    let slots = slots.filter(|range| vector(range) >= vector(words) / 2.0);
    let at_slots = slots.map_or(0.0, vector);
    Some(at_slots + (vector(words) - at_slots) * WORDS / SLOTS)
}

/// Returns the number that [`vector_per_position`] returns, for a kernel that only replays moves. The result is also right if the
/// driver has unrolled both loops.
pub fn vector_per_replayed_position(assembly: &str) -> Option<f64> {
    let parts = parts(assembly);
    let all = parts.iter().map(|part| f64::from(part.vector)).sum::<f64>();
    if loops(&parts).is_empty() { Some(all / SLOTS) } else { vector_per_position(assembly) }
}

/// Returns the number of vector instructions in one iteration of the longest loop of a shader's machine code.
pub fn vector_per_turn(assembly: &str) -> Option<f64> {
    let parts = parts(assembly);
    let turn = |range: Range<usize>| parts[range].iter().map(|part| f64::from(part.vector)).sum::<f64>();
    loops(&parts).into_iter().map(turn).max_by(f64::total_cmp)
}

fn parts(assembly: &str) -> Vec<Part> {
    let mut parts = vec![Part::default()];
    for line in assembly.lines() {
        if let Some(label) = line.strip_prefix("BB").and_then(|line| line.split_once(':')) {
            parts.push(Part { label: format!("BB{}", label.0), ..Part::default() });
            continue;
        }
        let part = parts.last_mut().expect("there is always one");
        let mut words = line.split_whitespace();
        let Some(name) = words.next() else { continue };
        part.vector += u32::from(name.starts_with("v_"));
        part.loads |= name.starts_with("buffer_load") || name.starts_with("global_load");
        part.stores |= name.starts_with("buffer_store") || name.starts_with("global_store");
        if name.starts_with("s_branch") || name.starts_with("s_cbranch") {
            part.jumps.extend(words.next().map(str::to_string));
        }
    }
    parts
}

/// Returns the range of parts that each loop spans. The driver emits the parts of a loop in order, and the part that jumps back
/// ends the loop.
fn loops(parts: &[Part]) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    for (end, part) in parts.iter().enumerate() {
        for to in &part.jumps {
            let Some(start) = parts[..=end].iter().position(|part| part.label == *to) else { continue };
            match out.iter_mut().find(|known| known.start == start) {
                Some(known) => known.end = known.end.max(end + 1),
                None => out.push(start..end + 1),
            }
        }
    }
    out
}
