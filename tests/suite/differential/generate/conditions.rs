//! Generates conditions, and filters about other positions of the game.

use orbit_query::words::WordValue;

use super::{COMPARISONS, Generator, STRINGS, TAGS, leaves};
use crate::differential::term::{Term, Ty};

impl Generator<'_> {
    pub fn bool(&mut self, depth: usize) -> Term {
        if depth > 0 && !self.scope.is_empty() && self.rng.percent(15) {
            return self.reassign(depth - 1);
        }
        if let Some(term) = self.shared(Ty::Bool, depth) {
            return term;
        }
        if depth == 0 || self.rng.percent(10) {
            return self.bool_leaf();
        }
        let d = depth - 1;
        match self.rng.below(28) {
            0..=2 => Term::new(Ty::Bool, "(@ and @)", vec![self.any(d), self.any(d)]),
            3..=5 => Term::new(Ty::Bool, "(@ or @)", vec![self.any(d), self.any(d)]),
            6 | 7 => Term::new(Ty::Bool, "(not @)", vec![self.any(d)]),
            8 | 9 => Term::new(Ty::Bool, "(@ in @)", vec![self.set(d), self.set(d)]),
            10 | 11 => {
                let sign = if self.rng.percent(60) { "==" } else { "!=" };
                let subs = vec![self.set(d), self.set(d)];
                Term::new(Ty::Bool, format!("(@ {sign} @)"), subs)
            }
            12..=14 => self.comparison(&COMPARISONS, d),
            15 | 16 => self.letter_test(d),
            17 | 18 => self.string_test(d),
            19 | 20 => self.square_loop(true, d),
            21 if !self.scope.is_empty() => {
                let assignment = self.reassign(d);
                let (word, other) = (*self.rng.pick(&["and", "or"]), self.any(d));
                Term::new(Ty::Bool, format!("(@ {word} @)"), vec![assignment, other])
            }
            22 => self.num(d),
            23 | 24 => self.find(false, d),
            _ => self.set(d),
        }
    }

    /// Returns a `find` filter. Its body is evaluated at other positions, so it has its own variables.
    pub(super) fn find(&mut self, number: bool, d: usize) -> Term {
        let way = *self.rng.pick(&["", "", "<-- ", "quiet ", "<-- quiet "]);
        let mut range = String::new();
        if number {
            range += *self.rng.pick(&["all ", "count ", "1 ", "2 ", "1 3 ", "0 ", "0 2 "]);
            if self.rng.percent(30) && self.variable(Ty::Num).is_some() {
                range = format!("{} {} ", self.bound(0, 2), self.bound(2, 4));
            }
        }
        let scope = std::mem::take(&mut self.scope);
        let arg = self.any(d);
        self.scope = scope;
        let ty = if number { Ty::Num } else { Ty::Bool };
        Term::new(ty, format!("(find {way}{range}@)"), vec![arg])
    }

    fn bool_leaf(&mut self) -> Term {
        let more = [
            "wtm",
            "(result 1-0)",
            "(result 0-1)",
            "(result 1/2-1/2)",
            "(player \"Karpov\")",
            "(player white \"Fischer\")",
            "(player black \"Karpov\")",
            "(fen \"......k./8/8/8/8/8/.A..../........\")",
            "(fen \"......../......../......../....a.../........__/......../......../.....RK.\")",
        ];
        let words = leaves(WordValue::Condition);
        let text = match self.rng.below(words.len() + more.len() + 4) {
            k if k < words.len() => words[k].to_string(),
            k if k < words.len() + more.len() => more[k - words.len()].to_string(),
            k if k < words.len() + more.len() + 2 => self.fen(),
            _ => return self.designator(),
        };
        Term::leaf(Ty::Bool, text)
    }

    /// Returns a `fen` filter for a board on which only a few squares are specified.
    fn fen(&mut self) -> String {
        if self.turned {
            return "true".into();
        }
        let mut ranks = vec![["."; 8]; 8];
        for _ in 0..self.rng.within(1, 4) {
            let (x, y) = (self.rng.below(8), self.rng.below(8));
            ranks[y][x] = *self.rng.pick(&["A", "a", "_", "K", "k", "P", "p", "R", "1"]);
        }
        let ranks: Vec<String> = ranks.iter().map(|rank| rank.concat()).collect();
        format!("(fen \"{}\")", ranks.join("/"))
    }

    fn letter_test(&mut self, d: usize) -> Term {
        let word = *self.rng.pick(&["typename", "piecename"]);
        let set = if self.rng.percent(70) { self.single(d) } else { self.set(d) };
        let letter =
            *self.rng.pick(&["\"R\"", "\"N\"", "\"k\"", "\"K\"", "\"p\"", "\"_\"", "\"P\"", "\"KQR\""]);
        let sign = *self.rng.pick(&COMPARISONS);
        let template = match self.rng.below(5) {
            0 => format!("({word} @)"),
            1 => format!("({letter} {sign} {word} @)"),
            2 => format!("({word} @ in {letter})"),
            3 => format!("({letter} in {word} @)"),
            _ => format!("({word} @ {sign} {letter})"),
        };
        Term::new(Ty::Bool, template, vec![set])
    }

    pub(super) fn string(&mut self, depth: usize) -> Term {
        if depth > 0 && self.rng.percent(25) {
            let (cond, text) = (self.any(depth - 1), self.string(depth - 1));
            return Term::new(Ty::Str, "{@ @}", vec![cond, text]);
        }
        if depth > 0 && self.rng.percent(10) {
            return Term::new(Ty::Str, "(notransform @)", vec![self.string(depth - 1)]);
        }
        let text = match self.rng.below(3) {
            0 => self.rng.pick(&STRINGS).to_string(),
            1 => format!("({})", self.rng.pick(&TAGS)),
            _ => format!("({})", self.rng.pick(&["player", "player white", "player black"])),
        };
        Term::leaf(Ty::Str, text)
    }

    fn string_test(&mut self, d: usize) -> Term {
        let sign = match self.rng.below(8) {
            6 => "in",
            7 => return self.string(d),
            k => COMPARISONS[k],
        };
        let subs = vec![self.string(d), self.string(d)];
        Term::new(Ty::Bool, format!("(@ {sign} @)"), subs)
    }
}
