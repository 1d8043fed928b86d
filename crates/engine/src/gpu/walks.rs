//! Translates walks to WGSL shaders, for games without side lines (variations).
//!
//! A *walk* is a sequence of positions that filters such as `line` and `path` describe with an automaton. One shader
//! invocation processes a game from its end (or, for walks against the direction of the moves, from its beginning). At
//! each slot it computes the states from which the walk can be completed: one bit for each state, or a number that is
//! one more than the walk's value. The transitions at a slot become straight-line code, one line for each branch from
//! one state to another. The rest of the shader is `shaders/walk.wgsl`. The CPU implementation of these computations is
//! in `crates/engine/src/operations/reach.rs` and `crates/engine/src/operations/walk.rs`.
//!
//! A state may be tied to one of the moves played from its position (`AutomatonState::leaving`). Without side lines,
//! only one move is played from a position, so the `mask` of the state is enough.

use std::fmt::Write as _;

use orbit_plan::{Branch, NO_VALUE, Sees, Sibling, Walk};

const WALK: &str = orbit_shaders::WALK;

/// The maximum number of branches of an automaton (the translation of a `line` or `path`) that is translated to a
/// shader. Drivers compile long shaders slowly.
const WAYS_MAX: usize = 400;

/// The maximum number of states of an automaton whose values a shader computes. Each value occupies a register of the
/// invocation.
const VALUES_MAX: usize = 24;

/// Returns true if the device can find the walks (sequences of positions) of an automaton. Returns false if the walk
/// has a `focus` (a set of pieces whose moves count), if it is chosen by the number at its last position (the filter
/// parameter `max`), or if the automaton has so many branches that the shader would be too long.
pub(super) fn fits(walk: &Walk) -> bool {
    let automaton = &walk.automaton;
    let ways = automaton.first.len() + automaton.follow.iter().map(Vec::len).sum::<usize>();
    !matches!(walk.sees, Sees::Pieces { .. }) && !walk.largest && ways <= WAYS_MAX
}

/// Returns true if the device can also compute the values of the walks (sequences of positions).
pub(super) fn has_numbers(walk: &Walk) -> bool {
    fits(walk) && walk.automaton.states.len() <= VALUES_MAX
}

/// Returns the shader: `shaders/walk.wgsl` with the code that is specific to the automaton. `masks` contains a WGSL expression for
/// each mask of the automaton: the mask's word for a segment (32 positions). If `numbers` is true, the shader computes values.
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

    // Without side lines, no move is secondary (an alternative to the first move from a position), so a walk over secondary moves
    // cannot continue.
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

/// Returns the expression that tests whether a mask is true at a slot (position).
fn holds(mask: u16) -> String {
    format!("(((these.m{mask} >> slot) & 1u) != 0u)")
}

/// Generates the code that computes the states of the automaton at a slot (position). The code represents a state by a
/// number, which is 0 if the walk (the sequence of positions) cannot be completed from the state. Otherwise the number
/// is 1 or, if `numbers` is true, one more than the walk's value.
struct StatePrinter<'a> {
    walk: &'a Walk,
    numbers: bool,
}

impl StatePrinter<'_> {
    /// Returns the type that holds all states of the automaton at a slot (position).
    fn states(&self) -> String {
        let states = 0..self.walk.automaton.states.len();
        let fields: Vec<String> = match self.numbers {
            true => states.map(|state| format!("    v{state}: u32,")).collect(),
            // One bit for each state.
            false => ["    low: u32,", "    high: u32,"].map(String::from).to_vec(),
        };
        format!("struct States {{\n{}\n}}\n", fields.join("\n"))
    }

    /// Returns the code that checks whether the value of a walk is in the range that the query allows, and that
    /// converts the value to the word that the column contains.
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

    /// Returns the code for `nestban`, which prevents a walk (a sequence of positions) from beginning inside an earlier walk.
    /// `evaluated` is the shader's expression for the mask of the positions at which a walk with `nestban` is evaluated.
    fn bans(&self, evaluated: &str) -> String {
        let Walk { nestban, moves, sees, .. } = *self.walk;
        let by_side = sees == Sees::OneSide && !moves;
        // In a walk over positions (a `line`), all positions belong to the walk. In a walk over moves (a `path`), the
        // position after the last move does not.
        let more = u32::from(!moves);
        format!(
            "const NESTBAN = {nestban};\nconst BY_SIDE = {by_side};\n\n\
             fn banned_to(node: u32, value: u32) -> u32 {{\n    return last(node, value) + {more}u;\n}}\n\n\
             fn is_evaluated(slot: u32) -> bool {{\n    let segment = slot / SEGMENT_SLOTS;\n    \
             return (({evaluated} >> (slot % SEGMENT_SLOTS)) & 1u) != 0u;\n}}\n"
        )
    }

    /// Returns the expression for the number of the state to which a branch leads, or `1u` if the branch leads to the
    /// end of the walk (the sequence of positions). If `guarded` is true, the expression is 0 where a guard of the
    /// branch (a mask that must be true) is false.
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

    /// Returns the line of code that combines a branch with the branches before it. If the search stops at the first
    /// walk (`first_match`), the first branch that leads to a walk wins. Otherwise the branch with the largest value
    /// wins.
    fn join(&self, known: &str, way: &str) -> String {
        match self.walk.first_match {
            true => format!("    {known} = select({known}, {way}, {known} == 0u);"),
            false => format!("    {known} = max({known}, {way});"),
        }
    }

    /// Returns the line of code that stores a state of the automaton at a slot (position). The state is stored only where
    /// its mask is true.
    fn taken(&self, state: usize, mask: &str) -> String {
        if self.numbers {
            return format!("    out.v{state} = select(0u, s{state} + 1u, {mask} & (s{state} != 0u));");
        }
        let half = if state < 32 { "low" } else { "high" };
        format!("    out.{half} |= select(0u, s{state}, {mask}) << {}u;", state % 32)
    }
}
