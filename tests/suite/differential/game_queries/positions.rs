//! Generates filters that refer to other positions of the game.

use super::{Construct, GameQueries, new, pick_leaf};
use crate::differential::term::{Term, Ty};

impl GameQueries<'_> {
    pub(super) fn position(&mut self, depth: usize) -> Term {
        match self.rng.below(if depth > 0 { 11 } else { 8 }) {
            0 => Term::leaf(Ty::Position, "currentposition"),
            1 | 2 => Term::leaf(Ty::Position, "parent"),
            3 => Term::leaf(Ty::Position, "(child)"),
            4 => Term::leaf(Ty::Position, "initialposition"),
            5 => Term::leaf(Ty::Position, format!("(position {})", self.node())),
            6 => new(Ty::Position, "(find @)", vec![self.bool(0)]),
            7 => new(Ty::Position, "(find <-- @)", vec![self.bool(0)]),
            8 => Term::leaf(Ty::Position, format!("(position (positionid-{}))", self.rng.within(1, 5))),
            _ => self.any_construct(Ty::Position, depth - 1).expect("there are some"),
        }
    }

    fn find(&mut self, template: &str, ty: Ty, depth: usize) -> Term {
        let was = std::mem::replace(&mut self.stateless, true);
        let body = self.bool(depth);
        self.stateless = was;
        new(ty, template, vec![body])
    }

    fn relation(&mut self, signs: &[&str], depth: usize) -> Term {
        let sign = *self.rng.pick(signs);
        let subs = vec![self.position(depth), self.position(depth)];
        new(Ty::Bool, format!("(@ {sign} @)"), subs)
    }

    fn two(&mut self, ty: Ty, words: &[&str], depth: usize) -> Term {
        let word = *self.rng.pick(words);
        let subs = vec![self.position(depth), self.position(depth)];
        new(ty, format!("({word}(@ @))"), subs)
    }

    /// Returns `echo` with conditions on both positions.
    fn echo(&mut self, ty: Ty, depth: usize) -> Term {
        let (s, t) = (self.name("es"), self.name("et"));
        let was = std::mem::replace(&mut self.stateless, true);
        let k = self.rng.within(0, 8);
        let both = match self.rng.below(6) {
            0 => Term::leaf(Ty::Bool, format!("(({s} & {t})==.)")),
            1 => Term::leaf(Ty::Bool, format!("(#(~({s} & {t})) <= {k})")),
            2 => new(Ty::Bool, format!("({s}:@ == {t}:@)"), vec![self.designator(), self.designator()]),
            3 => Term::leaf(Ty::Bool, format!("(ply > {s}:ply+{k})")),
            4 => Term::leaf(Ty::Bool, format!("({s}[<]{t})")),
            _ => Term::leaf(Ty::Bool, format!("(distance({s} {t}) <= {k})")),
        };
        let (alone, order) = (self.bool(depth.min(1)), *self.rng.pick(&["<", "<", ">", "!="]));
        self.stateless = was;
        let all = *self.rng.pick(&["", "", "in all ", "quiet "]);
        let (quiet, all) = if all == "quiet " { ("quiet ", "") } else { ("", all) };
        let last = match (ty, self.rng.below(3)) {
            (Ty::Num, 0) => " ply".to_string(),
            (Ty::Num, 1) => format!(" {s}:ply"),
            (Ty::Num, _) => format!(" #({s} & {t})"),
            _ => String::new(),
        };
        let order = if self.rng.percent(60) { format!("{s}{order}{t} ") } else { String::new() };
        let template = format!("(echo {quiet}({s} {t}) {all}{{{order}@ @{last}}})");
        new(ty, template, vec![both, alone])
    }
}

pub const CONSTRUCTS: &[Construct] = &[
    Construct { name: "find", ty: Ty::Position, make: |g, d| g.find("(find @)", Ty::Position, d) },
    Construct { name: "find <--", ty: Ty::Position, make: |g, d| g.find("(find <-- @)", Ty::Position, d) },
    Construct {
        name: "find with a range",
        ty: Ty::Num,
        make: |g, d| {
            let way = *g.rng.pick(&["", "", "<-- "]);
            let range = *g.rng.pick(&["all", "count", "1", "2", "1 3", "0", "0 4", "2 50"]);
            g.find(&format!("(find {way}{range} @)"), Ty::Num, d)
        },
    },
    Construct {
        name: "P:condition",
        ty: Ty::Bool,
        make: |g, d| new(Ty::Bool, "(@:@)", vec![g.position(d), g.bool(d)]),
    },
    Construct {
        name: "P:set",
        ty: Ty::Set,
        make: |g, d| new(Ty::Set, "(@:@)", vec![g.position(d), g.set(d)]),
    },
    Construct {
        name: "P:number",
        ty: Ty::Num,
        make: |g, d| new(Ty::Num, "(@:@)", vec![g.position(d), g.num(d)]),
    },
    Construct {
        name: "P:position",
        ty: Ty::Position,
        make: |g, d| new(Ty::Position, "(@:@)", vec![g.position(d), g.position(0)]),
    },
    Construct {
        name: "parent",
        ty: Ty::Position,
        make: |g, _| pick_leaf(g, Ty::Position, &["parent", "(parent:parent)"]),
    },
    Construct {
        name: "child",
        ty: Ty::Position,
        make: |g, _| {
            pick_leaf(g, Ty::Position, &["(child)", "(child:child)", "(child(1))", "(parent:child(1))"])
        },
    },
    Construct {
        name: "position n",
        ty: Ty::Position,
        make: |g, _| {
            let node = g.node();
            pick_leaf(
                g,
                Ty::Position,
                &[&format!("(position {node})"), "(position (positionid+2))", "initialposition"],
            )
        },
    },
    Construct {
        name: "positionid",
        ty: Ty::Num,
        make: |g, _| {
            let by = g.rng.within(2, 7);
            Term::leaf(Ty::Num, format!("(positionid%{by})"))
        },
    },
    Construct {
        name: "depth",
        ty: Ty::Num,
        make: |g, _| pick_leaf(g, Ty::Num, &["depth", "(depth>0)", "(depth<2)"]),
    },
    Construct {
        name: "mainline",
        ty: Ty::Bool,
        make: |g, _| {
            pick_leaf(
                g,
                Ty::Bool,
                &["mainline", "variation", "virtualmainline", "(not virtualmainline)", "try"],
            )
        },
    },
    Construct { name: "lca", ty: Ty::Position, make: |g, d| g.two(Ty::Position, &["lca"], d) },
    Construct { name: "distance", ty: Ty::Num, make: |g, d| g.two(Ty::Num, &["distance"], d) },
    Construct {
        name: "ancestor",
        ty: Ty::Bool,
        make: |g, d| g.two(Ty::Bool, &["ancestor", "descendant"], d),
    },
    Construct { name: "P<Q", ty: Ty::Bool, make: |g, d| g.relation(&["<", "<=", ">", ">=", "==", "!="], d) },
    Construct {
        name: "P[<]Q",
        ty: Ty::Bool,
        make: |g, d| g.relation(&["[<]", "[<=]", "[>]", "[>=]", "≺"], d),
    },
    Construct {
        name: "P&Q",
        ty: Ty::Set,
        make: |g, d| {
            let template = *g.rng.pick(&["(@ & @)", "(~(@ & @))"]);
            new(Ty::Set, template, vec![g.position(d), g.position(0)])
        },
    },
    Construct { name: "echo", ty: Ty::Bool, make: |g, d| g.echo(Ty::Bool, d) },
    Construct { name: "echo of a number", ty: Ty::Num, make: |g, d| g.echo(Ty::Num, d) },
];
