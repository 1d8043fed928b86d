//! Gives names to the decisions in which the two readers of games differ.

macro_rules! rules {
    ($($rule:ident $name:literal $text:literal,)*) => {
        /// A decision of orbit's reader that pgn-reader and shakmaty do not make.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Rule {
            $(#[doc = $text] $rule,)*
        }

        impl Rule {
            /// All rules, in the order in which they are listed.
            pub const ALL: &[Rule] = &[$(Rule::$rule,)*];

            /// Returns the name, as it is printed.
            pub const fn name(self) -> &'static str {
                match self { $(Rule::$rule => $name,)* }
            }

            /// Returns a sentence that says what orbit's reader does.
            pub const fn text(self) -> &'static str {
                match self { $(Rule::$rule => $text,)* }
            }
        }
    };
}

rules! {
    EmptyLine "empty line" "Movetext goes on after an empty line.",
    TagsAlone "tags alone" "A game may have tag pairs and no movetext.",
    TagPlace "tag place" "A tag pair counts wherever it stands in its line, and behind signs among tag pairs.",
    TagForm "tag form" "Tag pairs are read with inner or missing quotes, brackets and blanks.",
    OpenTag "open tag pair" "A game may begin within a line, behind a tag pair that nobody closes.",
    Bracket "bracket" "A bracket that is no tag pair is an annotation or a side line; one that closes nothing is passed over.",
    AfterResult "after result" "A game without tags begins after a result.",
    Outside "outside" "Text before, between and after games is passed over.",
    OpenComment "open comment" "A comment that nobody closes ends before the next game, and cuts its own.",
    OpenSideLine "open side line" "A side line that nobody closes cuts the game.",
    InnerResult "inner result" "A result in a side line ends the game if nothing follows.",
    Blanks "blanks" "Control characters, blanks of Unicode, byte order marks and carriage returns alone are blanks and line ends, and `%` may stand behind blanks.",
    Glued "glued" "A move may touch the result, the glyph or the ellipsis before or after it, and castling the next word.",
    Results "results" "`1/2` and results with other dashes or between other signs are results.",
    NoMove "no move" "A word that is no move cuts the game.",
    Coordinates "coordinates" "Moves are read in coordinates, with both squares.",
    MoveSign "move sign" "A wrong or missing `x` is forgiven, and `-` and `:` are read.",
    Dashes "dashes" "Moves are read with other dashes.",
    Promotion "promotion" "Promotions are read without `=`, in brackets, with figurines, in small letters, and behind blanks.",
    Castling "castling" "Castling is read without dashes and in small letters.",
    NullSign "null sign" "`<>`, `@@@@`, `0000` and `null` are null moves.",
    NullInCheck "null in check" "A side in check may pass.",
    Figurines "figurines" "Moves are read with figurines.",
    Suffix "suffix" "What follows a move is passed over: `++`, `ep`, `mate`, signs of evaluation.",
    FenFields "FEN fields" "The first four fields of a FEN count; one that is unclear grants nothing, and `?` is the standard start.",
    Rights "rights" "Where a right is impossible, the castling rights that standard chess allows are kept.",
    TooLong "too long" "A game longer than the limit is cut.",
}

const _: () = assert!(Rule::ALL.len() <= 32, "a set has a bit for each");

/// A set of rules.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Rules(u32);

impl Rules {
    pub(super) fn add(&mut self, rule: Rule) {
        self.0 |= 1 << rule as u32;
    }

    pub(super) fn extend(&mut self, other: Rules) {
        self.0 |= other.0;
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn iter(self) -> impl Iterator<Item = Rule> {
        Rule::ALL.iter().copied().filter(move |&rule| self.0 >> rule as u32 & 1 != 0)
    }
}
