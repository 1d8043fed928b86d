//! Lowers orbits to the graph. An *orbit* consists of the *copies* into which a transform turns a filter. Loops over the copies are
//! avoided wherever possible.
//!
//! All shifts of a filter are evaluated together ([`super::tiles`]): one word has a bit for each shift. If the shifts fit into one
//! word, this word is called an *anchor*; otherwise two or four words form a *grid*.
//!
//! Copies that fit neither an anchor nor a grid become the rows of a table, or are lowered one by one. Anchors, grids and tables
//! can each be switched off; the next method in this order is then used.
//!
//! A *placement* is one combination of turns, reflections and colour swaps.

use std::collections::HashMap;

use super::{
    OrbitNote,
    dag::{Id, LoopId, NO_VALUE, Op, Reduce, TRUE},
    lower::{LIGHT, Lower, VariableSlot, VariableSlots, finds},
    shifted::is_pointwise,
};
use orbit_query::tree::{Cmp, ConditionOp, Counted, Kind, Ref, SquaresOp};
use orbit_transforms::AsOrbit as _;
use orbit_transforms::{Expanded, FilterRef, Number, NumberOrbit, Orbit, Placement, Squares, member};

/// The minimum number of copies (transformed filters) for which a table is made. Smaller groups of copies are lowered one by one.
const TABLE_COPIES_MIN: usize = 8;

/// The operation that combines the results of the copies (transformed filters) of an orbit into the result of the orbit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueUse {
    /// Mask: any copy matches.
    Any,
    /// Number: the number of copies that match.
    Count,
    /// Set: the union of the squares of all copies.
    Union,
    /// Number: the largest of the values of all copies. The number and its mask are packed into one word.
    Max,
}

/// A function that lowers all shifts of one placement (one combination of turns, reflections and colour swaps) together to words.
/// It returns `None` if this is impossible.
type Tiled<F> = fn(&mut Lower, &Orbit<F>, Placement, &[usize]) -> Option<Vec<Id>>;

/// The functions that lower the copies (transformed filters) of an orbit. One lowers a single copy, the other all shifts of one
/// placement together.
struct Gather<F> {
    wanted: ValueUse,
    /// Lowers one copy (transformed filter) to the word that the result needs: the value of the copy, or the mask of positions at
    /// which it matches.
    word: fn(&mut Lower, &F) -> Id,
    tiles: Tiled<F>,
}

impl<F: Kind<Expanded, In<Expanded> = F>> Gather<F> {
    /// Returns the functions that lower copies to masks. They serve for results that depend only on where the copies match, not on
    /// their values.
    fn truth(wanted: ValueUse) -> Gather<F> {
        Gather {
            wanted,
            word: |lower, copy| lower.truth(copy.node()),
            tiles: |lower, orbit, placement, group| {
                lower.collapse(orbit, placement, group).map(|tiles| tiles.words)
            },
        }
    }
}

impl Lower {
    /// Returns the mask of positions at which at least one copy (transformed filter) of an orbit matches.
    pub(super) fn any_copy<F: Kind<Expanded, In<Expanded> = F>>(&mut self, orbit: &Orbit<F>) -> Id {
        self.gather(orbit, &Gather::truth(ValueUse::Any))
    }

    /// Returns the union of the sets of all copies (transformed filters) of an orbit.
    pub(super) fn union_of(&mut self, orbit: &Orbit<Squares>) -> Id {
        let (word, tiles) = (Lower::squares as fn(&mut Lower, &Squares) -> Id, Lower::collapse_set);
        self.gather(orbit, &Gather { wanted: ValueUse::Union, word, tiles })
    }

    /// Lowers an orbit whose value is a number. Returns the value, and the mask of positions at which it has one.
    pub(super) fn number_of(&mut self, orbit: &NumberOrbit) -> (Id, Id) {
        match orbit {
            NumberOrbit::Largest(orbit) => {
                let word = |lower: &mut Lower, copy: &Number| {
                    let number = lower.number(copy);
                    lower.packed_number(number)
                };
                let largest =
                    self.gather(orbit, &Gather { wanted: ValueUse::Max, word, tiles: Lower::collapse_sum });
                self.unpacked_number(largest)
            }
            NumberOrbit::Counted(counted, orbit) => {
                let always = self.dag.mask(true);
                let number = self.gather(orbit, &Gather::truth(ValueUse::Count));
                let Counted::Range(lo, hi) = *counted else { return (number, always) };
                let (lo, hi) = (self.dag.number(lo), self.dag.number(hi));
                let above = self.dag.add(Op::Compare(Cmp::Ge, number, lo));
                let below = self.dag.add(Op::Compare(Cmp::Le, number, hi));
                (number, self.and(above, below))
            }
        }
    }

    fn gather<F: Kind<Expanded, In<Expanded> = F>>(&mut self, orbit: &Orbit<F>, how: &Gather<F>) -> Id {
        let mut note = OrbitNote { copies: orbit.copies.len(), ..OrbitNote::default() };
        let mut parts = Vec::new();
        if self.assigns_outer(orbit.base.node()) {
            // A copy may read variables that earlier copies assigned, so the copies are lowered in order.
            for (_, copy) in orbit.in_turn() {
                parts.push(self.copy_word(&copy.filter, how));
            }
            note.unrolled = orbit.copies.len();
        } else {
            let kept = self.cells.clone();
            let rest = self.collapse_groups(orbit, how, &mut parts, &mut note);
            self.cells.clone_from(&kept);
            for group in self.same_but_squares(orbit, rest) {
                self.cells.clone_from(&kept);
                self.group(orbit, &group, how, &mut parts, &mut note);
            }
            self.cells = kept;
        }
        self.notes.push(note);
        match how.wanted {
            ValueUse::Any | ValueUse::Union => self.dag.any_of(parts),
            ValueUse::Count => self.dag.sum_of(parts),
            ValueUse::Max => {
                let none = self.dag.word(NO_VALUE as u64);
                parts.into_iter().fold(none, |best, part| {
                    if best == none { part } else { self.dag.add(Op::Max(best, part)) }
                })
            }
        }
    }

    /// Returns the word that one copy (transformed filter) contributes to the result of its orbit. If copies are counted, this is 1
    /// where the copy matches and 0 elsewhere.
    fn copy_word<F>(&mut self, copy: &F, how: &Gather<F>) -> Id {
        let word = (how.word)(self, copy);
        if how.wanted != ValueUse::Count {
            return word;
        }
        let (one, zero) = (self.dag.number(1), self.dag.number(0));
        self.dag.add(Op::Select { mask: word, a: one, b: zero })
    }

    // ---- tables

    /// Divides copies (transformed filters) into groups in which they differ only in squares and square colours.
    pub(super) fn same_but_squares<F: Kind<Expanded>>(
        &self,
        orbit: &Orbit<F>,
        copies: Vec<usize>,
    ) -> Vec<Vec<usize>> {
        if !self.options.tables || self.slots.is_some() {
            return copies.into_iter().map(|copy| vec![copy]).collect();
        }
        let mut order: Vec<Vec<usize>> = Vec::new();
        let mut known: HashMap<Vec<u64>, usize> = HashMap::new();
        for copy in copies {
            let index = *known.entry(skeleton(orbit.copies[copy].filter.node())).or_insert_with(|| {
                order.push(Vec::new());
                order.len() - 1
            });
            order[index].push(copy);
        }
        order
    }

    fn group<F: Kind<Expanded>>(
        &mut self,
        orbit: &Orbit<F>,
        group: &[usize],
        how: &Gather<F>,
        parts: &mut Vec<Id>,
        note: &mut OrbitNote,
    ) {
        if !fits_table(orbit, group) {
            let kept = self.cells.clone();
            for &copy in group {
                self.cells.clone_from(&kept);
                parts.push(self.copy_word(&orbit.copies[copy].filter, how));
            }
            note.unrolled += group.len();
            return;
        }
        let table = self.open_table(orbit, group, None);
        let reduce = match how.wanted {
            ValueUse::Any | ValueUse::Union => Reduce::Or,
            ValueUse::Count => Reduce::Count,
            ValueUse::Max => Reduce::Max,
        };
        let body = (how.word)(self, &orbit.copies[group[0]].filter);
        parts.push(self.close_table(table, reduce, body));
        note.tables += 1;
        note.in_tables += group.len();
    }

    /// Opens a table for copies that differ only in squares. The filter that is lowered next becomes the body of the table's loop.
    /// If `last` is present, it contains one more word for each row.
    pub(super) fn open_table<F: Kind<Expanded>>(
        &mut self,
        orbit: &Orbit<F>,
        group: &[usize],
        last: Option<&[u64]>,
    ) -> LoopId {
        let columns: Vec<Vec<u64>> =
            group.iter().map(|&copy| square_masks(orbit.copies[copy].filter.node())).collect();
        let mut varying: Vec<usize> = Vec::new();
        let mut masks = Vec::new();
        for k in 0..columns[0].len() {
            if columns.iter().all(|row| row[k] == columns[0][k]) {
                masks.push(VariableSlot::Same(columns[0][k]));
                continue;
            }
            let same = varying.iter().position(|&old| columns.iter().all(|row| row[k] == row[old]));
            let param = same.unwrap_or_else(|| {
                varying.push(k);
                varying.len() - 1
            });
            masks.push(VariableSlot::Param(param as u32));
        }
        let rows = columns.iter().enumerate().map(|(row, masks)| {
            let masks = varying.iter().map(|&k| masks[k]);
            masks.chain(last.map(|last| last[row])).collect()
        });
        let table = self.dag.open_loop(rows.collect());
        self.slots = Some(VariableSlots { table, masks, next: 0 });
        table
    }

    /// Closes the table that [`Lower::open_table`] opened.
    pub(super) fn close_table(&mut self, table: LoopId, reduce: Reduce, body: Id) -> Id {
        let slots = self.slots.take().expect("a table is open");
        assert_eq!(slots.next, slots.masks.len(), "a table's body asks for each of its squares once");
        self.dag.close_loop(table, reduce, body)
    }

    // ---- shifts together

    /// Finds the groups of copies (transformed filters) whose shifts can be evaluated together, and lowers them. Returns the copies
    /// that are in no such group.
    fn collapse_groups<F: Kind<Expanded, In<Expanded> = F>>(
        &mut self,
        orbit: &Orbit<F>,
        how: &Gather<F>,
        parts: &mut Vec<Id>,
        note: &mut OrbitNote,
    ) -> Vec<usize> {
        let wanted = how.wanted;
        let (groups, mut rest) = self.shift_groups(orbit);
        for (placement, group) in groups {
            match (how.tiles)(self, orbit, placement, &group) {
                Some(words) => {
                    let pointwise = |base: F| is_pointwise(base.node());
                    if matches!(wanted, ValueUse::Union | ValueUse::Max)
                        || orbit.unshifted(placement).is_some_and(pointwise)
                    {
                        note.pointwise += group.len();
                    }
                    if words.len() == 1 {
                        (note.anchors, note.anchored) = (note.anchors + 1, note.anchored + group.len());
                    } else {
                        (note.grids, note.gridded) = (note.grids + words.len(), note.gridded + group.len());
                    }
                    match wanted {
                        ValueUse::Any | ValueUse::Union => parts.push(self.dag.any_of(words)),
                        ValueUse::Max => parts.extend(words),
                        ValueUse::Count => {
                            parts.extend(words.iter().map(|&word| self.dag.add(Op::Count(word))))
                        }
                    }
                }
                None => rest.extend(group),
            }
        }
        if wanted == ValueUse::Any && !parts.is_empty() {
            // The words of all groups are joined first, so a single test for emptiness is enough.
            let bits = self.dag.any_of(std::mem::take(parts));
            parts.push(self.dag.add(Op::NonEmpty(bits)));
        }
        rest
    }

    /// Groups copies that differ only in their shifts. Returns the groups, and the copies without a group.
    pub(super) fn shift_groups<F: Kind<Expanded>>(
        &self,
        orbit: &Orbit<F>,
    ) -> (Vec<(Placement, Vec<usize>)>, Vec<usize>) {
        let all = 0..orbit.copies.len();
        if self.slots.is_some() || !(self.options.anchors || self.options.grids) || assigns(orbit.base.node())
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

/// Returns true if the copies in a group can be computed as the rows of one table.
pub(super) fn fits_table<F: Kind<Expanded>>(orbit: &Orbit<F>, group: &[usize]) -> bool {
    let copy = orbit.copies[group[0]].filter.node();
    // A table cannot contain operations on values at other positions.
    group.len() >= TABLE_COPIES_MIN && !copy.any(&mut finds) && !repeats_assignments(copy)
}

/// Returns true if a filter or a filter inside it assigns a variable.
pub(super) fn assigns(filter: FilterRef) -> bool {
    filter.any(&mut |filter| matches!(filter, Ref::Condition(f) if matches!(f.op(), ConditionOp::Assign(..))))
}

/// Returns true if the filter itself is a loop over squares.
pub(super) fn is_square_loop(filter: FilterRef) -> bool {
    match filter {
        Ref::Condition(f) => matches!(f.op(), ConditionOp::SquareAll { .. }),
        Ref::Squares(f) => matches!(f.op(), SquaresOp::SquareLoop { .. }),
        _ => false,
    }
}

/// Returns the maximum depth of nested loops over squares in a filter.
pub(super) fn nested_loops(filter: FilterRef) -> usize {
    let mut inside = 0;
    filter.each_child(&mut |child| inside = inside.max(nested_loops(child)));
    inside + usize::from(is_square_loop(filter))
}

/// Returns true if a filter contains a loop or an orbit that assigns variables. A table would lower it once for all rows, and so
/// lose the values that each iteration passes to the next.
fn repeats_assignments(filter: FilterRef) -> bool {
    if filter.orbit().is_some() || is_square_loop(filter) {
        return assigns(filter);
    }
    filter.children().into_iter().any(repeats_assignments)
}

/// Returns the masks of all designators and square colours in a filter, in the order in which they are lowered.
fn square_masks(filter: FilterRef) -> Vec<u64> {
    let mut out = Vec::new();
    filter.walk(&mut |filter| {
        if let Ref::Squares(f) = filter {
            match f.op() {
                SquaresOp::Designator { squares, .. } => out.push(squares.0),
                SquaresOp::Shade { light, .. } => out.push(if *light { LIGHT } else { LIGHT ^ TRUE }),
                _ => {}
            }
        }
    });
    out
}

/// Encodes a filter without its squares and square colours. Two copies have equal codes if they differ in nothing else.
fn skeleton(filter: FilterRef) -> Vec<u64> {
    let mut out = Vec::new();
    write_skeleton(filter, &mut out);
    out
}

fn write_skeleton(filter: FilterRef, out: &mut Vec<u64>) {
    if let Some(orbit) = filter.orbit() {
        out.push(orbit.copies() as u64);
    } else if let Ref::Squares(f) = filter
        && let SquaresOp::Designator { pieces, .. } = f.op()
    {
        let all = u64::from(pieces.all_white) | u64::from(pieces.all_black) << 1;
        out.push(all | u64::from(pieces.list.0) << 2);
    } else if let Ref::Squares(f) = filter
        && let SquaresOp::Shade { .. } = f.op()
    {
        out.push(0);
    } else {
        out.extend(member(filter).into_iter().flatten());
    }
    filter.each_child(&mut |child| write_skeleton(child, out));
}
