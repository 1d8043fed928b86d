//! Generates `line` and `path`.

use super::{Construct, GameQueries, new};
use crate::differential::term::{Term, Ty};

const SUFFIXES: [&str; 11] = ["*", "+", "?", "{2}", "{3}", "{1,3}", "{2,}", "{,2}", "{2,4}", "{1,2}", "*"];

impl GameQueries<'_> {
    /// Returns a `line` filter with the given options before its constituents.
    fn line(&mut self, options: &str, depth: usize) -> Term {
        let arrow = if options.contains("<--") { "<--" } else { "-->" };
        let options = options.replace("<--", "");
        let tied = options.contains("tied");
        let options = options.replace("tied", "");
        let mut subs = Vec::new();
        let was = std::mem::replace(&mut self.stateless, true);
        let template = self.constituents(arrow, depth, tied, 4, &mut subs);
        self.stateless = was;
        let ty = if options.contains("lastposition") { Ty::Position } else { Ty::Num };
        let space = if options.trim().is_empty() { "" } else { " " };
        new(ty, format!("{{line{space}{} {template}}}", options.trim()), subs)
    }

    fn constituents(
        &mut self,
        arrow: &str,
        depth: usize,
        tied: bool,
        most: usize,
        subs: &mut Vec<Term>,
    ) -> String {
        let mut out = String::new();
        for index in 0..1 + self.rng.below(most) {
            if index > 0 {
                out += " ";
            }
            out += &format!("{arrow} {}", self.constituent(arrow, depth, tied && index < 2, subs));
        }
        out
    }

    fn constituent(&mut self, arrow: &str, depth: usize, tied: bool, subs: &mut Vec<Term>) -> String {
        let mut out = if depth > 0 && self.rng.percent(20) {
            let inner = self.constituents(arrow, 0, tied, 2, subs);
            let inner = inner.strip_prefix(arrow).expect("it begins with one").trim_start();
            let chain = format!("({inner})");
            // A chain that can match an empty sequence must have no suffix such as `*`.
            if has_suffixes(inner) {
                return chain;
            }
            chain
        } else {
            let filter = match tied && self.rng.percent(70) {
                true => self.move_filter("", ""),
                false => match self.rng.percent(30) {
                    true => Term::leaf(Ty::Bool, *self.rng.pick(&["true", "wtm", "btm", "(not check)"])),
                    false => self.bool(depth),
                },
            };
            subs.push(filter);
            // Without the braces, the parser would read the number and the suffix as an arithmetic expression.
            "{@ true}".to_string()
        };
        if self.rng.percent(45) {
            out += *self.rng.pick(&SUFFIXES);
        }
        out
    }

    /// Returns a `path` filter with the given options before its constituents.
    fn path(&mut self, options: &str, depth: usize) -> Term {
        let mut subs = Vec::new();
        let was = std::mem::replace(&mut self.stateless, true);
        let mut template = String::from("{path");
        for word in options.split_whitespace() {
            template += &match word {
                "focus" => {
                    subs.push(self.designator());
                    " focus @".to_string()
                }
                "capture" => {
                    subs.push(self.designator());
                    " focus capture @".to_string()
                }
                "max" => {
                    subs.push(self.num(0));
                    " max (@+0)".to_string()
                }
                word => format!(" {word}"),
            };
        }
        if self.rng.percent(15) {
            template += " {@ true}";
            subs.push(self.bool(0));
        }
        template += &self.moves(depth, &mut subs);
        self.stateless = was;
        let ty = if options.contains("lastposition") { Ty::Position } else { Ty::Num };
        new(ty, template + "}", subs)
    }

    fn moves(&mut self, depth: usize, subs: &mut Vec<Term>) -> String {
        let mut out = String::new();
        for _ in 0..1 + self.rng.below(3) {
            if depth > 0 && self.rng.percent(20) {
                let inner = self.moves(depth - 1, subs);
                let suffix = match has_suffixes(&inner) {
                    true => "",
                    false => *self.rng.pick(&["", "*", "+", "{2}", "{1,2}"]),
                };
                out += &format!(" ({}){suffix}", inner.trim_start());
                continue;
            }
            // The most common constituent is `--`, which matches any move.
            let edge = if self.rng.percent(35) { "--".into() } else { self.edge_text() };
            out += &format!(" {edge}");
            if self.rng.percent(35) {
                out += " {@ true}";
                subs.push(self.bool(depth));
            }
            if self.rng.percent(40) {
                out += &format!(" {}", self.rng.pick(&SUFFIXES));
            }
        }
        out
    }

    /// Returns a `path` filter with path-related keywords, both inside and after it.
    fn path_words(&mut self, depth: usize) -> Term {
        let edge = self.edge_text();
        let k = self.rng.within(1, 3);
        let inside = match self.rng.below(4) {
            0 => format!("pathcount<={k}"),
            1 => format!("pathstart:ply+{k}>=ply"),
            2 => "pathstart[<]currentposition".into(),
            _ => format!("pathcountunfocused<={k}"),
        };
        let after =
            *self.rng.pick(&["pathcount", "pathlastposition:ply", "pathstart:ply", "pathlastposition:#A"]);
        let target = self.bool(depth.min(1));
        match self.rng.below(2) {
            0 => new(Ty::Num, format!("{{path -- {{{inside} true}} * {edge} {{@ true}}}}"), vec![target]),
            _ => new(Ty::Num, format!("{{{{path -- {{@ true}} + {edge}}} ({after})}}"), vec![target]),
        }
    }
}

/// Returns true if a part of a template has a suffix such as `*`. In this case, the whole template may match an empty sequence.
fn has_suffixes(template: &str) -> bool {
    ["*", "?", "{,2}", "+"].iter().any(|suffix| template.contains(suffix))
}

macro_rules! chains {
    ($($name:literal $ty:ident $method:ident $options:literal;)*) => {
        &[$(Construct { name: $name, ty: Ty::$ty, make: |g, d| g.$method($options, d) },)*
          Construct { name: "pathcount", ty: Ty::Num, make: |g, d| g.path_words(d) }]
    };
}

pub const CONSTRUCTS: &[Construct] = chains! {
    "line" Num line "";
    "line with a range" Num line "2 6";
    "line singlecolor" Num line "singlecolor";
    "line nestban" Num line "nestban";
    "line firstmatch" Num line "firstmatch";
    "line primary" Num line "primary";
    "line secondary" Num line "secondary";
    "line lastposition" Position line "lastposition";
    "line <--" Num line "<--";
    "line of moves" Num line "tied";
    "line singlecolor nestban" Num line "singlecolor nestban";
    "path" Num path "";
    "path with a range" Num path "2 5";
    "path focus" Num path "focus";
    "path focus capture" Num path "capture";
    "path singlecolor" Num path "singlecolor";
    "path max" Num path "max";
    "path nestban" Num path "nestban";
    "path firstmatch" Num path "firstmatch";
    "path lastposition" Position path "lastposition";
    "path primary" Num path "primary";
    "path focus max" Num path "focus max nestban";
    "path keepallbest" Num path "keepallbest quiet";
    "path with comments" Num path "focus piecepath verbose title \"t\"";
};
