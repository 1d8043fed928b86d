//! Represents the text of a query together with its structure, so that a failing query can be reduced.

/// The types of filters in the query language.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ty {
    Bool,
    Set,
    Num,
    Str,
    Position,
}

/// A filter: its text, with a `@` for each operand, and its operands, which are written in parentheses where needed.
#[derive(Clone, Debug)]
pub struct Term {
    pub ty: Ty,
    pub template: String,
    pub subs: Vec<Term>,
}

impl Term {
    pub fn new(ty: Ty, template: impl Into<String>, subs: Vec<Term>) -> Term {
        let template = template.into();
        assert_eq!(template.matches('@').count(), subs.len(), "{template}");
        Term { ty, template, subs }
    }

    /// Returns a filter without operands.
    pub fn leaf(ty: Ty, text: impl Into<String>) -> Term {
        Term::new(ty, text, vec![])
    }

    /// Converts the term to a condition. A number or an extremum is not a condition by itself.
    pub fn into_condition(self) -> Term {
        let text = self.text();
        let is_alone = text.trim_matches(['(', ')']).parse::<i64>().is_ok()
            || ["max(", "min("].iter().any(|word| text.starts_with(word));
        if is_alone { Term::new(self.ty, "(@ + 0)", vec![self]) } else { self }
    }

    /// Returns the query text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let mut subs = self.subs.iter();
        for c in self.template.chars() {
            match c {
                '@' => out += &subs.next().expect("one operand for each `@`").text(),
                c => out.push(c),
            }
        }
        out
    }

    /// Returns all terms that one simplification makes from this term.
    fn smaller(&self) -> Vec<Term> {
        let least = match self.ty {
            Ty::Bool => "true",
            Ty::Set => "R",
            Ty::Num => "1",
            Ty::Str => "\"\"",
            Ty::Position => "currentposition",
        };
        let mut out = Vec::new();
        if self.template != least {
            out.push(Term::leaf(self.ty, least));
        }
        let mut below: Vec<&Term> = self.subs.iter().collect();
        while let Some(term) = below.pop() {
            // To simplify a query, a condition may be replaced with one of its subterms of any type, and a term of another type
            // only with one of the same type.
            if term.ty == self.ty || self.ty == Ty::Bool {
                out.push(Term { ty: self.ty, ..term.clone() });
            }
            below.extend(&term.subs);
        }
        for (index, sub) in self.subs.iter().enumerate() {
            for simple in sub.smaller() {
                let mut term = self.clone();
                term.subs[index] = simple;
                out.push(term);
            }
        }
        out
    }

    /// Returns the smallest failing term that was found. `fails` takes the text of a query and returns true if it fails.
    pub fn shrink(mut self, fails: &mut dyn FnMut(&str) -> bool) -> Term {
        for _ in 0..200 {
            let len = self.text().len();
            let mut smaller = self.smaller();
            smaller.retain(|term| term.text().len() < len);
            smaller.sort_by_key(|term| term.text().len());
            match smaller.into_iter().find(|term| fails(&term.text())) {
                Some(term) => self = term,
                None => break,
            }
        }
        self
    }
}
