//! Automata along games as WGSL: where there is a walk, and its value, in games without side lines.
//!
//! An invocation goes through one game from the end, or against the moves from the beginning, and knows at each slot from
//! which states the walk can be completed: a bit for each, or one more than the value. What a slot says of them is printed
//! straight, a line for each way from one state to another. The shader's other part is `shaders/walk.wgsl`; the twins are
//! `crates/engine/src/operations/reach.rs` and `crates/engine/src/operations/walk.rs`.
//!
//! A state that is tied to a move asks at the position before it the same of its only child, so its mask is enough.

use std::fmt::Write as _;

use orbit_plan::{Branch, NO_VALUE, Sees, Sibling, Walk};

const WALK: &str = orbit_shaders::WALK;

/// Ways of an automaton that are printed at most: drivers take long to compile long shaders.
const WAYS_MAX: usize = 400;

/// States whose values are kept at most: they are registers of an invocation.
const VALUES_MAX: usize = 24;

/// Returns whether the device can find the walks of an automaton. Only the processor knows which pieces are in focus, and
/// only it finds the walk with the largest number; an automaton with too many ways makes too long a shader.
pub(super) fn fits(walk: &Walk) -> bool {
    let automaton = &walk.automaton;
    let ways = automaton.first.len() + automaton.follow.iter().map(Vec::len).sum::<usize>();
    !matches!(walk.sees, Sees::Pieces { .. }) && !walk.largest && ways <= WAYS_MAX
}

/// Returns whether the device can compute the value of a walk, too.
pub(super) fn has_numbers(walk: &Walk) -> bool {
    fits(walk) && walk.automaton.states.len() <= VALUES_MAX
}

/// `shaders/walk.wgsl` and what it asks of the automaton, whose masks have these words in a segment; with `numbers` for
/// values.
pub(super) fn shader(walk: &Walk, masks: &[String], numbers: bool) -> String {
    let of = StatePrinter { walk, numbers };
    let mut out = String::new();
    let mut line = |text: &str| writeln!(out, "{text}").expect("a string takes all");
    line(&format!("const BACK = {};\nconst NUMBERS = {numbers};\n{}", walk.back, of.results()));
    line(&of.bans(masks.get(walk.automaton.operands).map_or("0u", |mask| mask)));
    line(&of.states());

    line("struct Masks {");
    (0..walk.automaton.operands).for_each(|mask| line(&format!("    m{mask}: u32,")));
    let words = masks[..walk.automaton.operands].join(", ");
    line(&format!("}}\n\nfn masks_at(segment: u32) -> Masks {{\n    return Masks({words});\n}}\n"));

    // No move of a game without side lines leads to a secondary child.
    let is_stuck = walk.sibling == Some(Sibling::Secondary);
    let [next, after] = ["ahead.alive", "ahead.further"].map(|on| if is_stuck { "States()" } else { on });
    let goes_on = if walk.sees == Sees::OneSide { after } else { next };
    line("fn alive(these: Masks, slot: u32, ahead: Ahead) -> States {\n    var out = States();");
    for (k, (state, ways)) in walk.automaton.states.iter().zip(&walk.automaton.follow).enumerate() {
        line(&format!("    var s{k} = 0u;"));
        ways.iter().for_each(|way| line(&of.join(&format!("s{k}"), &of.way(way, goes_on, true))));
        line(&of.taken(k, &holds(state.mask)));
    }
    line("    return out;\n}\n");

    line("fn begins(these: Masks, slot: u32, here: States, ahead: Ahead) -> u32 {\n    var out = 0u;");
    for way in walk.automaton.first.iter().filter(|way| way.to.is_some()) {
        let begins = if walk.moves { of.way(way, next, true) } else { of.way(way, "here", false) };
        line(&of.join("out", &begins));
    }
    line("    return out;\n}\n");
    out + WALK
}

/// Returns the expression that tests whether a mask holds at a slot.
fn holds(mask: u16) -> String {
    format!("(((these.m{mask} >> slot) & 1u) != 0u)")
}

/// Prints the record of the automaton's states at a slot. Without `numbers`, a state is 1 where the walk can be
/// completed from it; with `numbers`, it is one more than the value there. It is 0 where the walk cannot be completed.
struct StatePrinter<'a> {
    walk: &'a Walk,
    numbers: bool,
}

impl StatePrinter<'_> {
    /// Returns the type that records all states at a slot.
    fn states(&self) -> String {
        let states = 0..self.walk.automaton.states.len();
        let fields: Vec<String> = match self.numbers {
            true => states.map(|state| format!("    v{state}: u32,")).collect(),
            // A bit for each.
            false => ["    low: u32,", "    high: u32,"].map(String::from).to_vec(),
        };
        format!("struct States {{\n{}\n}}\n", fields.join("\n"))
    }

    /// Returns the code that says which values count and that converts them to results.
    fn results(&self) -> String {
        let Walk { range: (low, high), moves, back, sees, end, .. } = *self.walk;
        let (least, most) = if high < 0 { (1, 0) } else { (low.max(0), high) };
        let last = match (sees, moves) {
            (Sees::OneSide, true) => "node + 2u * value - 1u",
            (Sees::OneSide, false) if back => "node - 2u * (value - 1u)",
            (Sees::OneSide, false) => "node + 2u * (value - 1u)",
            (_, true) => "node + value",
            (_, false) if back => "node - (value - 1u)",
            (_, false) => "node + value - 1u",
        };
        let result = if end { "last(node, value)" } else { "value" };
        let (no_low, no_high) = (NO_VALUE as u64 as u32, NO_VALUE as u64 >> 32);
        format!(
            "const LEAST = {least}u;\nconst MOST = {most}u;\nconst NO_VALUE = vec2<u32>({no_low}u, {no_high}u);\n\n\
             // The last position of a walk.\nfn last(node: u32, value: u32) -> u32 {{\n    return {last};\n}}\n\n\
             fn result(node: u32, value: u32) -> u32 {{\n    return {result};\n}}\n"
        )
    }

    /// Returns the code that decides which positions may not begin a walk because of an earlier walk. `evaluated` is
    /// the expression of the mask of positions at which a walk with `nestban` is evaluated.
    fn bans(&self, evaluated: &str) -> String {
        let Walk { nestban, moves, sees, .. } = *self.walk;
        let by_side = sees == Sees::OneSide && !moves;
        // What is between moves belongs to the walk as well, the position behind the last one does not.
        let more = u32::from(!moves);
        format!(
            "const NESTBAN = {nestban};\nconst BY_SIDE = {by_side};\n\n\
             fn banned_to(node: u32, value: u32) -> u32 {{\n    return last(node, value) + {more}u;\n}}\n\n\
             fn is_evaluated(slot: u32) -> bool {{\n    let segment = slot / SEGMENT_SLOTS;\n    \
             return (({evaluated} >> (slot % SEGMENT_SLOTS)) & 1u) != 0u;\n}}\n"
        )
    }

    /// Returns the expression of the state that a way leads to, or 1 if the way leads to the end. If `guarded`, it is 0
    /// where a guard of the way does not hold.
    fn way(&self, way: &Branch, states: &str, guarded: bool) -> String {
        let to = way.to.map_or("1u".into(), |to| match (self.numbers, to) {
            (true, _) => format!("{states}.v{to}"),
            (false, 0..32) => format!("(({states}.low >> {to}u) & 1u)"),
            (false, _) => format!("(({states}.high >> {}u) & 1u)", to - 32),
        });
        let guards = way.guards.iter().filter(|_| guarded).map(|&guard| holds(guard));
        match guards.reduce(|all, guard| format!("{all} & {guard}")) {
            Some(guards) => format!("select(0u, {to}, {guards})"),
            None => to,
        }
    }

    /// A line that adds a way to those before: the largest value, or the first one.
    fn join(&self, known: &str, way: &str) -> String {
        match self.walk.first_match {
            true => format!("    {known} = select({known}, {way}, {known} == 0u);"),
            false => format!("    {known} = max({known}, {way});"),
        }
    }

    /// A line that says what is known of a state that takes a slot where its mask holds.
    fn taken(&self, state: usize, mask: &str) -> String {
        if self.numbers {
            return format!("    out.v{state} = select(0u, s{state} + 1u, {mask} & (s{state} != 0u));");
        }
        let half = if state < 32 { "low" } else { "high" };
        format!("    out.{half} |= select(0u, s{state}, {mask}) << {}u;", state % 32)
    }
}
