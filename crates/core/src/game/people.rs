//! Merges the spellings in a table of names into players, by the rules of `names`, FIDE numbers, and games between two of the
//! names.
//!
//! Two spellings *fit* each other if they may belong to one player, by the rule of [`PlayerName`](super::PlayerName). A table of
//! all names can rule out some of these matches. For example, `Adams, M` fits both `Adams, Michael` and `Adams, Mark`. If both are
//! in the table, `Adams, M` cannot be assigned to either. So a spelling is merged with others only if all spellings that fit it
//! also fit each other. The result depends only on the names in the table, not on the order of its rows.
//!
//! A surname alone, such as `Adams`, neither fits nor contradicts a name without a comma, such as `Michael Adams`: both may fit
//! `Adams, Michael`, which is then merged with both. But if the table also has `Mark Adams`, `Adams` is not merged.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};
use serde::{Deserialize, Serialize};

use super::names::{NameForm, NameLikeness, forms, is_surname_alone, likeness};

/// One spelling of a name, together with the FIDE number that the games state for it, if any.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Mention {
    /// The name, as spelt.
    pub name: String,
    /// The FIDE number, if one is known.
    pub number: Option<u32>,
}

/// The maximum number of names with the same surname, initial and digits to compare with each other. If there are more, none of them
/// are merged.
const ALIKE_MAX: usize = 4_000;

/// Returns the player's name for each mention. `mentions` maps each mention to its number of games. `have_met` returns whether two
/// names played each other; if so, they are two players.
///
/// * Mentions with different FIDE numbers are different players. Mentions with the same number are one player if their spellings
///   share a word and did not play each other.
/// * A mention without a number is merged with others if all mentions that fit it also fit each other.
/// * The name of a player is the spelling with the most games; spellings with a full given name are preferred. If two players
///   have the same name, the FIDE number is added in parentheses.
pub fn who_is_who(
    mentions: &BTreeMap<Mention, u64>,
    have_met: impl Fn(&str, &str) -> bool,
) -> HashMap<Mention, String> {
    let rows: Vec<(&Mention, u64)> = mentions.iter().map(|(mention, games)| (mention, *games)).collect();
    let people = People::new(&rows, &have_met);
    let groups = people.groups(&have_met);
    let labels: Vec<String> = groups.iter().map(|group| people.label(group)).collect();
    let mut bearers: HashMap<&str, usize> = HashMap::new();
    labels.iter().for_each(|label| *bearers.entry(label).or_default() += 1);
    let mut named = HashMap::new();
    for (group, label) in groups.iter().zip(&labels) {
        let number = group.iter().find_map(|&unit| people.units[unit].number);
        let label = match number.filter(|_| bearers[label.as_str()] > 1) {
            Some(number) => format!("{label} (FIDE {number})"),
            None => label.clone(),
        };
        let rows = group.iter().flat_map(|&unit| &people.units[unit].rows);
        named.extend(rows.map(|&row| (people.rows[row].0.clone(), label.clone())));
    }
    named
}

/// Mentions that certainly belong to one player: either all mentions with one FIDE number, or a single mention without a number.
struct PlayerUnit {
    number: Option<u32>,
    rows: Vec<usize>,
}

struct People<'a> {
    rows: &'a [(&'a Mention, u64)],
    /// For each row of `rows`, the readings of its name. A reading divides the name into a surname and given names.
    forms: Vec<Vec<NameForm>>,
    units: Vec<PlayerUnit>,
}

impl<'a> People<'a> {
    fn new(rows: &'a [(&'a Mention, u64)], have_met: &impl Fn(&str, &str) -> bool) -> People<'a> {
        let forms: Vec<Vec<NameForm>> = rows.iter().map(|(mention, _)| forms(&mention.name)).collect();
        let mut units: Vec<PlayerUnit> = Vec::new();
        let mut numbered: HashMap<u32, Vec<usize>> = HashMap::new();
        // If two names with the same number played each other, one of the numbers is wrong, probably that of the rarer name.
        let mut most_games_first: Vec<usize> = (0..rows.len()).collect();
        most_games_first.sort_by_key(|&row| Reverse(rows[row].1));
        for row in most_games_first {
            let Some(number) = rows[row].0.number else {
                units.push(PlayerUnit { number: None, rows: vec![row] });
                continue;
            };
            let of_number = numbered.entry(number).or_default();
            let shares = |&other: &usize| have_word_in_common(&forms[row], &forms[other]);
            let met = |[a, b]: [usize; 2]| have_met(&rows[a].0.name, &rows[b].0.name);
            // If the name in the new row shares a word with names of several units (groups of mentions), these units are merged,
            // even if their names share no word with each other.
            let mut all = vec![row];
            of_number.retain(|&unit| {
                let theirs = &mut units[unit].rows;
                let is_tied = theirs.iter().any(shares)
                    && !all.iter().any(|&ours| theirs.iter().any(|&other| met([ours, other])));
                if is_tied {
                    all.append(theirs);
                }
                !is_tied
            });
            of_number.push(units.len());
            all.sort_unstable();
            units.push(PlayerUnit { number: Some(number), rows: all });
        }
        units.retain(|unit| !unit.rows.is_empty());
        units.sort_by_key(|unit| unit.rows[0]);
        People { rows, forms, units }
    }

    /// Returns the players, each as a list of indices into `units`.
    fn groups(&self, have_met: &impl Fn(&str, &str) -> bool) -> Vec<Vec<usize>> {
        let candidates = self.candidates();
        let fits: HashSet<[usize; 2]> =
            candidates.iter().copied().filter(|pair| self.fit(*pair, have_met)).collect();
        let open: HashSet<[usize; 2]> = candidates
            .into_iter()
            .filter(|pair| !fits.contains(pair) && self.is_open(*pair, have_met))
            .collect();
        let mut fitting: Vec<Vec<usize>> = vec![Vec::new(); self.units.len()];
        for &[a, b] in &fits {
            fitting[a].push(b);
            fitting[b].push(a);
        }
        // A unit (a group of mentions) is merged only if the units that might be the same player agree with each other. `compared`
        // lists these for each unit: the units that fit it and, if it is a surname alone, also the units whose names have no comma.
        let mut compared = fitting.clone();
        for &[a, b] in &open {
            let (bare, other) = if self.is_bare(a) { (a, b) } else { (b, a) };
            compared[bare].push(other);
        }
        let is_in = |pairs: &HashSet<[usize; 2]>, a: usize, b: usize| pairs.contains(&[a.min(b), a.max(b)]);
        let fit = |a: usize, b: usize| is_in(&fits, a, b) || is_in(&open, a, b);
        // A unit (a group of mentions) with a FIDE number may have spellings that do not resemble each other, such as two
        // transcriptions. So two units that fit it need not fit each other, but must not contradict each other.
        let agree = |unit: usize, a: usize, b: usize| {
            fit(a, b) || self.units[unit].number.is_some() && !self.contradict([a, b], have_met)
        };
        let is_settled: Vec<bool> = compared
            .iter()
            .enumerate()
            .map(|(unit, others)| {
                let mut rest = others.iter().enumerate();
                rest.all(|(at, &a)| others[at + 1..].iter().all(|&b| agree(unit, a, b)))
            })
            .collect();
        let mut is_taken = vec![false; self.units.len()];
        let mut groups = Vec::new();
        for unit in 0..self.units.len() {
            if std::mem::replace(&mut is_taken[unit], true) {
                continue;
            }
            let (mut group, mut next) = (vec![unit], 0);
            while let Some(&unit) = group.get(next) {
                next += 1;
                for &other in fitting[unit].iter().filter(|&&other| is_settled[unit] && is_settled[other]) {
                    if !std::mem::replace(&mut is_taken[other], true) {
                        group.push(other);
                    }
                }
            }
            groups.push(group);
        }
        groups
    }

    /// Returns the pairs of units (groups of mentions) to compare: two units that share a surname, if the initials and digits of
    /// their given names are the same or if one of them has no given name.
    fn candidates(&self) -> HashSet<[usize; 2]> {
        let mut surnames: HashMap<String, Vec<(Option<String>, usize)>> = HashMap::new();
        for (unit, PlayerUnit { rows, .. }) in self.units.iter().enumerate() {
            for form in rows.iter().flat_map(|&row| &self.forms[row]) {
                surnames.entry(form.key()).or_default().push((form.given_key(), unit));
            }
        }
        let mut pairs = HashSet::new();
        let mut add = |a: usize, b: usize| {
            if a != b {
                pairs.insert([a.min(b), a.max(b)]);
            }
        };
        for mut alike in surnames.into_values() {
            alike.sort_unstable();
            alike.dedup();
            let bare = alike.partition_point(|(given, _)| given.is_none());
            for same in alike.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() <= ALIKE_MAX) {
                for (at, (_, a)) in same.iter().enumerate() {
                    same[at + 1..].iter().for_each(|(_, b)| add(*a, *b));
                }
            }
            if alike.len() <= ALIKE_MAX {
                for (_, a) in &alike[..bare] {
                    alike[bare..].iter().for_each(|(_, b)| add(*a, *b));
                }
            }
        }
        pairs
    }

    fn fit(&self, pair: [usize; 2], have_met: &impl Fn(&str, &str) -> bool) -> bool {
        let is_same = self.row_pairs(pair).any(|[a, b]| self.forms[a] == self.forms[b]);
        let says = |said| self.row_pairs(pair).any(|[a, b]| likeness(&self.forms[a], &self.forms[b]) == said);
        (is_same || says(NameLikeness::Fit)) && !self.contradict(pair, have_met)
    }

    /// Returns whether one of two units (groups of mentions) is a surname alone, and the other has no comma that shows its surname.
    fn is_open(&self, pair: [usize; 2], have_met: &impl Fn(&str, &str) -> bool) -> bool {
        let mut said = self.row_pairs(pair).map(|[a, b]| likeness(&self.forms[a], &self.forms[b]));
        said.any(|said| said == NameLikeness::Open) && !self.contradict(pair, have_met)
    }

    /// Returns whether the names of a unit (a group of mentions) are surnames alone.
    fn is_bare(&self, unit: usize) -> bool {
        self.units[unit].rows.iter().all(|&row| is_surname_alone(&self.forms[row]))
    }

    fn contradict(&self, pair: [usize; 2], have_met: &impl Fn(&str, &str) -> bool) -> bool {
        let [a, b] = pair.map(|unit| &self.units[unit]);
        let name = |row: usize| self.rows[row].0.name.as_str();
        if a.number.is_some() && b.number.is_some()
            || self.row_pairs(pair).any(|[a, b]| have_met(name(a), name(b)))
        {
            return true;
        }
        let is_same = self.row_pairs(pair).any(|[a, b]| self.forms[a] == self.forms[b]);
        let mut said = self.row_pairs(pair).map(|[a, b]| likeness(&self.forms[a], &self.forms[b]));
        !is_same && said.any(|said| said == NameLikeness::Contradict)
    }

    fn row_pairs(&self, [a, b]: [usize; 2]) -> impl Iterator<Item = [usize; 2]> {
        let (a, b) = (&self.units[a].rows, &self.units[b].rows);
        a.iter().flat_map(move |&ours| b.iter().map(move |&theirs| [ours, theirs]))
    }

    fn label(&self, group: &[usize]) -> String {
        let mut games: BTreeMap<&str, (bool, u64)> = BTreeMap::new();
        for &row in group.iter().flat_map(|&unit| &self.units[unit].rows) {
            let (mention, more) = self.rows[row];
            let of_name = games.entry(&mention.name).or_default();
            of_name.0 = self.forms[row].iter().any(NameForm::is_full);
            of_name.1 += more;
        }
        let best =
            games.into_iter().max_by_key(|(name, (is_full, games))| (*is_full, *games, Reverse(*name)));
        best.map_or(String::new(), |(name, _)| name.to_owned())
    }
}

fn have_word_in_common(ours: &[NameForm], theirs: &[NameForm]) -> bool {
    let words: HashSet<&str> = ours.iter().flat_map(NameForm::words).collect();
    theirs.iter().flat_map(NameForm::words).any(|word| word.chars().count() > 1 && words.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the players that `who_is_who` finds in a table of `names`, each with its spellings. A name with a FIDE number is
    /// written `name#number`. Each name has one more game than the name before it.
    fn players(names: &[&str], met: &[[&str; 2]]) -> Vec<(String, Vec<String>)> {
        let mention = |name: &str| match name.split_once('#') {
            Some((name, number)) => Mention { name: name.into(), number: number.parse().ok() },
            None => Mention { name: name.into(), number: None },
        };
        let rows: BTreeMap<Mention, u64> =
            names.iter().zip(1..).map(|(name, games)| (mention(name), games)).collect();
        let named = who_is_who(&rows, |a, b| met.contains(&[a, b]) || met.contains(&[b, a]));
        assert_eq!(named.len(), names.len());
        let mut players: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for name in names {
            players.entry(named[&mention(name)].clone()).or_default().push((*name).to_owned());
        }
        players.into_iter().collect()
    }

    /// The spellings in a table of names, and the expected players, each with its spellings.
    type People<'a> = (&'a [&'a str], &'a [(&'a str, &'a [&'a str])]);

    #[test]
    fn spellings_are_taken_together_where_all_that_fit_fit_each_other() {
        let table: &[People] = &[
            (
                &["Adams, Michael", "Adams,Mi", "Adams,M", "Adamson, M"],
                &[
                    ("Adams, Michael", &["Adams, Michael", "Adams,Mi", "Adams,M"]),
                    ("Adamson, M", &["Adamson, M"]),
                ],
            ),
            // The table has two given names with this initial, so the bare initial belongs to neither.
            (
                &["Adams, Michael", "Adams,Mi", "Adams,M", "Adams, Mark"],
                &[
                    ("Adams, Mark", &["Adams, Mark"]),
                    ("Adams, Michael", &["Adams, Michael", "Adams,Mi"]),
                    ("Adams,M", &["Adams,M"]),
                ],
            ),
            // A bare surname is merged with full names if they all fit each other (first table), but not if they form two groups
            // (second table).
            (
                &["Anand", "Anand,V", "Anand, Viswanathan"],
                &[("Anand, Viswanathan", &["Anand", "Anand,V", "Anand, Viswanathan"])],
            ),
            (
                &["Carlsen", "Carlsen,M", "Carlsen,H"],
                &[("Carlsen", &["Carlsen"]), ("Carlsen,H", &["Carlsen,H"]), ("Carlsen,M", &["Carlsen,M"])],
            ),
            // Program names and user names have no comma, so the surname is unknown.
            (
                &["Stockfish", "Stockfish 15", "Stockfish 16"],
                &[
                    ("Stockfish", &["Stockfish"]),
                    ("Stockfish 15", &["Stockfish 15"]),
                    ("Stockfish 16", &["Stockfish 16"]),
                ],
            ),
            // A name without a comma is that of the same person as the name with a comma, even if the bare surname also occurs.
            (
                &["Carlsen", "Magnus Carlsen", "Carlsen, Magnus"],
                &[("Carlsen, Magnus", &["Carlsen", "Magnus Carlsen", "Carlsen, Magnus"])],
            ),
            (
                &["Carlsen", "Magnus Carlsen", "Carlsen, Magnus", "Henrik Carlsen"],
                &[
                    ("Carlsen", &["Carlsen"]),
                    ("Carlsen, Magnus", &["Magnus Carlsen", "Carlsen, Magnus"]),
                    ("Henrik Carlsen", &["Henrik Carlsen"]),
                ],
            ),
            (
                &["magnus", "Magnus Carlsen"],
                &[("Magnus Carlsen", &["Magnus Carlsen"]), ("magnus", &["magnus"])],
            ),
            (&["king-pawn", "pawn-king"], &[("king-pawn", &["king-pawn"]), ("pawn-king", &["pawn-king"])]),
        ];
        check(table, &[]);
    }

    #[test]
    fn numbers_decide() {
        let table: &[People] = &[
            (
                &["Smith, John#1", "Smith, John#2"],
                &[("Smith, John (FIDE 1)", &["Smith, John#1"]), ("Smith, John (FIDE 2)", &["Smith, John#2"])],
            ),
            // A mention without a number is assigned to neither of two players with this name.
            (
                &["Smith, John#1", "Smith, John#2", "Smith, John"],
                &[
                    ("Smith, John", &["Smith, John"]),
                    ("Smith, John (FIDE 1)", &["Smith, John#1"]),
                    ("Smith, John (FIDE 2)", &["Smith, John#2"]),
                ],
            ),
            (
                &["Korchnoi, Viktor#3", "Kortschnoj, Viktor#3", "Korchnoi,V", "Kortschnoj,V"],
                &[(
                    "Kortschnoj, Viktor",
                    &["Korchnoi, Viktor#3", "Kortschnoj, Viktor#3", "Korchnoi,V", "Kortschnoj,V"],
                )],
            ),
            // Two names that share no word cannot be one player, so the FIDE number that they share is a mistake.
            (
                &["Anand, V#4", "Carlsen, M#4"],
                &[("Anand, V", &["Anand, V#4"]), ("Carlsen, M", &["Carlsen, M#4"])],
            ),
            (
                &["Adams, Michael#5", "Adams,M#6", "Adams, Michael", "Adams,M"],
                &[
                    ("Adams, Michael (FIDE 5)", &["Adams, Michael#5"]),
                    ("Adams,M (FIDE 6)", &["Adams,M#6"]),
                    ("Adams, Michael", &["Adams, Michael"]),
                    ("Adams,M", &["Adams,M"]),
                ],
            ),
        ];
        check(table, &[]);
    }

    #[test]
    fn nobody_plays_himself() {
        check(
            &[
                (
                    &["Smith,J", "Smith, John"],
                    &[("Smith, John", &["Smith, John"]), ("Smith,J", &["Smith,J"])],
                ),
                // The number of the rarer name is a mistake.
                (
                    &["Smith,J#7", "Smith, J.#7", "Smith, John#7"],
                    &[("Smith, John", &["Smith, J.#7", "Smith, John#7"]), ("Smith,J", &["Smith,J#7"])],
                ),
            ],
            &[["Smith, John", "Smith,J"]],
        );
        check(
            &[(
                &["Smith, John#7", "Smith, John"],
                &[("Smith, John (FIDE 7)", &["Smith, John#7"]), ("Smith, John", &["Smith, John"])],
            )],
            &[["Smith, John", "Smith, John"]],
        );
    }

    #[test]
    fn a_digit_is_in_both_names() {
        check(
            &[(
                &["Engine, J", "Engine, J1", "Engine, J 1"],
                &[("Engine, J", &["Engine, J"]), ("Engine, J 1", &["Engine, J1", "Engine, J 1"])],
            )],
            &[],
        );
    }

    fn check(table: &[People], met: &[[&str; 2]]) {
        for (names, due) in table {
            let mut due: Vec<(String, Vec<String>)> = due
                .iter()
                .map(|(label, names)| ((*label).into(), names.iter().map(|name| (*name).into()).collect()))
                .collect();
            due.sort();
            assert_eq!(players(names, met), due, "{names:?}");
        }
    }
}
