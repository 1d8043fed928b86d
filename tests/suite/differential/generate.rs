//! Generates random queries that together use every filter of the language.
//!
//! A *copy* is one of the patterns that a transform generates.

mod conditions;

use std::sync::LazyLock;

use orbit_query::{
    Dialect,
    words::{self, Word, WordGroup, WordStatus, WordValue},
};

use super::{
    rng::Rng,
    term::{Term, Ty},
};

/// The maximum product of the numbers of copies (transformed patterns) of all transforms around a filter. With more, the
/// reference engine would be slow.
const COPIES_MAX: usize = 1800;

pub struct Generator<'a> {
    pub rng: &'a mut Rng,
    /// The variables that have certainly been assigned at the current place in the query.
    scope: Vec<(String, Ty)>,
    names: usize,
    /// The number of copies (transformed patterns) that the transforms around the current filter generate.
    copies: usize,
    /// True inside `rotate45`, where squares and square colours are not allowed.
    turned: bool,
}

/// Returns the spellings of all supported CQL 6 keywords for which `wanted` is true.
fn spellings(wanted: impl Fn(&WordGroup, &Word) -> bool) -> Vec<&'static str> {
    let groups = words::groups().filter(|group| group.dialect == Dialect::Cql6);
    let rows = groups.flat_map(|group| group.words.iter().map(move |&word| (group, word)));
    rows.filter(|(group, word)| word.status == WordStatus::Here && wanted(group, word))
        .flat_map(|(_, word)| word.spellings.iter().copied())
        .collect()
}

fn directions() -> &'static [&'static str] {
    static DIRECTIONS: LazyLock<Vec<&str>> =
        LazyLock::new(|| spellings(|group, _| group.title == "Directions"));
    &DIRECTIONS
}

/// Returns all transforms, each with its number of copies (transformed patterns).
fn transforms() -> &'static [(&'static str, usize)] {
    static TRANSFORMS: LazyLock<Vec<(&str, usize)>> = LazyLock::new(|| {
        let shields = ["notransform", "currenttransform"];
        let words =
            spellings(|group, word| group.title == "Transforms" && !shields.contains(&word.spellings[0]));
        words.into_iter().map(|word| (word, copies(word))).collect()
    });
    &TRANSFORMS
}

/// Returns the number of copies (transformed patterns) that a transform generates from a filter about a single square.
fn copies(transform: &str) -> usize {
    match words::find(Dialect::Cql6, transform).expect("it is a word").spellings[0] {
        "flip" | "rotate45" | "shifthorizontal" | "shiftvertical" => 8,
        "flipvertical" | "fliphorizontal" | "flipcolor" => 2,
        "rotate90" => 4,
        "reversecolor" => 1,
        "shift" => 64,
        other => panic!("say here how many copies `{other}` makes"),
    }
}

/// The boards for the filter `similar`, as FEN.
const BOARDS: [&str; 3] = [
    "8/8/8/8/3N4/5k2/8/8",
    "6k1/5ppp/8/8/8/8/5PPP/6K1",
    "r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R",
];

/// The groups of keywords that depend on more than one position. [`super::game_queries`] generates queries with them.
const GROUPS_OF_GAMES: [&str; 3] = ["Moves", "Other positions of the game", "Comments, order and output"];
const WORDS_OF_GAMES: [&str; 3] = ["lastgamenumber", "cql_abort", "currenttransform"];

/// Returns the keywords that are complete filters of the given type.
pub(super) fn leaves(value: WordValue) -> &'static [&'static str] {
    type Leaves = [Vec<&'static str>; 3];
    static LEAVES: LazyLock<Leaves> = LazyLock::new(|| {
        [WordValue::Condition, WordValue::Squares, WordValue::Number].map(|value| {
            let is_leaf = |group: &WordGroup, word: &Word| {
                !GROUPS_OF_GAMES.contains(&group.title)
                    && !WORDS_OF_GAMES.contains(&word.spellings[0])
                    && word.is_alone()
                    && word.value == value
                    && word.spellings[0].is_ascii()
                    && word.spellings[0].len() > 2
            };
            spellings(is_leaf)
        })
    });
    match value {
        WordValue::Condition => &LEAVES[0],
        WordValue::Squares => &LEAVES[1],
        _ => &LEAVES[2],
    }
}

const STRINGS: [&str; 8] =
    ["\"\"", "\"a\"", "\"Karpov\"", "\"Karpov, A\"", "\"Fischer\"", "\"B\"", "\"r\"", "\"é\""];
const TAGS: [&str; 8] =
    ["event", "site", "date", "eventdate", "eco", "tag \"White\"", "tag \"Black\"", "tag \"Annotator\""];
const COMPARISONS: [&str; 6] = ["==", "!=", "<", "<=", ">", ">="];

impl<'a> Generator<'a> {
    pub fn new(rng: &'a mut Rng) -> Generator<'a> {
        Generator { rng, scope: Vec::new(), names: 0, copies: 1, turned: false }
    }

    /// Returns a whole query.
    pub fn query(&mut self) -> Term {
        let depth = *self.rng.pick(&[1, 2, 2, 3, 3, 3, 4, 4, 5]);
        match self.rng.below(12) {
            0 => self.num(depth),
            1 => self.set(depth),
            2..=4 => self.list(depth),
            5..=8 => {
                let ty = *self.rng.pick(&[Ty::Bool, Ty::Bool, Ty::Set, Ty::Num]);
                self.transform(ty, depth)
            }
            9 | 10 => self.several(depth),
            _ => self.bool(depth),
        }
    }

    /// Returns several filters that share variables.
    fn several(&mut self, depth: usize) -> Term {
        if self.rng.percent(60) {
            return self.stateful(depth);
        }
        let ty = *self.rng.pick(&[Ty::Bool, Ty::Set, Ty::Num]);
        self.compound(ty, depth)
    }

    /// Returns a transformed list of designators, the most common form of query.
    fn list(&mut self, depth: usize) -> Term {
        let mut template = String::from("{");
        let mut subs = Vec::new();
        for _ in 0..self.rng.within(1, 4) {
            let mut designator = self.designator();
            if self.rng.percent(20) {
                designator = self.pointwise();
            } else if self.rng.percent(15) {
                designator = Term::new(Ty::Bool, "not @", vec![designator]);
            } else if self.rng.percent(10) {
                designator = Term::new(Ty::Bool, "(@ or @)", vec![designator, self.designator()]);
            } else if self.rng.percent(10) {
                designator = Term::new(Ty::Set, "(@ | @)", vec![designator, self.designator()]);
            } else if self.rng.percent(8) {
                designator = Term::new(Ty::Set, "(@ & passedpawns)", vec![designator]);
            }
            template += "@ ";
            subs.push(designator);
        }
        template.pop();
        let ty = subs.last().expect("there is one").ty;
        let mut term = Term::new(ty, template + "}", subs);
        if self.rng.percent(20) {
            let extra = self.bool(depth.min(2));
            term = Term::new(Ty::Bool, "{@ @}", vec![term, extra]);
        }
        // A few queries may have up to four times [`COPIES_MAX`] copies (transformed patterns).
        let copies_max = if self.rng.percent(2) { 4 * COPIES_MAX } else { COPIES_MAX };
        for _ in 0..self.rng.within(1, 3) {
            let &(word, copies) = match self.rng.below(3) {
                0 => &("shift", 64),
                _ => self.rng.pick(transforms()),
            };
            // `rotate45` is often invalid here. One in ten such queries is used anyway, to test the error.
            if word == "rotate45" && self.rng.percent(90) || self.copies * copies > copies_max {
                continue;
            }
            self.copies *= copies;
            let counting = if word == "reversecolor" { String::new() } else { self.counting() };
            let ty = if counting.is_empty() { term.ty } else { Ty::Num };
            term = Term::new(ty, format!("{word} {counting}@"), vec![term]);
        }
        self.copies = 1;
        term
    }

    /// Returns an attack between two nearby squares, or a comparison with a number of squares. Plans can shift these filters in
    /// the same way as designators.
    fn pointwise(&mut self) -> Term {
        let near = |of: usize, rng: &mut Rng| (of + 6 + rng.below(5)) % 8;
        let name = |x: usize, y: usize| format!("{}{}", (b'a' + x as u8) as char, y + 1);
        let (x, y) = (self.rng.below(8), self.rng.below(8));
        let mut piece = |x: usize, y: usize| {
            let wide = self.rng.percent(25);
            let other = name(near(x, self.rng), near(y, self.rng));
            let squares = if wide { format!("[{},{other}]", name(x, y)) } else { name(x, y) };
            Term::leaf(Ty::Set, self.pieces() + &squares)
        };
        let a = piece(x, y);
        let (x, y) = (near(x, self.rng), near(y, self.rng));
        let b = match self.rng.below(6) {
            0 => self.designator(),
            _ => Term::leaf(Ty::Set, self.pieces() + &name(x, y)),
        };
        if self.rng.percent(60) {
            let word = *self.rng.pick(&["attacks", "attackedby"]);
            return Term::new(Ty::Set, format!("(@ {word} @)"), vec![a, b]);
        }
        let (sign, cmp) = (*self.rng.pick(&["|", "|", "&"]), *self.rng.pick(&COMPARISONS));
        let number = self.rng.within(-1, 4);
        let c = self.designator();
        match self.rng.below(3) {
            0 => Term::new(Ty::Num, format!("(#(@ {sign} @) {cmp} {number})"), vec![a, b]),
            1 => Term::new(Ty::Num, format!("({number} {cmp} #(@ | {{@ @}}))"), vec![b, c, a]),
            _ => Term::new(Ty::Num, format!("(#(@ {sign} (@ | @)) {cmp} {number})"), vec![c, a, b]),
        }
    }

    /// Returns `{x1=S x2=N f g h x1}`, where f, g and h assign x1 and x2 in loops, transforms and branches.
    fn stateful(&mut self, depth: usize) -> Term {
        let (set, num) = (self.designator(), self.num(0));
        self.names += 2;
        let names = [format!("x{}", self.names - 1), format!("x{}", self.names)];
        self.scope.push((names[0].clone(), Ty::Set));
        self.scope.push((names[1].clone(), Ty::Num));
        let mut template = format!("{{{}=@ {}=@ ", names[0], names[1]);
        let mut subs = vec![set, num];
        for _ in 0..self.rng.within(1, 3) {
            let assignment = self.assigning(depth.min(2));
            let wrapper = *self.rng.pick(&["(@ or true)", "(if @ then true)", "(not @ or true)", "@"]);
            template += "@ ";
            subs.push(Term::new(Ty::Bool, wrapper, vec![assignment]));
        }
        self.scope.truncate(self.scope.len() - 2);
        let (ty, name) = if self.rng.percent(60) { (Ty::Set, &names[0]) } else { (Ty::Num, &names[1]) };
        Term::new(ty, template + name + "}", subs)
    }

    /// Returns a condition that assigns variables in scope, if possible more than once.
    fn assigning(&mut self, depth: usize) -> Term {
        if depth == 0 {
            return self.reassign(1);
        }
        let d = depth - 1;
        match self.rng.below(8) {
            kind @ 0..=3 => {
                let domain = self.set(1);
                self.names += 1;
                let name = format!("s{}", self.names);
                let own = (name.clone(), Ty::Set);
                // The loop variable can be read in the body but not assigned. Nested loops are rare, because their plans contain
                // 4,096 bodies.
                let assignment = if self.rng.percent(4) { self.assigning(d) } else { self.reassign(1) };
                let known = self.scope.len();
                self.scope.push(own);
                let test = self.bool(1);
                self.scope.truncate(known);
                let all = if kind < 2 { "all " } else { "" };
                let body = *self.rng.pick(&["{@ @}", "(@ or @)", "(@ and @)"]);
                let body = Term::new(Ty::Bool, body, vec![assignment, test]);
                let template = format!("(square {all}{name} in @ @)");
                let grow = Term::leaf(Ty::Bool, self.grow(&name));
                let body = Term::new(Ty::Bool, "{@ @}", vec![grow, body]);
                Term::new(Ty::Bool, template, vec![domain, body])
            }
            4 => {
                let arg = self.assigning(d);
                let &(word, copies) = self.rng.pick(transforms());
                if self.copies * copies > 64 || word == "rotate45" {
                    return arg;
                }
                let with = self.designator();
                Term::new(Ty::Bool, format!("({word} {{@ @}})"), vec![with, arg])
            }
            5 => {
                let subs = vec![self.bool(1), self.assigning(d), self.assigning(d)];
                Term::new(Ty::Bool, "(if @ then @ else @)", subs)
            }
            6 => Term::new(Ty::Bool, "(@ and @)", vec![self.assigning(d), self.assigning(d)]),
            _ => Term::new(Ty::Bool, "(@ or @)", vec![self.assigning(d), self.assigning(d)]),
        }
    }

    /// Returns a filter that adds the current square of a loop to one of the sets in scope.
    fn grow(&mut self, square: &str) -> String {
        let sets: Vec<&String> =
            self.scope.iter().filter(|(_, ty)| *ty == Ty::Set).map(|(name, _)| name).collect();
        match sets.is_empty() {
            true => "true".into(),
            false => format!("{}|={square}", sets[self.rng.below(sets.len())]),
        }
    }

    fn any(&mut self, depth: usize) -> Term {
        match self.rng.below(5) {
            0 => self.num(depth).into_condition(),
            1 | 2 => self.set(depth),
            _ => self.bool(depth),
        }
    }

    fn of(&mut self, ty: Ty, depth: usize) -> Term {
        match ty {
            Ty::Bool => self.bool(depth),
            Ty::Set => self.set(depth),
            Ty::Num => self.num(depth),
            Ty::Str => self.string(depth),
            Ty::Position => Term::leaf(ty, "currentposition"),
        }
    }

    // ---- filters that exist for every type

    /// Returns a compound filter, such as `{f g h}`, which may contain assignments.
    fn compound(&mut self, ty: Ty, depth: usize) -> Term {
        let known = self.scope.len();
        let mut template = String::from("{");
        let mut subs = Vec::new();
        for _ in 0..self.rng.within(1, 3) {
            let sub = match self.rng.below(4) {
                0 | 1 => self.assign(depth - 1),
                _ => self.any(depth - 1),
            };
            template += "@ ";
            subs.push(sub);
        }
        subs.push(self.of(ty, depth - 1));
        self.scope.truncate(known);
        Term::new(ty, template + "@}", subs)
    }

    /// Returns an assignment to an existing variable, or to a new one, which is in scope from then on.
    fn assign(&mut self, depth: usize) -> Term {
        if !self.scope.is_empty() && self.rng.percent(50) {
            return self.reassign(depth);
        }
        self.names += 1;
        let ty = if self.rng.percent(60) { Ty::Set } else { Ty::Num };
        let name = format!("x{}", self.names);
        let value = self.of(ty, depth);
        self.scope.push((name.clone(), ty));
        Term::new(Ty::Bool, format!("{name}=@"), vec![value])
    }

    fn reassign(&mut self, depth: usize) -> Term {
        let (name, ty) = self.rng.pick(&self.scope).clone();
        let signs: &[&str] =
            if ty == Ty::Set { &["=", "|=", "&="] } else { &["=", "+=", "-=", "*=", "/=", "%="] };
        let sign = *self.rng.pick(signs);
        let value = self.of(ty, depth);
        Term::new(Ty::Bool, format!("{name}{sign}@"), vec![value])
    }

    fn variable(&mut self, ty: Ty) -> Option<Term> {
        let names: Vec<&String> =
            self.scope.iter().filter(|(_, of)| *of == ty).map(|(name, _)| name).collect();
        if names.is_empty() {
            return None;
        }
        let name = names[self.rng.below(names.len())].clone();
        Some(Term::leaf(ty, name))
    }

    fn condition(&mut self, ty: Ty, depth: usize) -> Term {
        let cond = self.any(depth - 1);
        let then = self.of(ty, depth - 1);
        if ty == Ty::Bool && self.rng.percent(30) {
            return Term::new(ty, "(if @ then @)", vec![cond, then]);
        }
        let other = self.of(ty, depth - 1);
        let then_word = if self.rng.percent(80) { "then " } else { "" };
        Term::new(ty, format!("(if @ {then_word}@ else @)"), vec![cond, then, other])
    }

    fn counting(&mut self) -> String {
        match self.rng.below(10) {
            0..=5 => String::new(),
            6 | 7 => "count ".into(),
            8 => format!("{} ", self.bound(0, 5)),
            _ => format!("{} {} ", self.bound(0, 2), self.bound(2, 40)),
        }
    }

    /// Returns a bound for a range: a number, or a variable together with a number.
    pub(super) fn bound(&mut self, lo: i32, hi: i32) -> String {
        match self.variable(Ty::Num) {
            Some(name) if self.rng.percent(50) => name.text(),
            _ => self.rng.within(lo, hi).to_string(),
        }
    }

    /// Returns a filter inside a transform, in parentheses because the transform would otherwise extend to everything on its
    /// right.
    fn transform(&mut self, ty: Ty, depth: usize) -> Term {
        let (kept, was_turned) = (self.copies, self.turned);
        let &(word, copies) = self.rng.pick(transforms());
        if self.copies * copies > COPIES_MAX {
            return self.of(ty, depth - 1);
        }
        self.copies *= copies;
        self.turned |= word == "rotate45";
        let mut counting = self.counting();
        if word == "reversecolor" || (ty != Ty::Num && !counting.is_empty() && self.rng.percent(60)) {
            counting = String::new();
        }
        let of = match (counting.is_empty(), ty) {
            (true, Ty::Str) => Ty::Bool,
            (true, ty) => ty,
            (false, _) => *self.rng.pick(&[Ty::Bool, Ty::Bool, Ty::Set, Ty::Set, Ty::Num]),
        };
        let arg =
            if self.rng.percent(25) { self.transform(of, depth.max(2)) } else { self.of(of, depth - 1) };
        (self.copies, self.turned) = (kept, was_turned);
        match (counting.is_empty(), ty) {
            (false, Ty::Set) => Term::new(ty, format!("{{({word} {counting}@) R}}"), vec![arg]),
            _ => Term::new(ty, format!("({word} {counting}@)"), vec![arg]),
        }
    }

    /// Sometimes returns a term of a form that exists for every type: a compound filter, an `if`, a transform or a variable.
    fn shared(&mut self, ty: Ty, depth: usize) -> Option<Term> {
        if depth == 0 {
            return None;
        }
        Some(match self.rng.below(100) {
            0..=6 => self.compound(ty, depth),
            7..=11 => self.condition(ty, depth),
            12..=22 => self.transform(ty, depth),
            23..=25 => {
                let was_turned = std::mem::take(&mut self.turned);
                let arg = self.of(ty, depth - 1);
                self.turned = was_turned;
                Term::new(ty, "(notransform @)", vec![arg])
            }
            26..=45 => return self.variable(ty),
            _ => return None,
        })
    }

    // ---- sets

    pub fn designator(&mut self) -> Term {
        let pieces = self.pieces();
        let squares = if self.turned { String::new() } else { self.squares() };
        // If neither pieces nor squares were generated, the designator would be empty, so it is written as the range of all
        // squares.
        let text = match (pieces.is_empty(), squares.is_empty()) {
            (true, true) => "a-h1-8".to_string(),
            _ => pieces + &squares,
        };
        Term::leaf(Ty::Set, text)
    }

    fn pieces(&mut self) -> String {
        const LETTERS: [&str; 15] =
            ["K", "Q", "R", "B", "N", "P", "k", "q", "r", "b", "n", "p", "A", "a", "_"];
        const FIGURINES: [&str; 16] =
            ["♔", "♕", "♖", "♗", "♘", "♙", "♚", "♛", "♜", "♝", "♞", "♟", "△", "▲", "◭", "□"];
        match self.rng.below(20) {
            0 => String::new(),
            1..=11 => self.rng.pick(&LETTERS).to_string(),
            12..=17 => {
                let count = self.rng.within(2, 4);
                let list: String = (0..count).map(|_| *self.rng.pick(&LETTERS)).collect();
                format!("[{list}]")
            }
            _ => {
                let mut symbols = FIGURINES;
                self.rng.shuffle(&mut symbols);
                symbols[..self.rng.within(1, 3) as usize].concat()
            }
        }
    }

    fn squares(&mut self) -> String {
        match self.rng.below(20) {
            0..=5 => String::new(),
            6..=17 => self.square_range(),
            _ => {
                let count = self.rng.within(1, 3);
                let list: Vec<String> = (0..count).map(|_| self.square_range()).collect();
                format!("[{}]", list.join(","))
            }
        }
    }

    fn square_range(&mut self) -> String {
        let mut axis = |first: u8| {
            let (a, b) = match self.rng.below(8) {
                0 | 1 => (0, 7),
                2..=5 => {
                    let k = self.rng.below(8) as u8;
                    (k, k)
                }
                _ => (self.rng.below(8) as u8, self.rng.below(8) as u8),
            };
            let (lo, hi) = ((first + a.min(b)) as char, (first + a.max(b)) as char);
            if lo == hi { lo.to_string() } else { format!("{lo}-{hi}") }
        };
        let files = axis(b'a');
        files + &axis(b'1')
    }

    fn direction(&mut self) -> &'static str {
        let words = directions();
        words[self.rng.below(words.len())]
    }

    pub fn set(&mut self, depth: usize) -> Term {
        if let Some(term) = self.shared(Ty::Set, depth) {
            return term;
        }
        if depth == 0 || self.rng.percent(25) {
            return match self.rng.below(20) {
                0 => Term::leaf(Ty::Set, "."),
                1 => Term::leaf(Ty::Set, "[]"),
                2 => Term::leaf(Ty::Set, "makesquare \"e4\""),
                3 | 4 => Term::leaf(Ty::Set, *self.rng.pick(leaves(WordValue::Squares))),
                5 => self.variable(Ty::Set).unwrap_or_else(|| self.designator()),
                _ => self.designator(),
            };
        }
        let d = depth - 1;
        match self.rng.below(26) {
            0 | 1 => self.binary_set("|", d),
            2..=4 => self.binary_set("&", d),
            5 => Term::new(Ty::Set, "~@", vec![self.set(d)]),
            6 | 7 => self.binary_set("attacks", d),
            8 => self.binary_set("->", d),
            9 => self.binary_set("<-", d),
            10 => {
                let word = *self.rng.pick(&["attackedby", "attacked by"]);
                self.binary_set(word, d)
            }
            11 | 12 => self.chain(d),
            13 => Term::new(Ty::Set, "between(@ @)", vec![self.set(d), self.set(d)]),
            14 | 15 => self.ray(d),
            16 | 17 => self.pin(d),
            18 | 19 => self.step(d),
            20 if !self.turned => {
                let word = *self.rng.pick(&["light", "dark"]);
                Term::new(Ty::Set, format!("{word} @"), vec![self.set(d)])
            }
            21 => Term::new(Ty::Set, "makesquare(@ @)", vec![self.num(d), self.num(d)]),
            22 | 23 => self.square_loop(false, d),
            _ => self.legal(false, d),
        }
    }

    fn binary_set(&mut self, sign: &str, d: usize) -> Term {
        let subs = vec![self.set(d), self.set(d)];
        Term::new(Ty::Set, format!("(@ {sign} @)"), subs)
    }

    fn chain(&mut self, d: usize) -> Term {
        let sign = if self.rng.percent(50) { "->" } else { "<-" };
        let subs: Vec<Term> = (0..self.rng.within(3, 4)).map(|_| self.set(d)).collect();
        let template = vec!["@"; subs.len()].join(&format!(" {sign} "));
        Term::new(Ty::Set, format!("({template})"), subs)
    }

    fn ray(&mut self, d: usize) -> Term {
        let mut words = String::from(*self.rng.pick(&["ray", "xray", "ray attack"]));
        if self.rng.percent(50) {
            words += " ";
            words += self.direction();
        } else if self.rng.percent(20) {
            words += " up southeast left";
        }
        let subs: Vec<Term> = (0..self.rng.within(2, 4)).map(|_| self.set(d)).collect();
        Term::new(Ty::Set, format!("{words}({})", vec!["@"; subs.len()].join(" ")), subs)
    }

    fn pin(&mut self, d: usize) -> Term {
        let mut parts = ["from", "through", "to"];
        self.rng.shuffle(&mut parts);
        let count = self.rng.below(4);
        let mut template = String::from("pin");
        let mut subs = Vec::new();
        for part in &parts[..count] {
            template += &format!(" {part} @");
            subs.push(self.set(d));
        }
        Term::new(Ty::Set, format!("({template})"), subs)
    }

    fn step(&mut self, d: usize) -> Term {
        let word = self.direction();
        let range = match self.rng.below(5) {
            0 => String::new(),
            1 => format!(" {}", self.bound(-7, 7)),
            2 if self.variable(Ty::Num).is_some() => {
                format!(" {} {}", self.bound(-3, 2), self.bound(2, 7))
            }
            _ => {
                let (a, b) = (self.rng.within(-3, 7), self.rng.within(-3, 7));
                format!(" {} {}", a.min(b), a.max(b))
            }
        };
        Term::new(Ty::Set, format!("{word}{range} @"), vec![self.set(d)])
    }

    fn square_loop(&mut self, all: bool, d: usize) -> Term {
        let domain = self.set(d);
        self.names += 1;
        let name = format!("s{}", self.names);
        let known = self.scope.len();
        self.scope.push((name.clone(), Ty::Set));
        // The body can assign outer variables, but not the loop variable, which would be useless.
        let mut body = self.any(d);
        if known > 0 && self.rng.percent(35) {
            let own = self.scope.pop().expect("it was put there above");
            let assignment = self.reassign(d.min(1));
            self.scope.push(own);
            body = Term::new(Ty::Bool, "{@ @}", vec![assignment, body]);
        }
        self.scope.truncate(known);
        let ty = if all { Ty::Bool } else { Ty::Set };
        let template = match (all, self.rng.percent(30)) {
            (false, false) => format!("(square {name} in @ @)"),
            (false, true) => format!("({name}∊@ @)"),
            (true, false) => format!("(square all {name} in @ @)"),
            (true, true) => format!("(∀{name}∊@ @)"),
        };
        Term::new(ty, template, vec![domain, body])
    }

    fn legal(&mut self, count: bool, d: usize) -> Term {
        let word = *self.rng.pick(&["legal", "pseudolegal"]);
        let word = if count { format!("countmoves {word}") } else { word.to_string() };
        let special = *self.rng.pick(&["", "", "(castle)", "(o-o)", "(o-o-o)", "(enpassant)"]);
        let ty = if count { Ty::Num } else { Ty::Set };
        match self.rng.below(4) {
            0 => Term::leaf(ty, format!("({word} --{special})")),
            1 => {
                let from = self.set(d);
                Term::new(ty, format!("({word} @--{special})"), vec![from])
            }
            2 => {
                let to = self.designator();
                Term::new(ty, format!("({word} --@{special})"), vec![to])
            }
            _ => {
                let subs = vec![self.set(d), self.designator()];
                Term::new(ty, format!("({word} @--@{special})"), subs)
            }
        }
    }

    // ---- numbers

    pub fn num(&mut self, depth: usize) -> Term {
        if let Some(term) = self.shared(Ty::Num, depth) {
            return term;
        }
        if depth == 0 || self.rng.percent(15) {
            return match self.rng.below(12) {
                0..=3 => {
                    let value = match self.rng.below(12) {
                        0 => *self.rng.pick(&[2_147_483_647, -2_147_483_647, 46_341, 65_536]),
                        _ => self.rng.within(-3, 20),
                    };
                    Term::leaf(Ty::Num, if value < 0 { format!("({value})") } else { value.to_string() })
                }
                4 => self.variable(Ty::Num).unwrap_or_else(|| Term::leaf(Ty::Num, "2")),
                5 | 6 => Term::leaf(Ty::Num, *self.rng.pick(&["elo", "(elo white)", "(elo black)", "(1/0)"])),
                _ => Term::leaf(Ty::Num, *self.rng.pick(leaves(WordValue::Number))),
            };
        }
        let d = depth - 1;
        match self.rng.below(25) {
            0..=3 => Term::new(Ty::Num, "#@", vec![self.set(d)]),
            4 => Term::new(Ty::Num, "(power @)", vec![self.set(d)]),
            5 => Term::leaf(Ty::Num, format!("(similar \"{}\")", self.rng.pick(&BOARDS))),
            6..=9 => {
                let word = *self.rng.pick(&["rank", "file", "type", "colortype"]);
                let set = if self.rng.percent(50) { self.single(d) } else { self.set(d) };
                Term::new(Ty::Num, format!("({word} @)"), vec![set])
            }
            10..=13 => {
                let sign = *self.rng.pick(&["+", "-", "*", "/", "%"]);
                let subs = vec![self.num(d), self.num(d)];
                Term::new(Ty::Num, format!("(@ {sign} @)"), subs)
            }
            14 => Term::new(Ty::Num, "(- @)", vec![self.num(d)]),
            15 => Term::new(Ty::Num, "(abs @)", vec![self.num(d)]),
            16 => Term::new(Ty::Num, "(sqrt @)", vec![self.num(d)]),
            17 | 18 => {
                let word = *self.rng.pick(&["max", "min"]);
                let subs: Vec<Term> = (0..self.rng.within(2, 4)).map(|_| self.num(d)).collect();
                Term::new(Ty::Num, format!("{word}({})", vec!["@"; subs.len()].join(" ")), subs)
            }
            19 | 20 => self.comparison(&["==", "<", "<=", ">", ">="], d),
            21 | 22 => self.find(true, d),
            _ => self.legal(true, d),
        }
    }

    /// Returns a set that often has exactly one square.
    fn single(&mut self, d: usize) -> Term {
        match self.rng.below(4) {
            0 => Term::leaf(Ty::Set, *self.rng.pick(&["K", "k", "Q"])),
            1 if !self.turned => {
                let (file, rank) = (self.rng.below(8) as u8, self.rng.below(8) as u8);
                let square = format!("{}{}", (b'a' + file) as char, (b'1' + rank) as char);
                Term::leaf(Ty::Set, square)
            }
            2 => self.variable(Ty::Set).unwrap_or_else(|| self.set(d)),
            _ => Term::leaf(Ty::Set, "makesquare(3 4)"),
        }
    }

    fn comparison(&mut self, signs: &[&str], d: usize) -> Term {
        let sign = *self.rng.pick(signs);
        let left = if self.rng.percent(15) { self.set(d) } else { self.num(d) };
        let right = match self.rng.below(3) {
            0 => self.num(d),
            1 if self.rng.percent(30) => self.comparison(&["==", "<", ">="], d.saturating_sub(1)),
            _ => Term::leaf(Ty::Num, self.rng.within(0, 8).to_string()),
        };
        // Sets can be compared only for equality, so their sizes are compared instead.
        let left = if left.ty == Ty::Set && right.ty == Ty::Set {
            Term::new(Ty::Num, "#@", vec![left])
        } else {
            left
        };
        let ty = if sign == "!=" { Ty::Bool } else { Ty::Num };
        Term::new(ty, format!("(@ {sign} @)"), vec![left, right])
    }
}
