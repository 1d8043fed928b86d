//! Automata along games as WGSL: whether there is a walk, in games without side lines.
//!
//! An invocation goes through one game from the end, or against the moves from the beginning, and knows at each slot from
//! which states the walk can be completed: a bit for each. What a slot says of them is printed straight, a line for each
//! way from one state to another. The shader's other part is `shaders/walk.wgsl`, the twin
//! `src/engine/operations/reach.rs`.

use std::fmt::Write as _;

use crate::plan::{Branch, Sees, Sibling, Walk};

const WALK: &str = include_str!("../../../shaders/walk.wgsl");

/// Ways of an automaton that are printed at most: drivers take long to compile long shaders.
const WAYS_MAX: usize = 400;

/// Whether the device can run an automaton: which pieces are in focus and what is largest, only the processor knows.
pub(super) fn fits(walk: &Walk) -> bool {
    let automaton = &walk.automaton;
    let ways = automaton.first.len() + automaton.follow.iter().map(Vec::len).sum::<usize>();
    let is_tied = automaton.states.iter().any(|state| state.leaving.is_some());
    let is_beyond = matches!(walk.sees, Sees::Pieces { .. }) || walk.largest || walk.back && is_tied;
    !is_beyond && ways <= WAYS_MAX
}

/// `shaders/walk.wgsl` and what it asks of the automaton, whose masks have these words in a segment.
pub(super) fn shader(walk: &Walk, masks: &[String]) -> String {
    let masks = &masks[..walk.automaton.operands];
    let mut out = format!("const BACK = {};\n\nstruct Masks {{\n", walk.back);
    let mut line = |text: std::fmt::Arguments<'_>| writeln!(out, "{text}").expect("a string takes all");
    (0..masks.len()).for_each(|mask| line(format_args!("    m{mask}: u32,")));
    line(format_args!("}}\n\nfn masks_at(segment: u32) -> Masks {{"));
    line(format_args!("    return Masks({});\n}}\n", masks.join(", ")));

    let states = || (0..).zip(&walk.automaton.states);
    line(format_args!(
        "// States that are tied to the move to a slot, if it passes.\nfn lead(these: Masks, slot: u32) -> States {{"
    ));
    line(format_args!("    var out = States();"));
    for (state, leaving) in states().filter_map(|(k, state): (u32, _)| Some((k, state.leaving?))) {
        line(format_args!("    out |= only({state}u, {});", holds(leaving)));
    }
    line(format_args!("    return out;\n}}\n"));

    // No move of a game without side lines leads to a secondary child.
    let on = if walk.sibling == Some(Sibling::Secondary) { "States()" } else { "ahead.alive" };
    let further = if walk.sibling == Some(Sibling::Secondary) { "States()" } else { "ahead.further" };
    let (goes_on, over) = if walk.sees == Sees::OneSide { (further, further) } else { (on, on) };
    let is_led = walk.sibling != Some(Sibling::Secondary);
    line(format_args!("fn alive(these: Masks, slot: u32, ahead: Ahead) -> States {{"));
    line(format_args!("    var out = States();"));
    for (k, state) in states() {
        let ways = &walk.automaton.follow[k as usize];
        line(format_args!("    var s{k} = false;"));
        for way in ways {
            line(format_args!("    s{k} |= {};", open(way, goes_on, true)));
        }
        line(format_args!("    s{k} &= ({});", holds(state.mask)));
        if state.leaving.is_some() {
            line(format_args!("    var over{k} = false;"));
            for way in ways {
                line(format_args!("    over{k} |= {};", open(way, over, false)));
            }
            line(format_args!(
                "    s{k} = select(s{k}, over{k} & {is_led} & has(ahead.led, {k}u), ahead.is_one);"
            ));
        }
        line(format_args!("    out |= only({k}u, s{k});"));
    }
    line(format_args!("    return out;\n}}\n"));

    line(format_args!("fn begins(these: Masks, slot: u32, here: States, ahead: Ahead) -> bool {{"));
    line(format_args!("    var out = false;"));
    for way in walk.automaton.first.iter().filter(|way| way.to.is_some()) {
        let begins = if walk.moves { open(way, on, true) } else { open(way, "here", false) };
        line(format_args!("    out |= {begins};"));
    }
    line(format_args!("    return out;\n}}\n"));
    out + WALK
}

/// Whether a mask holds at a slot.
fn holds(mask: u16) -> String {
    format!("((these.m{mask} >> slot) & 1u) != 0u")
}

/// Whether a way leads to one of some states, or to the end, with `guarded` where its guards hold.
fn open(way: &Branch, states: &str, guarded: bool) -> String {
    let to = way.to.map_or("true".into(), |to| format!("has({states}, {to}u)"));
    let guards = way.guards.iter().filter(|_| guarded).map(|&guard| format!("({})", holds(guard)));
    guards.chain([to]).collect::<Vec<String>>().join(" & ")
}
