//! Every way to run a query: the engines, and `cpu` without its optimisations.

use orbit_chess::{
    engine::{Answer, Engine, Hits, Job, Values, Want, reference::Bulk},
    plan::Options,
    query::{self, Query, Type},
    reel::Block,
};
use shakmaty::Bitboard;

/// One way to run a query.
#[derive(Clone, Debug)]
pub struct Runner {
    pub name: String,
    /// `None`: the reference engine.
    options: Option<Options>,
}

/// The name of an optimisation, and what turns it off.
type Switch = (&'static str, fn(&mut Options));

/// The optimisations, each with the switch that turns it off.
pub const OPTIMISATIONS: [Switch; 5] = [
    ("anchors", |options| options.anchors = false),
    ("grids", |options| options.grids = false),
    ("tables", |options| options.tables = false),
    ("sharing", |options| options.sharing = false),
    ("simplify", |options| options.simplify = false),
];

/// Options without those optimisations whose bits are set.
pub fn without(mask: u32) -> Options {
    let mut options = Options::default();
    for (index, (_, switch_off)) in OPTIMISATIONS.iter().enumerate() {
        if mask >> index & 1 != 0 {
            switch_off(&mut options);
        }
    }
    options
}

impl Runner {
    pub fn reference() -> Runner {
        Runner { name: "reference".into(), options: None }
    }

    /// `cpu` without those optimisations whose bits are set.
    pub fn cpu(mask: u32) -> Runner {
        let off = OPTIMISATIONS.iter().enumerate().filter(|(index, _)| mask >> index & 1 != 0);
        let name = off.fold(String::from("cpu"), |name, (_, (off, _))| format!("{name} -{off}"));
        Runner { name, options: Some(without(mask)) }
    }

    /// The engines as users run them.
    pub fn engines() -> Vec<Runner> {
        vec![Runner::reference(), Runner::cpu(0)]
    }

    /// The engines, and `cpu` with each optimisation alone, each pair and all switched off.
    pub fn all() -> Vec<Runner> {
        let mut out = Runner::engines();
        out.extend((1..32u32).filter(|mask| mask.count_ones() <= 2 || *mask == 31).map(Runner::cpu));
        out
    }

    /// `cpu` with each optimisation alone and all switched off.
    pub fn reduced() -> Vec<Runner> {
        [1, 2, 4, 8, 16, 31].map(Runner::cpu).to_vec()
    }

    /// An engine for a query, or why there is none.
    pub fn engine(&self, query: &Query) -> Result<Box<dyn Engine>, String> {
        Ok(match self.options {
            None => Box::new(Bulk::new(query).map_err(|error| error.to_string())?),
            Some(options) => Box::new(Job::new(query.clone(), options).map_err(|e| e.to_string())?.cpu()),
        })
    }

    /// The value of a query at every slot of a block.
    pub fn answers(&self, text: &str, block: &Block) -> Result<Vec<Answer>, String> {
        let query = query::parse(text).map_err(|error| error.to_string())?.query;
        let hits = self.engine(&query)?.scan(block, Want::Values).map_err(|error| error.to_string())?;
        Ok((0..block.slots()).map(|slot| answer(&hits, slot, query.body.ty)).collect())
    }
}

/// The value at one slot.
pub fn answer(hits: &Hits, slot: usize, ty: Type) -> Answer {
    let hit = hits.contains(slot);
    match &hits.values {
        Values::Sets(sets) => {
            assert_eq!(sets[slot] != 0, hit, "a set is a hit if it has a square");
            Answer::Set(Bitboard(sets[slot]))
        }
        Values::Numbers(numbers) => Answer::Num(hit.then_some(numbers[slot])),
        Values::None => {
            assert!(matches!(ty, Type::Bool | Type::Str), "no values came back");
            Answer::Bool(hit)
        }
    }
}

/// Prints an answer as the tables do, in the reading `bool`, `set` or `num`.
pub fn print(answer: Answer, reading: &str) -> String {
    match (reading, answer) {
        ("bool", answer) => if answer.is_hit() { "T" } else { "F" }.into(),
        ("set", Answer::Set(squares)) => {
            let names: Vec<String> = squares.into_iter().map(|square| square.to_string()).collect();
            if names.len() > 1 { format!("[{}]", names.join(",")) } else { names.concat() }
        }
        ("num", Answer::Num(Some(value))) => value.to_string(),
        ("num", Answer::Num(None)) => "nomatch".into(),
        (reading, answer) => format!("{answer:?} where {reading} is expected"),
    }
}

/// The reading of an answer's own type.
pub fn reading(answer: Answer) -> &'static str {
    match answer {
        Answer::Bool(_) => "bool",
        Answer::Set(_) => "set",
        Answer::Num(_) => "num",
    }
}
