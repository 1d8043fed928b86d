//! Evaluates `line`, which matches a chain of filters against consecutive positions.

use super::{
    chains::{Chained, key},
    copies::ExplicitForm,
    eval::Evaluation,
    program::keeps_state,
    search::{Attempt, ChainRules, Next, Search},
};
use orbit_core::diagnostic::Span;
use orbit_query::{
    answer::SpanKind,
    tree::{Kind, Line, LineStep},
};

impl Evaluation<'_> {
    pub(super) fn line_length(&mut self, line: &Line<ExplicitForm>) -> Option<i32> {
        self.play(line).map(|found| found.value)
    }

    pub(super) fn line_end(&mut self, line: &Line<ExplicitForm>) -> Option<i32> {
        self.play(line).map(|found| found.end as i32)
    }

    /// Finds the longest match of a `line` filter that begins at the current position.
    fn play(&mut self, line: &Line<ExplicitForm>) -> Option<Chained> {
        let begin = self.notes_begin();
        let mut steps = Vec::new();
        line.chain.each(&mut |step| steps.push(step));
        let span = steps.iter().map(|step| *step.filter.node().mark()).reduce(Span::to)?;
        let key = key(line);
        if line.nestban && self.is_banned(key) {
            return None;
        }
        let range = match &line.range {
            Some(range) => Some(self.range(range)?),
            None => None,
        };
        let filters = || steps.iter().map(|step| &step.filter);
        let compiled = self.compiled(key, &line.chain, span, || keeps_state(filters()))?;
        let mut search = Search::new(&compiled.program, compiled.keeps_state);
        search.first_match = line.first_match;
        let mut rules = LineRules { line, steps: &steps, start: self.here.at };
        let found = search.run(self, &mut rules, self.here.at, span);
        let goal = self.goal(found, "line", span)?;
        if range.is_some_and(|[lo, hi]| !(lo..=hi).contains(&goal.value)) {
            return None;
        }
        let way = search.first_way(self, &goal);
        let nodes: Vec<usize> = way.iter().map(|step| step.at).collect();
        let end = *nodes.last()?;
        self.state.notes.extend(way.iter().flat_map(|step| step.notes.iter().cloned()));
        if line.nestban {
            self.ban(key, nodes.iter().copied());
        }
        self.note_span(begin, SpanKind::Line, &nodes);
        if !line.quiet {
            self.note_ends("line", goal.value, end, "");
        }
        Some(Chained { value: goal.value, end })
    }
}

/// The search rules for one `line` filter.
struct LineRules<'c> {
    line: &'c Line<ExplicitForm>,
    steps: &'c [&'c LineStep<ExplicitForm>],
    start: usize,
}

impl LineRules<'_> {
    /// Returns the positions at which a `line` may continue after a position. If `by` is given, the line can continue only at the
    /// position `by`.
    fn after(&self, eval: &Evaluation, at: usize, by: Option<usize>) -> Vec<usize> {
        let may_step = |child: usize| self.line.sibling.is_none_or(|sibling| eval.is_child(child, sibling));
        if self.line.back {
            return eval.tree().parent(at).filter(|_| may_step(at)).into_iter().collect();
        }
        let children = eval.tree().children(at).iter().copied();
        children.filter(|&child| by.is_none_or(|by| child == by) && may_step(child)).collect()
    }
}

impl ChainRules for LineRules<'_> {
    const ENDS_BEHIND: bool = true;

    /// Returns the attempts to match a constituent at a position. If the constituent contains a `move` filter for the moves from
    /// the position, there is one attempt for each of these moves. Otherwise there is a single attempt.
    fn attempts(&mut self, eval: &mut Evaluation, at: usize, one: usize) -> Vec<Attempt> {
        let children = eval.tree().children(at);
        if self.steps[one].tied && !self.line.back && !children.is_empty() {
            return children.iter().map(|&child| Attempt { before: at, by: Some(child) }).collect();
        }
        vec![Attempt { before: at, by: None }]
    }

    fn fits(&mut self, eval: &mut Evaluation, at: usize, one: usize, attempt: Attempt) -> bool {
        let filter = &self.steps[one].filter;
        eval.scoped(|scope| scope.tied = attempt.by, |eval| eval.there(at, |there| there.matches(filter)))
    }

    fn next(&mut self, eval: &Evaluation, at: usize, _: usize, attempt: Attempt) -> Next {
        let next = self.after(eval, at, attempt.by);
        if !self.line.single_color {
            return Next::At(next);
        }
        Next::At(next.into_iter().flat_map(|between| self.after(eval, between, None)).collect())
    }

    /// Returns the number of positions in the line. Positions that the line skips do not count.
    fn value(&mut self, eval: &mut Evaluation, at: usize) -> Option<i32> {
        let moves = eval.nodes[at].ply.abs_diff(eval.nodes[self.start].ply) as i32;
        Some(1 + if self.line.single_color { moves / 2 } else { moves })
    }
}
