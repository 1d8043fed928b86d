//! Computes the values of queries by trying every walk through the tree of a game.
//!
//! A *walk* is a sequence of positions.

use std::collections::HashSet;

use shakmaty::Position as _;

use super::{
    game::{Game, Identity},
    query::{Amount, Atom, Body, Chain, Dash, Designator, Filter, Focus, Query, promoted},
};

/// A reading of the rules, that is, a set of choices where they are ambiguous. A query passes if all readings give the same
/// value, or if one of them agrees with the engine.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// True if the search iterates over the children of a position, and tries each with all atoms (constituents) that may come
    /// next. False if it iterates over the atoms, and tries each with all children.
    pub children_first: bool,
    /// True if `nestban` in a path with a `focus` also bans the positions between the moves that count as steps.
    pub bans_between: bool,
}

pub const READINGS: [Reading; 4] = [
    Reading { children_first: false, bans_between: false },
    Reading { children_first: true, bans_between: false },
    Reading { children_first: false, bans_between: true },
    Reading { children_first: true, bans_between: true },
];

/// The maximum number of steps that are tried from one start node.
const STEPS_MAX: usize = 200_000;

/// The error for a query that has too many walks (sequences of positions) to try.
#[derive(Debug)]
pub struct TooMany;

/// A part of the chain that still has to be matched. The last part in a list is matched next.
#[derive(Clone)]
enum Due<'a> {
    Chain(&'a Chain),
    Loop { of: &'a Chain, min: usize, max: Option<usize>, done: usize },
}

/// The progress of a walk.
#[derive(Clone)]
struct Walk {
    /// The node that the walk (a sequence of positions) has reached; `None` before the first position of a line.
    at: Option<usize>,
    /// If the walk (a sequence of positions) is tied to one of the moves played from its current position, the node to which that
    /// move leads.
    through: Option<usize>,
    /// All positions of the walk (a sequence of positions), including those that its steps skip.
    nodes: Vec<usize>,
    /// The positions at which the steps of the walk end.
    counted: Vec<usize>,
}

struct Best {
    value: i32,
    walk: Walk,
}

/// The pieces in the `focus` of a path, and true if captures of these pieces also count; `None` if the path has no `focus`.
type InFocus = Option<(HashSet<Identity>, bool)>;

struct Search<'a> {
    game: &'a Game,
    query: &'a Query,
    reading: Reading,
    start: usize,
    focus: InFocus,
    steps: usize,
    best: Option<Best>,
}

/// A way to continue a walk.
enum Next<'a> {
    Accept,
    Atom(&'a Atom, Vec<Due<'a>>),
}

/// The place in a game at which a filter is evaluated.
#[derive(Clone, Copy)]
struct Place {
    node: usize,
    /// The destination node of a move from this node, if `move` refers only to that move.
    edge: Option<usize>,
    /// The number of moves on the path so far that count as steps of the path.
    count: i32,
}

type Found<T> = Result<T, TooMany>;

/// Returns a query's value at each node of a game, according to a reading (interpretation) of the rules.
pub fn values(body: &Body, game: &Game, reading: Reading) -> Found<Vec<Option<i32>>> {
    let copies = body.copies();
    let mut banned = vec![HashSet::new(); copies.len()];
    let mut out = Vec::new();
    for node in 0..game.nodes.len() {
        let mut of_copies = Vec::new();
        for ((before, query), banned) in copies.iter().zip(&mut banned) {
            let place = Place { node, edge: None, count: 0 };
            let mut value = None;
            if all(game, before, place, reading)? {
                value = of_query(game, query, node, reading, banned)?;
            }
            of_copies.push(value);
        }
        out.push(match body.transform {
            Some((_, true)) => Some(of_copies.iter().flatten().count() as i32),
            _ => of_copies.into_iter().flatten().max(),
        });
    }
    Ok(out)
}

fn of_query(
    game: &Game,
    query: &Query,
    start: usize,
    reading: Reading,
    banned: &mut HashSet<usize>,
) -> Found<Option<i32>> {
    if query.nestban && banned.contains(&start) {
        return Ok(None);
    }
    let focus = in_focus(game, query, start);
    let mut search = Search { game, query, reading, start, focus, steps: 0, best: None };
    let at = query.path.then_some(start);
    search.go(vec![Due::Chain(&query.chain)], Walk { at, through: None, nodes: vec![], counted: vec![] })?;
    let Some(Best { value, walk }) = search.best else { return Ok(None) };
    if query.range.is_some_and(|(low, high)| !(low..=high).contains(&value)) {
        return Ok(None);
    }
    let last = *walk.counted.last().expect("no walk is empty");
    if query.nestban {
        match query.path {
            true => {
                let between = if reading.bans_between { &walk.nodes } else { &walk.counted };
                banned.insert(start);
                banned.extend(between.iter().filter(|&&node| node != last));
            }
            false => banned.extend(&walk.counted),
        }
    }
    Ok(Some(if query.last_position { last as i32 } else { value }))
}

fn in_focus(game: &Game, query: &Query, start: usize) -> InFocus {
    let node = &game.nodes[start];
    let (squares, capture) = match query.focus.as_ref()? {
        Focus::Pieces { capture, of } => (set(game, of, start), *capture),
        Focus::SingleColor => {
            let own = node.chess.board().by_color(node.turn());
            (own.into_iter().collect(), false)
        }
    };
    Some((squares.into_iter().filter_map(|square| node.identity(square)).collect(), capture))
}

fn set(game: &Game, designator: &Designator, node: usize) -> Vec<shakmaty::Square> {
    let at = &game.nodes[node];
    let all = shakmaty::Square::ALL.into_iter();
    all.filter(|&square| designator.accepts(square, at.piece(square))).collect()
}

impl<'a> Search<'a> {
    /// Tries all continuations of a walk (a sequence of positions). Returns true if the search is over.
    fn go(&mut self, due: Vec<Due<'a>>, walk: Walk) -> Found<bool> {
        self.steps += 1;
        if self.steps > STEPS_MAX {
            return Err(TooMany);
        }
        let mut next = Vec::new();
        self.expand(due, &walk, &mut next)?;
        let steps = self.steps_from(&walk);
        if self.reading.children_first {
            for one in &next {
                if matches!(one, Next::Accept) && self.accept(&walk)? {
                    return Ok(true);
                }
            }
            for step in &steps {
                for one in &next {
                    if let Next::Atom(atom, rest) = one
                        && self.take(atom, rest, &walk, step)?
                    {
                        return Ok(true);
                    }
                }
            }
            return Ok(false);
        }
        for one in &next {
            let over = match one {
                Next::Accept => self.accept(&walk)?,
                Next::Atom(atom, rest) => {
                    let mut over = false;
                    for step in &steps {
                        over = over || self.take(atom, rest, &walk, step)?;
                    }
                    over
                }
            };
            if over {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Adds the atoms (constituents) that may come next to `out`, those with fewer repetitions first. In a path, filters for the
    /// current position are tested immediately.
    fn expand(&mut self, mut due: Vec<Due<'a>>, walk: &Walk, out: &mut Vec<Next<'a>>) -> Found<()> {
        self.steps += 1;
        if self.steps > STEPS_MAX {
            return Err(TooMany);
        }
        match due.pop() {
            None => out.push(Next::Accept),
            Some(Due::Loop { of, min, max, done }) => {
                if done >= min {
                    self.expand(due.clone(), walk, out)?;
                }
                if max.is_none_or(|max| done < max) {
                    due.push(Due::Loop { of, min, max, done: done + 1 });
                    due.push(Due::Chain(of));
                    self.expand(due, walk, out)?;
                }
            }
            Some(Due::Chain(Chain::Repeat { of, min, max, .. })) => {
                due.push(Due::Loop { of, min: *min, max: *max, done: 0 });
                self.expand(due, walk, out)?;
            }
            Some(Due::Chain(Chain::Sequence(all))) => {
                due.extend(all.iter().rev().map(Due::Chain));
                self.expand(due, walk, out)?;
            }
            Some(Due::Chain(Chain::One(Atom::Test(filter)))) => {
                let node = walk.at.expect("a path stands somewhere");
                let place = Place { node, edge: None, count: walk.counted.len() as i32 };
                if holds(self.game, filter, place, self.reading)? {
                    self.expand(due, walk, out)?;
                }
            }
            Some(Due::Chain(Chain::One(atom))) => out.push(Next::Atom(atom, due)),
        }
        Ok(())
    }

    /// Returns the steps that a walk (a sequence of positions) can take. A step is the list of all positions that it visits, in
    /// order.
    fn steps_from(&self, walk: &Walk) -> Vec<Vec<usize>> {
        let Some(at) = walk.at else { return vec![vec![self.start]] };
        if self.query.path {
            return match &self.focus {
                None => self.children(at).into_iter().map(|child| vec![child]).collect(),
                Some(_) => {
                    let mut out = Vec::new();
                    self.next_in_focus(at, &mut vec![], walk.counted.is_empty(), &mut out);
                    out
                }
            };
        }
        let step = |node: usize, through: Option<usize>| match (self.query.back, through) {
            (true, _) => self.game.nodes[node].parent.into_iter().collect(),
            (_, Some(child)) => vec![child],
            _ => self.children(node),
        };
        let first = step(at, walk.through);
        if !self.query.single_color {
            return first.into_iter().map(|node| vec![node]).collect();
        }
        first
            .into_iter()
            .flat_map(|node| step(node, None).into_iter().map(move |it| vec![node, it]))
            .collect()
    }

    fn children(&self, node: usize) -> Vec<usize> {
        let all = &self.game.nodes[node].children;
        match self.query.sibling {
            Some("primary") => all.iter().copied().take(1).collect(),
            Some(_) => all.iter().copied().skip(1).collect(),
            None => all.clone(),
        }
    }

    /// Adds to `out`, for every branch below a node, the nearest move that counts as a step of the path. If `from_here` is true,
    /// the moves played from the node itself are included.
    fn next_in_focus(&self, node: usize, way: &mut Vec<usize>, from_here: bool, out: &mut Vec<Vec<usize>>) {
        for &child in &self.game.nodes[node].children {
            way.push(child);
            if self.is_in_focus(child) {
                out.push(way.clone());
            } else if !from_here {
                self.next_in_focus(child, way, false, out);
            }
            way.pop();
        }
    }

    fn is_in_focus(&self, child: usize) -> bool {
        let Some((pieces, capture)) = &self.focus else { return true };
        let edge = self.game.nodes[child].edge.as_ref().expect("it has a parent");
        edge.parts.iter().any(|(.., identity)| pieces.contains(identity))
            || (*capture && edge.captured.is_some_and(|(_, identity)| pieces.contains(&identity)))
    }

    /// Makes a step if the atom (a constituent of the chain) allows it, and tries all continuations. Returns true if the search
    /// is over.
    fn take(&mut self, atom: &'a Atom, rest: &[Due<'a>], walk: &Walk, step: &[usize]) -> Found<bool> {
        let &node = step.last().expect("a step leads somewhere");
        let mut next = walk.clone();
        next.nodes.extend(step);
        next.counted.push(node);
        (next.at, next.through) = (Some(node), None);
        match atom {
            Atom::Test(_) => unreachable!("tests are no steps"),
            Atom::Move(dash) => {
                let place = Place { node, edge: None, count: next.counted.len() as i32 };
                if !self.is_move(dash, node) || !all(self.game, &dash.targets, place, self.reading)? {
                    return Ok(false);
                }
                self.go(rest.to_vec(), next)
            }
            Atom::Position(filter) => {
                let place = |edge| Place { node, edge, count: 0 };
                let children = &self.game.nodes[node].children;
                if !filter.is_tied() || children.is_empty() {
                    return Ok(holds(self.game, filter, place(None), self.reading)?
                        && self.go(rest.to_vec(), next)?);
                }
                for &child in children {
                    next.through = Some(child);
                    if holds(self.game, filter, place(Some(child)), self.reading)?
                        && self.go(rest.to_vec(), next.clone())?
                    {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }

    fn is_move(&self, dash: &Dash, child: usize) -> bool {
        let node = &self.game.nodes[child];
        let before = node.parent.expect("it is a child");
        let edge = node.edge.as_ref().expect("it has a parent");
        let is = |of: &Option<Designator>, square| {
            of.as_ref().is_none_or(|of| of.accepts(square, self.game.nodes[before].piece(square)))
        };
        if let Some(letter) = dash.promotion
            && edge.promotion.is_none_or(|role| promoted(letter).is_some_and(|wanted| wanted != role))
        {
            return false;
        }
        // Castling moves both the king and the rook. Only the movement of a piece in the `focus` is compared with the filter.
        let counts = |identity: &Identity| match &self.focus {
            Some((pieces, _)) if edge.parts.len() > 1 => pieces.contains(identity),
            _ => true,
        };
        edge.parts.iter().filter(|(.., identity)| counts(identity)).any(|&(from, to, _)| {
            let to = match (dash.capture, edge.captured) {
                (true, Some((square, _))) => square,
                (true, None) => return false,
                (false, _) => to,
            };
            is(&dash.from, from) && is(&dash.to, to)
        })
    }

    /// Records a matching walk (a sequence of positions). Returns true if no other walk needs to be tried.
    fn accept(&mut self, walk: &Walk) -> Found<bool> {
        let Some(&last) = walk.counted.last() else { return Ok(false) };
        let count = walk.counted.len() as i32;
        let value = match &self.query.max {
            Some(max) => amount(self.game, max, Place { node: last, edge: None, count }),
            None => count,
        };
        if self.best.as_ref().is_none_or(|best| value > best.value) {
            self.best = Some(Best { value, walk: walk.clone() });
        }
        Ok(self.query.first_match)
    }
}

fn all(game: &Game, filters: &[Filter], place: Place, reading: Reading) -> Found<bool> {
    for filter in filters {
        if !holds(game, filter, place, reading)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn holds(game: &Game, filter: &Filter, place: Place, reading: Reading) -> Found<bool> {
    let node = &game.nodes[place.node];
    Ok(match filter {
        Filter::Word(word) => match *word {
            "true" => true,
            "check" => node.chess.is_check(),
            "mate" => node.chess.is_checkmate(),
            "initial" => node.parent.is_none(),
            "terminal" => node.children.is_empty(),
            "primary" => node.parent.is_some() && node.sibling == 0,
            "secondary" => node.sibling > 0,
            "mainline" => node.depth == 0,
            other => panic!("no filter: {other}"),
        },
        Filter::ToMove(color) => node.turn() == *color,
        Filter::Holds(of) => !set(game, of, place.node).is_empty(),
        Filter::Less(a, b) => amount(game, a, place) < amount(game, b, place),
        Filter::Not(of) => !holds(game, of, place, reading)?,
        Filter::Or(a, b) => holds(game, a, place, reading)? || holds(game, b, place, reading)?,
        Filter::Chain(query) => of_query(game, query, place.node, reading, &mut HashSet::new())?.is_some(),
        Filter::Move(word, of) => moves(game, place).any(|child| {
            let edge = game.nodes[child].edge.as_ref().expect("it has a parent");
            let (from, to, _) = edge.parts[0];
            let is = |square| of.accepts(square, node.piece(square));
            match *word {
                "from" => is(from),
                "to" => is(to),
                _ => edge.captured.is_some_and(|(square, _)| is(square)),
            }
        }),
        Filter::MoveSecondary => moves(game, place).any(|child| game.nodes[child].sibling > 0),
    })
}

/// Returns the moves to which the filter `move` refers, as the child nodes to which they lead.
fn moves(game: &Game, place: Place) -> impl Iterator<Item = usize> {
    let all = game.nodes[place.node].children.clone();
    all.into_iter().filter(move |&child| place.edge.is_none_or(|edge| edge == child))
}

fn amount(game: &Game, amount: &Amount, place: Place) -> i32 {
    match amount {
        Amount::Number(number) => *number,
        Amount::Count(of) => set(game, of, place.node).len() as i32,
        Amount::Power(of) => set(game, of, place.node)
            .into_iter()
            .map(|square| match game.nodes[place.node].piece(square).map(|piece| piece.role) {
                Some(shakmaty::Role::Queen) => 9,
                Some(shakmaty::Role::Rook) => 5,
                Some(shakmaty::Role::Bishop | shakmaty::Role::Knight) => 3,
                Some(shakmaty::Role::Pawn) => 1,
                _ => 0,
            })
            .sum(),
        Amount::Ply => game.nodes[place.node].ply,
        Amount::PathCount => place.count,
    }
}
