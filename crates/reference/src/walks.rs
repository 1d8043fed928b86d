//! Evaluates `path`, which matches a chain of filters against moves.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use shakmaty::{Color, Piece, Square};

use super::{
    chains::{Chained, key},
    copies::ExplicitForm,
    eval::Evaluation,
    found::Noted,
    memory::PathProgress,
    played::MovePart,
    program::keeps_state,
    search::{Attempt, ChainRules, Next, Search, WayStep},
};
use orbit_core::diagnostic::Span;
use orbit_query::{
    answer::SpanKind,
    tree::{Any, Focus, Kind, Path, PathStep, VarId},
};

impl Evaluation<'_> {
    pub(super) fn path_value(&mut self, path: &Path<ExplicitForm>) -> Option<i32> {
        self.walk(path).map(|found| found.value)
    }

    pub(super) fn path_end(&mut self, path: &Path<ExplicitForm>) -> Option<i32> {
        self.walk(path).map(|found| found.end as i32)
    }

    /// Returns the progress of the enclosing path or, if no path encloses the current filter, the result of the last matching path.
    fn current_walk(&self) -> Option<PathProgress> {
        self.scope.walk.or(self.state.chains.last_walk)
    }

    pub(super) fn path_count(&self) -> Option<i32> {
        self.current_walk().map(|walk| walk.count)
    }

    pub(super) fn path_count_unfocused(&self) -> Option<i32> {
        self.current_walk().map(|walk| walk.unfocused)
    }

    pub(super) fn path_start(&self) -> Option<i32> {
        self.current_walk().map(|walk| walk.start as i32)
    }

    pub(super) fn path_last(&self) -> Option<i32> {
        self.current_walk().and_then(|walk| walk.last).map(|last| last as i32)
    }

    /// Finds the best match of a `path` filter that begins at the current position.
    fn walk(&mut self, path: &Path<ExplicitForm>) -> Option<Chained> {
        self.untied(|this| this.unselected(|this| this.walk_of_its_own(path)))
    }

    fn walk_of_its_own(&mut self, path: &Path<ExplicitForm>) -> Option<Chained> {
        let mut steps = Vec::new();
        path.chain.each(&mut |step| steps.push(step));
        let span = span_of(path, &steps)?;
        let key = key(path);
        if path.nestban && self.is_banned(key) {
            return None;
        }
        let range = match &path.range {
            Some(range) => Some(self.range(range)?),
            None => None,
        };
        let compiled = self.compiled(key, &path.chain, span, || path_keeps_state(path, &steps))?;
        let mut search = Search::new(&compiled.program, compiled.keeps_state);
        search.first_match = path.first_match;
        search.keep_all = path.keep_all_best;
        let vars = self.declared.vars.iter().zip(0..);
        search.atoms = vars.filter(|(var, _)| var.atomic).map(|(_, id)| VarId(id)).collect();
        let mut rules = PathRules::new(self, path, &steps);
        let found = search.run(self, &mut rules, self.here.at, span);
        let goal = self.goal(found, "path", span)?;
        if range.is_some_and(|[lo, hi]| !(lo..=hi).contains(&goal.value)) {
            return None;
        }
        let way = search.first_way(self, &goal);
        let others = if path.keep_all_best { search.other_ways(&goal, ALTERNATIVES_MAX) } else { Vec::new() };
        self.succeed(&rules, goal.value, &way, &others)
    }

    /// Records a path as the last matching one, and writes its comments.
    fn succeed(
        &mut self,
        rules: &PathRules<'_>,
        value: i32,
        way: &[&WayStep],
        others: &[Vec<&WayStep>],
    ) -> Option<Chained> {
        let (path, start) = (rules.path, self.here.at);
        let nodes = rules.nodes(way);
        let end = *nodes.last()?;
        let walk = PathProgress { last: Some(end), ..rules.walk(self, end) };
        self.state.chains.last_walk = Some(walk);
        if path.nestban {
            let before_end: Vec<usize> =
                self.tree().line_to(end).skip(1).take_while(|&at| at >= start).collect();
            self.ban(key(path), before_end);
        }
        let begin = self.notes_begin();
        self.state.notes.extend(way.iter().flat_map(|step| step.notes.iter().cloned()));
        self.note_asked(rules, &nodes);
        self.note_span_of(begin, SpanKind::Path, &nodes, &nodes[1..]);
        let value_text = if path.max.is_some() { format!(" Max value: {value}") } else { String::new() };
        if !path.quiet {
            self.note_ends("path", walk.count, end, &value_text);
        }
        for other in others {
            let end = *rules.nodes(other).last()?;
            self.state.notes.extend(other.iter().flat_map(|step| step.notes.iter().cloned()));
            if !path.quiet {
                self.note_ends("path", rules.walk(self, end).count, end, &value_text);
                self.note_automatic(end, "alternative");
            }
        }
        Some(Chained { value, end })
    }

    /// Writes the comments that the options `title`, `piecepath` and `verbose` of a path request.
    fn note_asked(&mut self, rules: &PathRules<'_>, nodes: &[usize]) {
        let (path, start) = (rules.path, self.here.at);
        if let Some(title) = &path.title {
            self.note(start, Noted::Asked(title.clone().into_bytes()));
        }
        if path.piece_path
            && let Some(focus) = &rules.focus
        {
            let text = format!("Focus path: {}", self.piece_paths(focus, nodes));
            self.note(start, Noted::Asked(text.into_bytes()));
        }
        if path.verbose {
            let title = path.title.as_ref().map_or(String::new(), |title| format!("{title}: "));
            let count = nodes.len() - 1;
            for (&at, k) in nodes[1..].iter().zip(1..) {
                self.note(at, Noted::Asked(format!("{title}move {k} of {count}").into_bytes()));
            }
        }
    }

    /// Returns the squares of each piece in focus that moves or is captured, such as `Ng1-f3-g1`. Pieces are ordered by their first
    /// squares.
    fn piece_paths(&self, focus: &BTreeSet<u8>, nodes: &[usize]) -> String {
        let (Some(&start), Some(&end)) = (nodes.first(), nodes.last()) else { return String::new() };
        let mut line: Vec<usize> = self.tree().line_to(end).take_while(|&at| at > start).collect();
        line.reverse();
        let words = focus.iter().filter_map(|&piece| {
            let first = self.tree().men(start).square_of(piece)?;
            let man = self.nodes[start].position.board.at(first).piece()?;
            let mut square = first;
            let mut word = String::new();
            for &at in &line {
                let Some(now) = self.tree().men(at).square_of(piece) else {
                    word += &format!("(x{square})");
                    break;
                };
                if now != square {
                    word += &format!("-{now}");
                }
                square = now;
            }
            (!word.is_empty()).then(|| (first, format!("{}{first}{word}", man.char())))
        });
        let words: BTreeMap<Square, String> = words.collect();
        words.into_values().collect::<Vec<_>>().join(" ")
    }
}

/// The maximum number of further ways to match a path for which comments are written, if these ways are as good as the first.
const ALTERNATIVES_MAX: usize = 1_000;

/// Returns the query span that covers the operands of a path.
fn span_of(path: &Path<ExplicitForm>, steps: &[&PathStep<ExplicitForm>]) -> Option<Span> {
    let sides = |step: &&PathStep<ExplicitForm>| match step {
        PathStep::Edge { edge, targets } => {
            let sides = [&edge.from, &edge.to].into_iter().flatten().map(|side| side.mark);
            sides.chain(targets.iter().map(|target| *target.node().mark())).reduce(Span::to)
        }
        PathStep::Filter(filter) => Some(*filter.node().mark()),
    };
    let focus = match &path.focus {
        Some(Focus::Pieces { of, .. }) => Some(of.mark),
        Some(Focus::SideToMove) | None => None,
    };
    Some(steps.iter().filter_map(sides).chain(focus).reduce(Span::to).unwrap_or_default())
}

fn path_keeps_state(path: &Path<ExplicitForm>, steps: &[&PathStep<ExplicitForm>]) -> bool {
    let mut filters: Vec<Any<ExplicitForm>> = path.max.iter().cloned().map(Any::from).collect();
    for step in steps {
        match step {
            PathStep::Edge { edge, targets } => {
                filters.extend([&edge.from, &edge.to].into_iter().flatten().cloned().map(Any::from));
                filters.extend(targets.iter().cloned());
            }
            PathStep::Filter(filter) => filters.push(filter.clone()),
        }
    }
    keeps_state(&filters)
}

/// The search rules for one `path` filter.
struct PathRules<'c> {
    path: &'c Path<ExplicitForm>,
    steps: &'c [&'c PathStep<ExplicitForm>],
    start: usize,
    /// The numbers of the pieces in focus. The path counts only moves by these pieces and, with `capture`, captures of them. `None`
    /// if it counts all moves.
    focus: Option<BTreeSet<u8>>,
    /// For each position reached, the number of moves on the way there that the path counts.
    counts: HashMap<usize, i32>,
    /// The value and the last position of the best way to match the path that has been found so far.
    best: Option<(i32, usize)>,
}

impl<'c> PathRules<'c> {
    fn new(
        eval: &mut Evaluation,
        path: &'c Path<ExplicitForm>,
        steps: &'c [&'c PathStep<ExplicitForm>],
    ) -> PathRules<'c> {
        let start = eval.here.at;
        let squares = match &path.focus {
            None => None,
            Some(Focus::Pieces { of, .. }) => Some(eval.squares(of)),
            Some(Focus::SideToMove) => Some(of_color(eval, eval.here.placement.turn)),
        };
        let focus = squares.map(|squares| eval.tree().men(start).on_any(squares).collect());
        PathRules { path, steps, start, focus, counts: HashMap::from([(start, 0)]), best: None }
    }

    /// Returns the path's progress at a position that the search has reached.
    fn walk(&self, eval: &Evaluation, at: usize) -> PathProgress {
        let count = self.counts.get(&at).copied().unwrap_or(0);
        let plies = eval.nodes[at].ply - eval.nodes[self.start].ply;
        PathProgress {
            start: self.start,
            count,
            unfocused: plies as i32 - count,
            last: self.best.map(|(_, end)| end),
        }
    }

    /// Returns the positions of a way to match the path: its start, and the positions after its moves.
    fn nodes(&self, way: &[&WayStep]) -> Vec<usize> {
        std::iter::once(self.start).chain(way.iter().filter_map(|step| step.attempt.by)).collect()
    }

    fn captures(&self) -> bool {
        matches!(self.path.focus, Some(Focus::Pieces { capture: true, .. }))
    }

    /// Returns true if a piece in focus is on one of the squares before the move.
    fn any_in_focus(&self, eval: &Evaluation, before: usize, squares: shakmaty::Bitboard) -> bool {
        let Some(focus) = &self.focus else { return true };
        eval.tree().men(before).on_any(squares).any(|piece| focus.contains(&piece))
    }

    /// Returns true if the path counts a move because it captures a piece in focus.
    fn is_focused_capture(&self, eval: &Evaluation, attempt: Attempt) -> bool {
        let played = attempt.by.and_then(|child| eval.tree().played(child));
        let captured = played.and_then(|played| played.captured);
        self.captures() && captured.is_some_and(|s| self.any_in_focus(eval, attempt.before, s.into()))
    }

    /// Returns true if `part`, the selected part of a move, moves a piece in focus, or if the move captures a piece in focus.
    fn is_part_in_focus(&self, eval: &Evaluation, attempt: Attempt, part: &MovePart) -> bool {
        self.any_in_focus(eval, attempt.before, part.from) || self.is_focused_capture(eval, attempt)
    }

    fn is_in_focus(&self, eval: &Evaluation, attempt: Attempt) -> bool {
        let Some(played) = attempt.by.and_then(|child| eval.tree().played(child)) else { return false };
        let leaves: shakmaty::Bitboard = played.shifts().map(|(from, _)| from).collect();
        self.focus.is_none()
            || self.any_in_focus(eval, attempt.before, leaves)
            || self.is_focused_capture(eval, attempt)
    }

    /// For each branch of the game after `at`, returns the next move that the path counts. At the start of the path, only moves
    /// from the start position are considered.
    fn exits(&self, eval: &Evaluation, at: usize) -> Vec<Attempt> {
        let mut exits = Vec::new();
        let leave = |before: usize| {
            let children = eval.tree().children(before).iter().rev().copied();
            let children = children.filter(|&child| !(self.path.primary && eval.tree().is_secondary(child)));
            children.map(move |child| Attempt { before, by: Some(child) })
        };
        let mut open: Vec<Attempt> = leave(at).collect();
        while let Some(attempt) = open.pop() {
            if self.is_in_focus(eval, attempt) {
                exits.push(attempt);
            } else if at != self.start {
                open.extend(attempt.by.into_iter().flat_map(leave));
            }
        }
        exits
    }

    /// Calls `evaluate` in the scope of this path, in which filters can read the path's progress.
    fn within<T>(&self, eval: &mut Evaluation, at: usize, evaluate: impl FnOnce(&mut Evaluation) -> T) -> T {
        let walk = self.walk(eval, at);
        eval.scoped(|scope| scope.walk = Some(walk), evaluate)
    }
}

impl ChainRules for PathRules<'_> {
    const ENDS_BEHIND: bool = false;

    fn attempts(&mut self, eval: &mut Evaluation, at: usize, one: usize) -> Vec<Attempt> {
        match self.steps[one] {
            PathStep::Filter(_) => vec![Attempt { before: at, by: None }],
            PathStep::Edge { .. } => {
                let exits = self.exits(eval, at);
                let count = self.counts.get(&at).copied().unwrap_or(0) + 1;
                self.counts.extend(exits.iter().filter_map(|exit| exit.by).map(|child| (child, count)));
                exits
            }
        }
    }

    fn fits(&mut self, eval: &mut Evaluation, at: usize, one: usize, attempt: Attempt) -> bool {
        let (edge, targets) = match self.steps[one] {
            PathStep::Filter(filter) => {
                return self.within(eval, at, |eval| eval.there(at, |there| there.matches(filter)));
            }
            PathStep::Edge { edge, targets } => (edge, targets),
        };
        let Some(child) = attempt.by else { return false };
        let sides = self.within(eval, at, |eval| eval.there(attempt.before, |before| before.sides(edge)));
        let part_counts = |part: &MovePart| self.is_part_in_focus(eval, attempt, part);
        let played = eval.tree().played(child);
        let Some(selected) = played.and_then(|played| sides.select(played, child, part_counts)) else {
            return false;
        };
        self.within(eval, child, |eval| {
            eval.behind(selected, |behind| targets.iter().all(|target| behind.matches(target)))
        })
    }

    fn next(&mut self, _: &Evaluation, _: usize, _: usize, attempt: Attempt) -> Next {
        match attempt.by {
            Some(child) => Next::At(vec![child]),
            None => Next::Here,
        }
    }

    /// Returns the number of moves that the path counts or, if it has `max`, the value of `max`. A path must have at least one
    /// move.
    fn value(&mut self, eval: &mut Evaluation, at: usize) -> Option<i32> {
        if at == self.start {
            return None;
        }
        let value = match &self.path.max {
            None => self.walk(eval, at).count,
            Some(max) => {
                let before = eval.state.notes.len();
                let value = self.within(eval, at, |eval| eval.there(at, |there| there.number(max)));
                eval.state.notes.truncate(before);
                value?
            }
        };
        if self.best.is_none_or(|(best, _)| value > best) {
            self.best = Some((value, at));
        }
        Some(value)
    }
}

fn of_color(eval: &Evaluation, color: Color) -> shakmaty::Bitboard {
    let is_of_color = |&s: &Square| eval.here.placement.at(s).is_some_and(|man: Piece| man.color == color);
    Square::ALL.into_iter().filter(is_of_color).collect()
}
