//! Names of players, however they are spelt.
//!
//! `Carlsen,M`, `Carlsen, M.`, `Carlsen, Magnus` and `Magnus Carlsen` are spellings of one name. A name has a surname, which
//! must be the same, and given names, of which each may be an initial. That two people can share a spelling no rule can
//! settle: whoever asks is told which spellings were taken together.

use std::fmt;
use std::str::FromStr;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A name to look for.
///
/// Case, accents, points, apostrophes, and hyphens as opposed to blanks do not count. In a name with a comma the surname
/// stands before it; in one without, it may be the last words or the first, but words that a hyphen joins are not parted.
/// Particles such as `van` may stand before the surname or behind the given names. Given names are compared word by word:
/// one letter or two stand for all words that begin with them, two or three capitals (`LD`) are initials, and what one of both
/// does not have is passed over. A name without given names finds all of that surname; a name with given names finds none
/// without.
///
/// ```
/// use orbit_chess::internals::game::PlayerName;
///
/// let name: PlayerName = "Carlsen, Magnus".parse()?;
/// let fits = ["Carlsen,M", "Carlsen, M.", "Magnus Carlsen", "CARLSEN, Magnus Oen"];
/// assert!(fits.iter().all(|spelling| name.fits(spelling)));
/// assert!(!["Carlsen", "Carlsen, H", "Carlsen, Mats"].iter().any(|spelling| name.fits(spelling)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlayerName {
    text: String,
    forms: Vec<Form>,
}

/// One way to read a name.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Form {
    surname: Vec<String>,
    given: Vec<String>,
}

/// A name without a letter.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is no name; write a name such as `Carlsen`, `Carlsen, M` or `Magnus Carlsen`")]
pub struct NoName(String);

impl FromStr for PlayerName {
    type Err = NoName;

    fn from_str(text: &str) -> Result<PlayerName, NoName> {
        let forms = forms(text);
        match forms.is_empty() {
            true => Err(NoName(text.to_owned())),
            false => Ok(PlayerName { text: text.trim().to_owned(), forms }),
        }
    }
}

impl fmt::Display for PlayerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PlayerName {
    /// Whether a spelling can be of this name.
    pub fn fits(&self, spelling: &str) -> bool {
        let theirs = forms(spelling);
        self.forms.iter().any(|ours| theirs.iter().any(|theirs| ours.finds(theirs)))
    }
}

impl Form {
    fn finds(&self, other: &Form) -> bool {
        let is_given = self.given.is_empty() || !other.given.is_empty();
        let mut pairs = self.given.iter().zip(&other.given);
        self.surname == other.surname && is_given && pairs.all(|(a, b)| is_same_word(a, b))
    }
}

/// The most letters of a given name that stand for all names that begin with them.
const ABBREVIATION_MAX: usize = 2;

/// Words that belong to a surname wherever they stand.
const PARTICLES: [&str; 24] = [
    "af", "al", "av", "bin", "da", "de", "del", "della", "den", "der", "di", "do", "dos", "du", "el", "la",
    "le", "ten", "ter", "van", "vande", "vom", "von", "zu",
];

fn is_same_word(a: &str, b: &str) -> bool {
    let is_short =
        |short: &str, long: &str| short.chars().count() <= ABBREVIATION_MAX && long.starts_with(short);
    a == b || is_short(a, b) || is_short(b, a)
}

fn forms(text: &str) -> Vec<Form> {
    let text = without_brackets(text);
    match text.split_once(',') {
        Some((surname, given)) if !words(surname).is_empty() => {
            let (surname, mut given) = (words(surname), given_names(given, surname));
            let behind = given.iter().rposition(|word| !PARTICLES.contains(&word.as_str()));
            let particles = given.split_off(behind.map_or(given.len(), |last| last + 1));
            vec![Form { surname: [particles, surname].concat(), given }]
        }
        Some((_, names)) => all_forms(names),
        None => all_forms(&text),
    }
}

/// All readings of names in any order: the surname is the last ones or the first ones.
fn all_forms(text: &str) -> Vec<Form> {
    let names: Vec<&str> = text.split_whitespace().filter(|name| !words(name).is_empty()).collect();
    let form = |surname: &[&str], given: &[&str]| {
        let (surname, given) = (surname.join(" "), given.join(" "));
        Form { surname: words(&surname), given: given_names(&given, &surname) }
    };
    let cut = |at: usize| {
        let (first, last) = names.split_at(at);
        [form(last, first), form(first, last)]
    };
    match &names[..] {
        [] => Vec::new(),
        names => std::iter::once(form(names, &[])).chain((1..names.len()).flat_map(cut)).collect(),
    }
}

/// The words of given names. Capitals that are run together are initials, unless the surname is of capitals as well.
fn given_names(text: &str, surname: &str) -> Vec<String> {
    let has_small = surname.chars().any(char::is_lowercase);
    let parted = text.split_whitespace().map(|name| {
        let is_run =
            has_small && (2..=3).contains(&name.chars().count()) && name.chars().all(char::is_uppercase);
        if is_run { name.chars().map(|letter| format!("{letter} ")).collect() } else { name.to_owned() }
    });
    words(&parted.collect::<Vec<String>>().join(" "))
}

/// Titles, countries and the like behind a name: `(wh)`, `(NOR)`.
fn without_brackets(text: &str) -> String {
    let mut depth = 0_u32;
    let keeps = |letter: &char| {
        let before = depth;
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        before == 0 && depth == 0
    };
    text.chars().filter(keeps).collect()
}

fn words(text: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    for letter in text.nfd().filter(|letter| !is_combining_mark(*letter)).flat_map(char::to_lowercase) {
        let last = out.last_mut().expect("there is always a word");
        match letter {
            '\'' | '\u{2019}' | '`' => {}
            'ø' => last.push('o'),
            'ł' => last.push('l'),
            'đ' | 'ð' => last.push('d'),
            'ı' => last.push('i'),
            'ß' => last.push_str("ss"),
            'æ' => last.push_str("ae"),
            'œ' => last.push_str("oe"),
            letter if letter.is_alphanumeric() || letter == '_' => last.push(letter),
            _ if last.is_empty() => {}
            _ => out.push(String::new()),
        }
    }
    out.retain(|word| !word.is_empty());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_are_told_apart_by_surname_and_initials() {
        for (name, fits, others) in [
            (
                "Carlsen, Magnus",
                &["Carlsen,M", "carlsen, m.", "Magnus Carlsen", "Carlsen Magnus", "Carlsen,Magnus (NOR)"][..],
                &["Carlsen", "Carlsen,H", "Carlsen, Mats", "Karlsen, M", "Magnusson, Carl", "", "?"][..],
            ),
            ("Carlsen", &["Carlsen,M", "Carlsen", "Carlsen, Henrik", "Henrik Carlsen"], &["Carlsson, M"]),
            ("carlsen m", &["Carlsen,M", "Carlsen, Mats", "Magnus Carlsen"], &["Carlsen,H"]),
            (
                "Vachier Lagrave, M.",
                &["Vachier-Lagrave, Maxime", "Vachier Lagrave,M", "Maxime Vachier-Lagrave"],
                &["Lagrave, M", "Vachier, M"],
            ),
            ("Jorden van Foreest", &["Van Foreest, Jorden", "Van Foreest,J"], &["Van Foreest, Lucas"]),
            ("Müller, Karsten", &["Muller,K", "MÜLLER, Karsten"], &["Müller"]),
            ("O'Kelly", &["OKelly, A", "O\u{2019}Kelly, Alberic"], &["Kelly, O"]),
            (
                "Kramnik, V.B.",
                &["Kramnik, Vladimir", "Kramnik,V", "Kramnik, Vladimir B"],
                &["Kramnik, Boris"],
            ),
            ("Nimzowitsch", &["Nimzowitsch, Aron"], &["Nimzovich, A"]),
            (
                "Nakamura, Hikaru",
                &["Nakamura,Hi", "Nakamura,H"],
                &["Nakamura,Ha", "Nakamura, Hik", "Nakamura,Hiro"],
            ),
            ("Nakamura,Hi", &["Nakamura, Hikaru", "Nakamura,H", "Nakamura, Hiroshi"], &["Nakamura, Haru"]),
            (
                "Nisipeanu, Liviu-Dieter",
                &["Nisipeanu,LD", "Nisipeanu, L.-D.", "Nisipeanu,L", "LD Nisipeanu", "NISIPEANU, Liviu"],
                &["Nisipeanu,DL", "Nisipeanu,LE", "NISIPEANU, LD"],
            ),
            (
                "Van Foreest, Jorden",
                &["Foreest, Jorden van", "Jorden van Foreest", "van Foreest,J"],
                &["Foreest, Jorden", "Foreest, J", "Foreest, Lucas van"],
            ),
            ("king-pawn", &["King-Pawn", "king pawn", "King Pawn"], &["pawn-king", "pawn, king"]),
            (
                "Vachier-Lagrave",
                &["Vachier Lagrave, M", "Maxime Vachier-Lagrave"],
                &["Lagrave-Vachier", "Lagrave, Vachier"],
            ),
        ] {
            let name: PlayerName = name.parse().unwrap();
            let fitting: Vec<_> = fits.iter().filter(|spelling| !name.fits(spelling)).collect();
            let wrong: Vec<_> = others.iter().filter(|spelling| name.fits(spelling)).collect();
            assert_eq!((fitting, wrong), (vec![], vec![]), "{name}");
        }
        for none in ["", " ", "?", ",", "(x)"] {
            assert!(none.parse::<PlayerName>().is_err(), "{none}");
        }
    }
}
