//! Orbits to the graph, without a loop over their copies wherever that is possible.
//!
//! All shifts of one filter are evaluated together ([`super::tiles`]): one bit of a word for each, in
//! one word named by an *anchor* where the shifts fit, else in a *grid* of two or four. Copies that
//! differ in squares alone become the rows of a *table*. What is left is written out copy by copy.
//!
//! Each of the first three can be switched off, and then the next one takes its place.

use std::collections::HashMap;

use super::{
    OrbitNote,
    dag::{Id, LoopId, Op, Reduce, TRUE},
    lower::{LIGHT, Lower, Slot, Slots, Value},
    tiles::is_pointwise,
};
use crate::{
    orbit::{Filter, Orbit, Placement},
    query::{Op as Q, Type, tree::Tally},
};

/// Fewer copies than this are written out rather than put in a table.
const TABLE_COPIES_MIN: usize = 8;

/// What becomes of the copies' values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// Mask: some copy matches.
    Any,
    /// Number of copies that match.
    Count,
    /// Union of sets.
    Union,
    /// Largest number, packed.
    Max,
}

impl Lower {
    /// The truth of an orbit in a place where nothing else of it is wanted.
    pub(super) fn orbit_truth(&mut self, orbit: &Orbit) -> Option<Id> {
        (orbit.tally == Tally::Any).then(|| self.gather(orbit, Wanted::Any))
    }

    pub(super) fn orbit_value(&mut self, orbit: &Orbit) -> Value {
        let always = self.dag.mask(true);
        match (orbit.tally, orbit.ty) {
            (Tally::Any, Type::Set) => Value::Set(self.gather(orbit, Wanted::Union)),
            (Tally::Any, Type::Num) => {
                let word = self.gather(orbit, Wanted::Max);
                self.unpacked_number(word)
            }
            (Tally::Any, _) => Value::Bool(self.gather(orbit, Wanted::Any)),
            (Tally::Count, _) => Value::Num { number: self.gather(orbit, Wanted::Count), ok: always },
            (Tally::Range(lo, hi), _) => {
                use crate::query::tree::Cmp;
                let number = self.gather(orbit, Wanted::Count);
                let (lo, hi) = (self.dag.number(lo), self.dag.number(hi));
                let above = self.dag.add(Op::Compare(Cmp::Ge, number, lo));
                let below = self.dag.add(Op::Compare(Cmp::Le, number, hi));
                Value::Num { number, ok: self.and(above, below) }
            }
        }
    }

    fn gather(&mut self, orbit: &Orbit, wanted: Wanted) -> Id {
        let mut note = OrbitNote { copies: orbit.copies.len(), ..OrbitNote::default() };
        let mut parts = Vec::new();
        if self.assigns_outer(&orbit.base) {
            // Copies pass values to one another: they run in order.
            for copy in &orbit.copies {
                parts.push(self.copy_word(&copy.filter, wanted));
            }
            note.unrolled = orbit.copies.len();
        } else {
            let kept = self.vars.clone();
            let rest = self.collapse_groups(orbit, wanted, &mut parts, &mut note);
            self.vars.clone_from(&kept);
            for group in self.same_but_squares(orbit, rest) {
                self.vars.clone_from(&kept);
                self.group(orbit, &group, wanted, &mut parts, &mut note);
            }
            self.vars = kept;
        }
        self.notes.push(note);
        match wanted {
            Wanted::Any | Wanted::Union => self.dag.any_of(parts),
            Wanted::Count => self.dag.sum_of(parts),
            Wanted::Max => {
                let none = self.dag.word(super::dag::NO_VALUE as u64);
                parts.into_iter().fold(none, |best, part| {
                    if best == none { part } else { self.dag.add(Op::Max(best, part)) }
                })
            }
        }
    }

    /// The word that one copy contributes.
    fn copy_word(&mut self, filter: &Filter, wanted: Wanted) -> Id {
        match wanted {
            Wanted::Any => self.truth(filter),
            Wanted::Count => {
                let hit = self.truth(filter);
                let (one, zero) = (self.dag.number(1), self.dag.number(0));
                self.dag.add(Op::Select { mask: hit, a: one, b: zero })
            }
            Wanted::Union => self.set(filter),
            Wanted::Max => {
                let value = self.value(filter);
                self.packed_number(value)
            }
        }
    }

    // ---- tables

    /// Splits copies into groups whose members differ only in squares and square colours.
    pub(super) fn same_but_squares(&self, orbit: &Orbit, copies: Vec<usize>) -> Vec<Vec<usize>> {
        if !self.options.tables || self.slots.is_some() {
            return copies.into_iter().map(|copy| vec![copy]).collect();
        }
        let mut order: Vec<Vec<usize>> = Vec::new();
        let mut known: HashMap<Vec<u64>, usize> = HashMap::new();
        for copy in copies {
            let index = *known.entry(skeleton(&orbit.copies[copy].filter)).or_insert_with(|| {
                order.push(Vec::new());
                order.len() - 1
            });
            order[index].push(copy);
        }
        order
    }

    fn group(
        &mut self,
        orbit: &Orbit,
        group: &[usize],
        wanted: Wanted,
        parts: &mut Vec<Id>,
        note: &mut OrbitNote,
    ) {
        if !fits_table(orbit, group) {
            let kept = self.vars.clone();
            for &copy in group {
                self.vars.clone_from(&kept);
                parts.push(self.copy_word(&orbit.copies[copy].filter, wanted));
            }
            note.unrolled += group.len();
            return;
        }
        let table = self.open_table(orbit, group, None);
        let filter = &orbit.copies[group[0]].filter;
        let (reduce, body) = match wanted {
            Wanted::Any => (Reduce::Or, self.truth(filter)),
            Wanted::Count => (Reduce::Count, self.truth(filter)),
            Wanted::Union => (Reduce::Or, self.set(filter)),
            Wanted::Max => (Reduce::Max, self.copy_word(filter, wanted)),
        };
        parts.push(self.close_table(table, reduce, body));
        note.tables += 1;
        note.in_tables += group.len();
    }

    /// Opens the loop over copies that differ in squares alone; what is lowered next is its body.
    /// `last` is a further word for each row.
    pub(super) fn open_table(&mut self, orbit: &Orbit, group: &[usize], last: Option<&[u64]>) -> LoopId {
        let columns: Vec<Vec<u64>> =
            group.iter().map(|&copy| square_masks(&orbit.copies[copy].filter)).collect();
        let mut varying: Vec<usize> = Vec::new();
        let mut masks = Vec::new();
        for k in 0..columns[0].len() {
            if columns.iter().all(|row| row[k] == columns[0][k]) {
                masks.push(Slot::Same(columns[0][k]));
                continue;
            }
            let same = varying.iter().position(|&old| columns.iter().all(|row| row[k] == row[old]));
            let param = same.unwrap_or_else(|| {
                varying.push(k);
                varying.len() - 1
            });
            masks.push(Slot::Param(param as u32));
        }
        let rows = columns.iter().enumerate().map(|(row, masks)| {
            let masks = varying.iter().map(|&k| masks[k]);
            masks.chain(last.map(|last| last[row])).collect()
        });
        let table = self.dag.open_loop(rows.collect());
        self.slots = Some(Slots { table, masks, next: 0 });
        table
    }

    /// Ends what [`Lower::open_table`] began.
    pub(super) fn close_table(&mut self, table: LoopId, reduce: Reduce, body: Id) -> Id {
        let slots = self.slots.take().expect("a table is open");
        assert_eq!(slots.next, slots.masks.len(), "a table's body asks for each of its squares once");
        self.dag.close_loop(table, reduce, body)
    }

    // ---- shifts together

    /// Evaluates what can be collapsed; returns the copies that are left.
    fn collapse_groups(
        &mut self,
        orbit: &Orbit,
        wanted: Wanted,
        parts: &mut Vec<Id>,
        note: &mut OrbitNote,
    ) -> Vec<usize> {
        if wanted == Wanted::Max {
            return (0..orbit.copies.len()).collect();
        }
        let (groups, mut rest) = self.shift_groups(orbit);
        for (placement, group) in groups {
            let words = match wanted {
                Wanted::Union => self.collapse_set(orbit, placement, &group),
                _ => self.collapse(orbit, placement, &group).map(|tiles| tiles.words),
            };
            match words {
                Some(words) => {
                    if wanted == Wanted::Union || is_pointwise(&orbit.unshifted(placement)) {
                        note.pointwise += group.len();
                    }
                    if words.len() == 1 {
                        (note.anchors, note.anchored) = (note.anchors + 1, note.anchored + group.len());
                    } else {
                        (note.grids, note.gridded) = (note.grids + words.len(), note.gridded + group.len());
                    }
                    match wanted {
                        Wanted::Any | Wanted::Union => parts.push(self.dag.any_of(words)),
                        _ => parts.extend(words.iter().map(|&word| self.dag.add(Op::Count(word)))),
                    }
                }
                None => rest.extend(group),
            }
        }
        if wanted == Wanted::Any && !parts.is_empty() {
            // One test for all groups together.
            let bits = self.dag.any_of(std::mem::take(parts));
            parts.push(self.dag.add(Op::NonEmpty(bits)));
        }
        rest
    }

    /// Copies that differ in their shifts alone, and those that cannot be grouped so.
    pub(super) fn shift_groups(&self, orbit: &Orbit) -> (Vec<(Placement, Vec<usize>)>, Vec<usize>) {
        let all = 0..orbit.copies.len();
        if self.slots.is_some()
            || !(self.options.anchors || self.options.grids)
            || orbit.base.any(|plain| matches!(plain.op, Q::Assign(_)))
        {
            return (Vec::new(), all.collect());
        }
        let mut rest = Vec::new();
        let mut groups: Vec<(Placement, Vec<usize>)> = Vec::new();
        for index in all {
            let placement = orbit.copies[index].placement;
            let key = placement.unshifted();
            match groups.iter_mut().find(|(known, _)| *known == key) {
                _ if placement.plain_shift().is_none() => rest.push(index),
                Some((_, group)) => group.push(index),
                None => groups.push((key, vec![index])),
            }
        }
        (groups, rest)
    }
}

/// Whether a group of copies becomes a table.
pub(super) fn fits_table(orbit: &Orbit, group: &[usize]) -> bool {
    let copy = &orbit.copies[group[0]].filter;
    // What other positions say is gathered before a table begins.
    let finds = copy.any(|plain| matches!(plain.op, Q::Find { .. }));
    group.len() >= TABLE_COPIES_MIN && !finds && !repeats_assignments(copy)
}

/// Whether lowering the filter once for all rows would lose assignments: a loop inside it carries
/// values from one round to the next.
fn repeats_assignments(filter: &Filter) -> bool {
    let assigns = |f: &Filter| f.any(|plain| matches!(plain.op, Q::Assign(_)));
    match filter {
        Filter::Orbit(_) => assigns(filter),
        Filter::Plain(f) => match &f.op {
            Q::SquareLoop { .. } | Q::SquareAll { .. } => assigns(filter),
            _ => f.args.iter().any(repeats_assignments),
        },
    }
}

/// The masks of designators and square colours, in the order in which lowering asks for them.
fn square_masks(filter: &Filter) -> Vec<u64> {
    let mut out = Vec::new();
    filter.walk(&mut |plain| match &plain.op {
        Q::Designator { squares, .. } => out.push(squares.0),
        Q::Shade { light } => out.push(if *light { LIGHT } else { LIGHT ^ TRUE }),
        _ => {}
    });
    out
}

/// All that two copies may differ in, squares and square colours left out.
fn skeleton(filter: &Filter) -> Vec<u64> {
    let mut out = Vec::new();
    write_skeleton(filter, &mut out);
    out
}

fn write_skeleton(filter: &Filter, out: &mut Vec<u64>) {
    match filter {
        Filter::Plain(plain) => {
            match &plain.op {
                Q::Designator { pieces, .. } => {
                    out.push(
                        u64::from(pieces.all_white)
                            | u64::from(pieces.all_black) << 1
                            | u64::from(pieces.list.0) << 2,
                    );
                }
                Q::Shade { .. } => out.push(0),
                op => out.extend(crate::orbit::member(op).into_iter().flatten()),
            }
            plain.args.iter().for_each(|arg| write_skeleton(arg, out));
        }
        Filter::Orbit(orbit) => {
            out.push(orbit.copies.len() as u64);
            orbit.copies.iter().for_each(|copy| write_skeleton(&copy.filter, out));
        }
    }
}
