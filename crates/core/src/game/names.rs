//! Decides whether two spellings of a player's name match: rules for surnames, given names, initials, hyphens and accents.
//!
//! `Carlsen,M`, `Carlsen, M.`, `Carlsen, Magnus` and `Magnus Carlsen` are spellings of one name. Two spellings match if their
//! surnames are the same and their given names, which may be abbreviated, do not contradict each other. Two people may share a
//! spelling, and a comparison of two names cannot detect that. So [`super::people`] compares all names in a table, and a search for
//! a name reports the spellings that it merged and that it left out.

use std::fmt;
use std::str::FromStr;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::tags;

/// A player's name to look for.
///
/// Case, accents, periods and apostrophes are ignored, and a hyphen is read as a blank. A letter such as `ü` may be written `u` or
/// `ue`. If the name has a comma, the surname comes before the comma. Without a comma, either the first or the last words may be
/// the surname; words that a hyphen joins are then never divided between the surname and the given names. Particles such as `van`
/// may come before the surname, after it, or after the given names.
///
/// Given names are compared word by word; words that only one name has are ignored. One of two compared words may be an
/// abbreviation of the other. An abbreviation of up to three letters matches all words that begin with it. A longer abbreviation
/// matches only words that are at least three letters longer, so that `Alex` matches `Alexander`, but `Martin` does not match
/// `Martina`. Two or three capitals (`LD`) are initials. A word with a digit, such as the 16 of `Stockfish 16`, must be in both
/// names. A name without given names matches all names with that surname. A name with given names matches no name without given
/// names.
///
/// ```
/// use orbit_core::game::PlayerName;
///
/// let name: PlayerName = "Carlsen, Magnus".parse()?;
/// let fits = ["Carlsen,M", "Carlsen,Mag", "Magnus Carlsen", "CARLSEN, Magnus Oen"];
/// assert!(fits.iter().all(|spelling| name.fits(spelling)));
/// assert!(!["Carlsen", "Carlsen, H", "Carlsen, Mats"].iter().any(|spelling| name.fits(spelling)));
/// assert!(!PlayerName::exact("Carlsen,M")?.fits("Carlsen, M"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlayerName {
    text: String,
    forms: Vec<NameForm>,
    /// True if only the exact spelling `text` matches.
    is_exact: bool,
}

/// One reading of a name: it divides the words into a surname and given names.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct NameForm {
    surname: Vec<String>,
    given: Vec<String>,
    /// True if the name has a comma, which separates the surname from the given names.
    has_comma: bool,
}

/// The relation between two spellings of players' names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NameLikeness {
    /// The two spellings may belong to one player.
    Fit,
    /// One name is a surname alone. The other name has no comma, so its surname is unknown.
    Open,
    /// The surnames are the same, but the given names contradict each other.
    Contradict,
    /// The two spellings have no surname in common.
    Unlike,
}

/// The degree to which a spelling resembles a name that it does not match, in order from the closest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Nearness {
    /// The surnames differ slightly, or the surname of one name is a given name of the other.
    Alike,
    /// The surnames are the same, and one of the names has no given names.
    Bare,
    /// The surnames are the same, but the given names differ.
    Surname,
}

/// The error for a text that is not the name of a player.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is no name; write a name such as `Carlsen`, `Carlsen, M` or `Magnus Carlsen`")]
pub struct NoName(String);

impl FromStr for PlayerName {
    type Err = NoName;

    fn from_str(text: &str) -> Result<PlayerName, NoName> {
        let forms = forms(text);
        match forms.is_empty() {
            true => Err(NoName(text.to_owned())),
            false => Ok(PlayerName { text: text.trim().to_owned(), forms, is_exact: false }),
        }
    }
}

impl fmt::Display for PlayerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PlayerName {
    /// Creates a name that matches only the exact spelling `text`.
    ///
    /// # Errors
    ///
    /// Fails if a tag with this value means that the player is unknown.
    pub fn exact(text: &str) -> Result<PlayerName, NoName> {
        match tags::known_value("White", text.as_bytes()) {
            Some(known) => Ok(PlayerName { text: known.into_owned(), forms: forms(text), is_exact: true }),
            None => Err(NoName(text.to_owned())),
        }
    }

    /// Returns whether the name has a given name.
    pub fn has_given_names(&self) -> bool {
        self.forms.iter().any(|form| !form.given.is_empty())
    }

    /// Returns whether `spelling` matches this name, that is, may mean the same player.
    pub fn fits(&self, spelling: &str) -> bool {
        match self.is_exact {
            true => self.text == spelling,
            false => self.fits_by_rule(&forms(spelling)),
        }
    }

    fn fits_by_rule(&self, theirs: &[NameForm]) -> bool {
        let finds = |ours: &NameForm, theirs: &NameForm| ours.given.is_empty() && theirs.has_surname_of(ours);
        let pairs = self.forms.iter().flat_map(|ours| theirs.iter().map(move |theirs| (ours, theirs)));
        pairs.into_iter().any(|(ours, theirs)| ours.fits(theirs) || finds(ours, theirs))
    }

    /// Returns the degree to which a spelling resembles this name. Returns `None` if the spelling matches the name, or does not
    /// resemble it at all.
    pub fn nearness(&self, spelling: &str) -> Option<Nearness> {
        if self.fits(spelling) {
            return None;
        }
        let theirs = forms(spelling);
        if self.is_exact && self.fits_by_rule(&theirs) {
            return Some(Nearness::Alike);
        }
        self.forms.iter().flat_map(|ours| theirs.iter().filter_map(|theirs| ours.nearness(theirs))).min()
    }
}

/// Returns whether two spellings may belong to one player, by the rule of [`PlayerName`].
pub fn are_alike(one: &str, other: &str) -> bool {
    likeness(&forms(one), &forms(other)) == NameLikeness::Fit
}

/// Compares two spellings. Each is given by all its readings, which divide the name into a surname and given names. A name without
/// given names fits a name with given names only if the latter has a comma, since only a comma shows which words are the surname.
pub(super) fn likeness(ours: &[NameForm], theirs: &[NameForm]) -> NameLikeness {
    let bare = |bare: &NameForm, other: &NameForm| {
        bare.given.is_empty() && other.has_comma && other.has_surname_of(bare)
    };
    let has_surname_alone = is_surname_alone(ours) || is_surname_alone(theirs);
    let pairs = || ours.iter().flat_map(|ours| theirs.iter().map(move |theirs| (ours, theirs)));
    if pairs().any(|(a, b)| a.fits(b) || bare(a, b) || bare(b, a)) {
        NameLikeness::Fit
    } else if !pairs().any(|(a, b)| a.has_surname_of(b)) {
        NameLikeness::Unlike
    } else if has_surname_alone {
        NameLikeness::Open
    } else {
        NameLikeness::Contradict
    }
}

/// Returns whether a name can only be a surname. `forms` contains all its readings, which divide the name into a surname and given
/// names.
pub(super) fn is_surname_alone(forms: &[NameForm]) -> bool {
    forms.iter().all(|form| form.given.is_empty())
}

impl NameForm {
    /// Returns the surname without blanks, for use as a key in a table of names.
    pub(super) fn key(&self) -> String {
        self.surname.concat()
    }

    /// Returns the first letter of the first given name, followed by all digits in the given names, for use as a key in a table of
    /// names: given names that match have the same key. Returns `None` if there are no given names.
    pub(super) fn given_key(&self) -> Option<String> {
        let initial = self.given.first()?.chars().take(1);
        let digits = self.given.iter().flat_map(|word| word.chars()).filter(|letter| letter.is_numeric());
        Some(initial.chain(digits).collect())
    }

    /// Returns whether the first given name is probably not abbreviated: it has more than three letters.
    pub(super) fn is_full(&self) -> bool {
        self.given.first().is_some_and(|word| word.chars().count() > CUT_MAX)
    }

    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.surname.iter().chain(&self.given).map(String::as_str)
    }

    /// Returns whether the surnames of two forms (readings of a name) are the same. If both names have given names, blanks within
    /// the surnames are ignored.
    fn has_surname_of(&self, other: &NameForm) -> bool {
        let have_given = !self.given.is_empty() && !other.given.is_empty();
        self.surname == other.surname
            || have_given
                && self
                    .surname
                    .iter()
                    .flat_map(|w| w.chars())
                    .eq(other.surname.iter().flat_map(|w| w.chars()))
    }

    /// Returns whether two forms (readings of a name as surname and given names) match. This requires given names in both or in
    /// neither.
    fn fits(&self, other: &NameForm) -> bool {
        self.given.is_empty() == other.given.is_empty()
            && self.has_surname_of(other)
            && self.has_given_of(other)
    }

    /// Returns whether the given names of two forms (readings of a name) do not contradict each other.
    fn has_given_of(&self, other: &NameForm) -> bool {
        let (ours, theirs) = (&self.given, &other.given);
        let more = ours.iter().skip(theirs.len()).chain(theirs.iter().skip(ours.len()));
        let are_words = ours.iter().zip(theirs).all(|(a, b)| is_same_word(a, b));
        are_words && !more.into_iter().any(|word| has_digit(word)) || ours.concat() == theirs.concat()
    }

    fn nearness(&self, other: &NameForm) -> Option<Nearness> {
        if self.has_surname_of(other) {
            let is_bare = self.given.is_empty() || other.given.is_empty();
            return Some(if is_bare { Nearness::Bare } else { Nearness::Surname });
        }
        let (ours, theirs) = (self.key(), other.key());
        let is_turned = || ours == other.given.concat() && theirs == self.given.concat();
        let is_given = || self.given.is_empty() || !other.given.is_empty() && self.has_given_of(other);
        (is_given() && (is_slip(&ours, &theirs) || self.shares_word(other)) || is_turned())
            .then_some(Nearness::Alike)
    }

    /// Returns whether the surnames of two forms (readings of a name) share a word that is not a particle, as in `Vallejo Pons` and
    /// `Vallejo`.
    fn shares_word(&self, other: &NameForm) -> bool {
        let is_telling =
            |word: &&String| word.chars().count() > CUT_MAX && !PARTICLES.contains(&word.as_str());
        self.surname.iter().filter(is_telling).any(|word| other.surname.contains(word))
    }
}

/// The limits for misspelt surnames. Each row is a minimum length that both names must have, and the maximum number of edits
/// between them.
const SLIPS: [(usize, usize); 2] = [(8, 2), (5, 1)];

fn is_slip(ours: &str, theirs: &str) -> bool {
    let (a, b) = (ours.chars().count(), theirs.chars().count());
    let slips = SLIPS.iter().find(|(letters, _)| a.min(b) >= *letters).map_or(0, |(_, slips)| *slips);
    // Names may be arbitrarily long, so names over 64 letters are not compared.
    a.abs_diff(b) <= slips && a.max(b) <= 64 && slips > 0 && strsim::osa_distance(ours, theirs) <= slips
}

/// The maximum length of a short abbreviation, which matches all given names that begin with it.
const CUT_MAX: usize = 3;

/// The minimum number of letters by which an abbreviation longer than `CUT_MAX` must be shorter than the given name.
const CUT_OFF_MIN: usize = 3;

/// Words that belong to the surname wherever they are in the name.
const PARTICLES: [&str; 24] = [
    "af", "al", "av", "bin", "da", "de", "del", "della", "den", "der", "di", "do", "dos", "du", "el", "la",
    "le", "ten", "ter", "van", "vande", "vom", "von", "zu",
];

fn is_same_word(a: &str, b: &str) -> bool {
    let is_cut = |short: &str, long: &str| {
        let (letters, off) =
            (short.chars().count(), long.chars().count().saturating_sub(short.chars().count()));
        (letters <= CUT_MAX || off >= CUT_OFF_MIN) && long.starts_with(short) && !has_digit(long)
    };
    a == b || is_cut(a, b) || is_cut(b, a)
}

fn has_digit(word: &str) -> bool {
    word.contains(|letter: char| letter.is_numeric())
}

/// Returns all readings of a name, which divide it into a surname and given names. A letter with two spellings, such as `ü`, leads
/// to readings with `u` and with `ue`.
pub(super) fn forms(text: &str) -> Vec<NameForm> {
    if text.is_ascii() {
        return forms_of(text);
    }
    let text: String = text.nfc().collect();
    let mut all = forms_of(&text);
    let is_two = |letter: char| TWO_LETTERS.iter().any(|(one, _)| *one == letter);
    if text.contains(is_two) {
        let two = |letter| TWO_LETTERS.iter().find(|(one, _)| *one == letter).map(|(_, two)| *two);
        let mut out = String::new();
        for letter in text.chars() {
            match two(letter) {
                Some(two) => out.push_str(two),
                None => out.push(letter),
            }
        }
        all.extend(forms_of(&out));
    }
    all
}

/// Letters with diacritics, and their spellings with two letters.
const TWO_LETTERS: [(char, &str); 10] = [
    ('ä', "ae"),
    ('ö', "oe"),
    ('ü', "ue"),
    ('å', "aa"),
    ('ø', "oe"),
    ('Ä', "Ae"),
    ('Ö', "Oe"),
    ('Ü', "Ue"),
    ('Å', "Aa"),
    ('Ø', "Oe"),
];

fn forms_of(text: &str) -> Vec<NameForm> {
    let text = without_brackets(text);
    match text.split_once(',') {
        Some((surname, given)) if !words(surname).is_empty() => {
            let (mut surname, mut given) = (words(surname), given_names(given, surname));
            let particles = [split_particles(&mut given), split_particles(&mut surname)].concat();
            vec![NameForm { surname: [particles, surname].concat(), given, has_comma: true }]
        }
        Some((_, names)) => all_forms(names),
        None => all_forms(&text),
    }
}

/// Removes the particles (words such as `van`) at the end of a name and returns them.
fn split_particles(words: &mut Vec<String>) -> Vec<String> {
    let behind = words.iter().rposition(|word| !PARTICLES.contains(&word.as_str()));
    words.split_off(behind.map_or(words.len(), |last| last + 1))
}

/// Returns all readings of a name without a comma: the surname may be the first words or the last words.
fn all_forms(text: &str) -> Vec<NameForm> {
    let names: Vec<&str> = text.split_whitespace().filter(|name| !words(name).is_empty()).collect();
    let form = |surname: &[&str], given: &[&str]| {
        let (surname, given) = (surname.join(" "), given.join(" "));
        NameForm { surname: words(&surname), given: given_names(&given, &surname), has_comma: false }
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

/// Splits given names into words. Two or three capitals in a row are read as initials, unless the surname is also in capitals.
fn given_names(text: &str, surname: &str) -> Vec<String> {
    let has_small = surname.chars().any(char::is_lowercase);
    let parted = text.split_whitespace().map(|name| {
        let run = name.trim_end_matches('.');
        let is_run =
            has_small && (2..=3).contains(&run.chars().count()) && run.chars().all(char::is_uppercase);
        if is_run { run.chars().map(|letter| format!("{letter} ")).collect() } else { name.to_owned() }
    });
    words(&parted.collect::<Vec<String>>().join(" "))
}

/// Removes the parts of a name in parentheses, such as titles and countries: `(wh)`, `(NOR)`.
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
                &["Nakamura,Hi", "Nakamura,H", "Nakamura, Hik", "Hikaru Nakamura"],
                &["Nakamura,Ha", "Nakamura,Hiro"],
            ),
            ("Nakamura,Hi", &["Nakamura, Hikaru", "Nakamura,H", "Nakamura, Hiroshi"], &["Nakamura, Haru"]),
            (
                "Nisipeanu, Liviu-Dieter",
                &[
                    "Nisipeanu,LD",
                    "Nisipeanu, LD.",
                    "Nisipeanu, L.-D.",
                    "Nisipeanu,L",
                    "LD Nisipeanu",
                    "NISIPEANU, Liviu",
                ],
                &["Nisipeanu,DL", "Nisipeanu,LE", "NISIPEANU, LD"],
            ),
            (
                "Van Foreest, Jorden",
                &["Foreest, Jorden van", "Foreest van, Jorden", "Jorden van Foreest", "VanForeest,J"],
                &["Foreest, Jorden", "Foreest, J", "Foreest, Lucas van"],
            ),
            ("king-pawn", &["King-Pawn", "king pawn", "King Pawn"], &["pawn-king", "pawn, king", "kingpawn"]),
            ("Hübner, Robert", &["Huebner,R", "Hubner,R", "Hu\u{308}bner, R."], &["Hibner,R", "Hübner"]),
            ("Huebner,R", &["Hübner, Robert"], &["Hubner, Robert"]),
            ("Aagaard, Jacob", &["Ågård, Jacob"], &[]),
            ("Alexander, Alex", &["Alexander, Alexander", "Alexander,Al"], &["Alexander, Alexa"]),
            ("Smith, Martin", &["Smith, M"], &["Smith, Martina", "Smith, Marti"]),
            ("Stockfish 16", &["Stockfish 16"], &["Stockfish 1", "Stockfish 16.1", "Stockfish"]),
            ("Stockfish", &["Stockfish 16", "Stockfish 16.1"], &["Stock-fish"]),
            ("Li, Chao b", &["Li,C", "Li, Chao", "Li Chao b", "Chao Li"], &["Li, Chao a", "Li Chao2"]),
            ("Yu Yangyi", &["Yu, Yangyi", "Yu, Yang yi"], &["Yu, Yangyu"]),
            ("Li, Di", &["Li,D", "Di Li"], &["Di Li, X", "Li, Da"]),
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
        for (name, spelling, near) in [
            ("Carlsen, Magnus", "Carlsen,M", None),
            ("Carlsen, Magnus", "Carlsen,H", Some(Nearness::Surname)),
            ("Carlsen, Magnus", "Carlsen", Some(Nearness::Bare)),
            ("Carlsen, Magnus", "Carlson,M", Some(Nearness::Alike)),
            ("Carlsen, Magnus", "Carlson,H", None),
            ("Carlsen, Magnus", "Anand, V", None),
            ("Korchnoi, Viktor", "Kortchnoi,V", Some(Nearness::Alike)),
            ("Vallejo Pons, F", "Vallejo, Francisco", Some(Nearness::Alike)),
            ("Ding, Liren", "Liren, Ding", Some(Nearness::Alike)),
            ("van Foreest, J", "Foreest,J", Some(Nearness::Alike)),
            ("de la Cruz, J", "de la Paz, J", None),
        ] {
            assert_eq!(name.parse::<PlayerName>().unwrap().nearness(spelling), near, "{name}: {spelling}");
        }
        let exact = PlayerName::exact(" Carlsen,M ").unwrap();
        assert!(exact.fits("Carlsen,M") && !exact.fits("Carlsen, M"));
        assert_eq!(exact.nearness("Carlsen, Magnus"), Some(Nearness::Alike));
        for none in ["", " ", "?", "-"] {
            assert!(PlayerName::exact(none).is_err(), "{none}");
        }
        for none in ["", " ", "?", ",", "(x)"] {
            assert!(none.parse::<PlayerName>().is_err(), "{none}");
        }
    }
}
