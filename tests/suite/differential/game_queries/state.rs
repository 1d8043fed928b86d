//! Generates filters with variables, pieces, control flow, functions, dictionaries, strings, `sort` and comments.

use super::{COMPARISONS, Construct, GameQueries, new, pick_leaf};
use crate::differential::term::{Term, Ty};

impl GameQueries<'_> {
    /// Returns a filter that uses a variable with a value of the given type. In the template, `$` stands for the variable name.
    fn held(&mut self, ty: Ty, template: &str, subs: Vec<Term>) -> Term {
        let name = self.name("vv");
        new(ty, template.replace('$', &name), subs)
    }

    fn across(&mut self, depth: usize) -> Term {
        let subs = vec![self.bool(depth)];
        let template = match self.rng.below(8) {
            5 => "{{if initial {$=[]}} {if @ {$|=to}} #($ & A)}",
            6 => "{{if initial {$=1}} $=($*7+ply)%31 {if @ then $+=1} (find all {#A>$%9})}",
            7 => "{{if initial {$=K}} {if @ then $=(K | to)} #($ attacks .)}",
            0 => "{{if isunbound $ then {$=0}} {if @ then $+=1} $}",
            1 => "{{if isunbound $ then {$=0}} {if @ then $+=ply} ($%5)}",
            2 => "{{if isunbound $ then {$=0} else {if @ then $+=1}} ($)}",
            3 => "{{if isunbound $ then {$=0}} {if @ then $=ply} (ply-$)}",
            _ => {
                "{{if isunbound $ then {$=currentposition}} {if @ then $=currentposition} distance($ currentposition)}"
            }
        };
        self.held(Ty::Num, template, subs)
    }

    fn local(&mut self, depth: usize) -> Term {
        let number = self.num(depth);
        let other = self.num(0);
        let template = match self.rng.below(4) {
            0 => "{$=@ $+=@ $}",
            1 => "{$=@ $*=@ ($-1)}",
            2 => "{$=@ {if check then $-=@} $}",
            _ => "{$=@ ({$+=1 false} or true) ($+@)}",
        };
        self.held(Ty::Num, template, vec![number, other])
    }

    fn local_set(&mut self, depth: usize) -> Term {
        let (set, other) = (self.set(depth), self.set(0));
        let template = match self.rng.below(4) {
            0 => "{$=@ $|=@ $}",
            1 => "{$=@ $&=@ $}",
            2 => "{$=?@ ($|@)}",
            _ => "{$=@ {if not $==[] then $|=@} $}",
        };
        self.held(Ty::Set, template, vec![set, other])
    }

    fn piece_loop(&mut self, ty: Ty, depth: usize) -> Term {
        let (piece, other) = (self.designator(), self.designator());
        let inside = self.bool(depth.min(1));
        let edge = *self.rng.pick(&["$--", "--$", "find $--", "$[x]", "find <-- {$ & from}"]);
        let template = match (ty, self.rng.below(8)) {
            (_, 5) if ty == Ty::Set => "(piece $ in @ {initialposition:$ & @})",
            (_, 6) if ty == Ty::Set => "(piece $ in @ {find ($==[d4,e4,d5,e5,f6,c3]) not find $--@})",
            (Ty::Bool, 0 | 1) => "(piece all $ in @ {$ attacks @ true})",
            (Ty::Bool, _) => "(piece all $ in @ {find ($ & @)})",
            (_, 0) => "(piece $ in @ {find ($ & @)})",
            (_, 1) => "(piece $ in @ {$ attacks @})",
            (_, 2) => {
                return self.held(ty, &format!("(piece $ in @ {{{edge}}})"), vec![piece]);
            }
            (_, 3) => return self.held(ty, "(piece $ in @ {child:(not $) @})", vec![piece, inside]),
            _ => return self.held(ty, "(piece $ in @ {path focus $ -- -- {@ true}})", vec![piece, inside]),
        };
        self.held(ty, template, vec![piece, other])
    }

    fn bound_piece(&mut self) -> Term {
        let game = &self.games[self.rng.below(self.games.len())];
        let first = game.occupied(0).into_iter().collect::<Vec<_>>();
        let square = *self.rng.pick(&first);
        let other = self.designator();
        match self.rng.below(4) {
            0 => self.held(
                Ty::Set,
                &format!("{{{{if isunbound $ then initialposition:{{piece $=[Aa]{square}}}}} ($ & @)}}"),
                vec![other],
            ),
            1 => self.held(Ty::Set, &format!("{{piece $=[Aa]{square} (find ($ & @)):$}}"), vec![other]),
            2 => self.held(Ty::Set, &format!("{{initialposition:(piece $=[Aa]{square}) $}}"), vec![]),
            _ => self.held(Ty::Set, "{piece $=(@ & K) (child:$ | $)}", vec![other]),
        }
    }

    fn dictionary(&mut self, depth: usize) -> Term {
        let name = self.name("D");
        let (key, value) = (self.num(0), self.num(depth));
        let template = match self.rng.below(6) {
            4 => "{dictionary $ $[@%5]=@ (#$)}",
            5 => "{dictionary $ $[str(@%3)]=player black (if @>1 then #$[\"1\"] else #$)}",
            0 => "{local dictionary $ $[@%3]=@ (#$)}",
            1 => "{local dictionary $ {if check then $[\"a\"]=@} $[\"b\"]=@ ($[\"a\"])}",
            2 => "{local dictionary $ not $[@%7] $[ply%7]=@ (#$)}",
            _ => "{local dictionary $ $[ply%4]=@ {if wtm unbind $[@%4]} (#$)}",
        };
        new(Ty::Num, template.replace('$', &name), vec![key, value])
    }

    fn function(&mut self, depth: usize) -> Term {
        let name = self.name("ff");
        let (body, actual) = (self.num(depth), self.num(0).into_condition());
        let template = match self.rng.below(3) {
            0 => "{function $(xa){xa+@} $(@)}",
            1 => "{function $(xa){{xa>3} @} $({@ ply})}",
            _ => "{function $(xa xb){xa*2+xb+@} ($(ply @))}",
        };
        new(Ty::Num, template.replace('$', &name), vec![body, actual])
    }

    fn looped(&mut self, depth: usize) -> Term {
        let condition = self.bool(depth.min(1));
        let k = self.rng.within(2, 6);
        let template = match self.rng.below(4) {
            0 => format!("{{$=0 loop {{$<{k} @ $+=1}} $}}"),
            1 => format!("{{$=0 while ($<{k}) {{@ or true $+=2}} $}}"),
            2 => "{$=0 while (\"a1b2c3\" ~~ \"[a-z][0-9]\") {@ $+=1} $}".to_string(),
            _ => format!("{{$=0 ((loop {{$<{k} $+=1}}) or true) {{if @ then $+=1}} $}}"),
        };
        self.held(Ty::Num, &template, vec![condition])
    }

    fn string(&mut self, depth: usize) -> Term {
        let (a, b) = (self.text(depth), self.text(0));
        let template = *self.rng.pick(&[
            "(@ + @)",
            "(str(@ \"-\" @))",
            "(max(@ @))",
            "(if @ ~~ \"([a-z])([0-9]?)\" then \\1+@ else \"none\")",
        ]);
        new(Ty::Str, template, vec![a, b])
    }

    fn written(&mut self, depth: usize) -> Term {
        let of = self.any(depth);
        let template = *self.rng.pick(&[
            "(str(@))",
            "(str(ply \" \" @))",
            "(uppercase str(@))",
            "(lowercase str(@))",
            "{fen str(@)}",
        ]);
        new(Ty::Str, template, vec![of])
    }

    fn string_number(&mut self, depth: usize) -> Term {
        let text = self.text(depth);
        let template = *self.rng.pick(&[
            "(#@)",
            "(indexof(\"e\" @))",
            "(int @)",
            "(if @ ~~ \"[a-z]+\" then \\-0 else 7)",
            "(ascii @[0])",
            "(#(@[1:4]))",
        ]);
        new(Ty::Num, template, vec![text])
    }

    fn string_condition(&mut self, depth: usize) -> Term {
        let sign = *self.rng.pick(&COMPARISONS);
        let subs = vec![self.text(depth), self.text(0)];
        let template = match self.rng.below(4) {
            0 => "(@ in @)".to_string(),
            1 => "(@ ~~ \"[aeiou1-4]{2}\") and (#@ < 9)".to_string(),
            _ => format!("(@ {sign} @)"),
        };
        let template = if template.contains(" and ") { format!("({template})") } else { template };
        new(Ty::Bool, template, subs)
    }
}

pub const CONSTRUCTS: &[Construct] = &[
    Construct { name: "state across positions", ty: Ty::Num, make: |g, d| g.across(d) },
    Construct { name: "numeric variables", ty: Ty::Num, make: |g, d| g.local(d) },
    Construct { name: "set variables", ty: Ty::Set, make: |g, d| g.local_set(d) },
    Construct {
        name: "position variables",
        ty: Ty::Num,
        make: |g, d| {
            let at = g.position(d);
            let template = *g.rng.pick(&[
                "{$=@ $:ply}",
                "{$=@ distance($ currentposition)}",
                "{$=@ {$<currentposition} $:#A}",
            ]);
            g.held(Ty::Num, template, vec![at])
        },
    },
    Construct { name: "piece loops", ty: Ty::Set, make: |g, d| g.piece_loop(Ty::Set, d) },
    Construct { name: "piece all", ty: Ty::Bool, make: |g, d| g.piece_loop(Ty::Bool, d) },
    Construct { name: "piece variables", ty: Ty::Set, make: |g, _| g.bound_piece() },
    Construct {
        name: "pieceid",
        ty: Ty::Num,
        make: |g, _| {
            let of = g.designator();
            let template = *g.rng.pick(&["(pieceid @)", "(pieceid (@ & to))", "(pieceid to%8)"]);
            let subs = if template.contains('@') { vec![of] } else { vec![] };
            new(Ty::Num, template, subs)
        },
    },
    Construct {
        name: "if",
        ty: Ty::Num,
        make: |g, d| new(Ty::Num, "(if @ then @ else @)", vec![g.bool(d), g.num(d), g.num(0)]),
    },
    Construct { name: "loops", ty: Ty::Num, make: |g, d| g.looped(d) },
    Construct { name: "functions", ty: Ty::Num, make: |g, d| g.function(d) },
    Construct { name: "dictionaries", ty: Ty::Num, make: |g, d| g.dictionary(d) },
    Construct { name: "strings", ty: Ty::Str, make: |g, d| g.string(d) },
    Construct { name: "str", ty: Ty::Str, make: |g, d| g.written(d) },
    Construct { name: "numbers of strings", ty: Ty::Num, make: |g, d| g.string_number(d) },
    Construct { name: "comparisons of strings", ty: Ty::Bool, make: |g, d| g.string_condition(d) },
    Construct {
        name: "persistent",
        ty: Ty::Num,
        make: |g, d| {
            let template = *g.rng.pick(&[
                "{persistent $+=1 ($%5)}",
                "{persistent quiet $ $+=ply ($%3)}",
                "{persistent $ {if @ then $+=1} ($%4)}",
                "{persistent $ {{@ $+=1 false} or true} ($%3)}",
                "{persistent $ {if @ then $|=to} #($ & A)}",
                "{persistent $ {if @ then $=typename to} {if terminal then unbind $} {if isunbound $ then $=\"-\"} ((#$)+ascii $)}",
                "{persistent $ {if @ then $=player white} (if initial then #$ else ply)}",
            ]);
            let subs = if template.contains('@') { vec![g.bool(d)] } else { vec![] };
            g.held(Ty::Num, template, subs)
        },
    },
    Construct {
        name: "lastgamenumber",
        ty: Ty::Num,
        make: |g, d| {
            let template =
                *g.rng.pick(&["(lastgamenumber)", "(lastgamenumber-gamenumber)", "(@%lastgamenumber)"]);
            let subs = if template.contains('@') { vec![g.num(d)] } else { vec![] };
            new(Ty::Num, template, subs)
        },
    },
    Construct {
        name: "atomic",
        ty: Ty::Num,
        make: |g, _| {
            let target = g.bool(0);
            g.held(Ty::Num, "{{path atomic $=ply -- {@ true} +} ($)}", vec![target])
        },
    },
    Construct {
        name: "assert",
        ty: Ty::Bool,
        make: |g, d| new(Ty::Bool, "{(assert (true or @)) @}", vec![g.bool(0), g.bool(d)]),
    },
    Construct {
        name: "keys of dictionaries",
        ty: Ty::Bool,
        make: |g, _| {
            let (name, key) = (g.name("D"), g.name("kk"));
            let template = "{local dictionary $ $[\"a\"]=@ $[\"b\"]=ply (string % in $ {$[%]>@})}";
            let template = template.replace('$', &name).replace('%', &key);
            new(Ty::Bool, template, vec![g.num(0), g.num(0)])
        },
    },
    Construct {
        name: "typename",
        ty: Ty::Str,
        make: |g, _| {
            let template = *g.rng.pick(&["(typename @)", "(piecename (@ & to))", "(piecename (to & ~@))"]);
            new(Ty::Str, template, vec![g.designator()])
        },
    },
    Construct {
        name: "sort",
        ty: Ty::Num,
        make: |g, d| {
            let name = g.name("sort ");
            let order = *g.rng.pick(&["", "min ", "quiet "]);
            new(Ty::Num, format!("(sort {order}\"{name}\" @)"), vec![g.num(d)])
        },
    },
    Construct {
        name: "comment",
        ty: Ty::Bool,
        make: |g, d| {
            let template = *g.rng.pick(&[
                "{@ comment(\"x\" @)}",
                "{@ message quiet(ply @)}",
                "{@ settag(\"Foo\" str(@))}",
                "{@ removecomment @}",
                "{@ /// \"x\" ply\n @}",
            ]);
            new(Ty::Bool, template, vec![g.bool(d), g.any(0)])
        },
    },
    Construct {
        name: "equal",
        ty: Ty::Bool,
        make: |g, d| match g.rng.below(3) {
            0 => new(Ty::Bool, "(equal(@ @))", vec![g.set(d), g.set(0)]),
            1 => new(Ty::Bool, "(equal(@ @))", vec![g.num(d), g.num(0)]),
            _ => new(Ty::Bool, "(equal(@ parent:@))", vec![g.set(d), g.set(0)]),
        },
    },
    Construct {
        name: "isbound",
        ty: Ty::Bool,
        make: |g, d| {
            let condition = g.bool(d);
            let template = *g.rng.pick(&[
                "{{if @ then $=1} isbound $}",
                "{{if @ then $=1} isunbound $}",
                "{$=1 {if @ unbind $} isbound $}",
            ]);
            g.held(Ty::Bool, template, vec![condition])
        },
    },
    Construct {
        name: "consecutivemoves",
        ty: Ty::Num,
        make: |g, d| {
            let (a, b) = (g.name("ca"), g.name("cb"));
            let subs = vec![g.position(d), g.position(0)];
            new(Ty::Num, format!("{{{a}=@ {b}=@ consecutivemoves({a} {b})}}"), subs)
        },
    },
    Construct {
        name: "tags",
        ty: Ty::Str,
        make: |g, _| {
            pick_leaf(
                g,
                Ty::Str,
                &[
                    "(tag \"White\")",
                    "(player black)",
                    "(event)",
                    "originalcomment",
                    "currenttransform",
                    "hascomment",
                    "(eco)",
                    "currentfen",
                ],
            )
        },
    },
];
