//! The named decisions in which the two readers of games differ.

macro_rules! rules {
    ($($rule:ident $name:literal $text:literal,)*) => {
        /// A decision in which orbit's reader differs from pgn-reader and shakmaty.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Rule {
            $(#[doc = $text] $rule,)*
        }

        impl Rule {
            /// All rules, in output order.
            pub const ALL: &[Rule] = &[$(Rule::$rule,)*];

            /// Returns the name, as it is printed.
            pub const fn name(self) -> &'static str {
                match self { $(Rule::$rule => $name,)* }
            }

            /// Returns a sentence that describes the behaviour of orbit's reader.
            pub const fn text(self) -> &'static str {
                match self { $(Rule::$rule => $text,)* }
            }
        }
    };
}

rules! {
    EmptyLine "empty line" "Movetext continues after an empty line.",
    TagsAlone "tags alone" "A game may have tag pairs and no movetext.",
    TagPlace "tag place" "A tag pair may begin anywhere in its line, and may follow other signs among the tag pairs.",
    TagForm "tag form" "Tag pairs with inner or missing quotation marks, brackets and blanks are read.",
    OpenTag "open tag pair" "A game may begin within a line, after a tag pair that is not closed.",
    Bracket "bracket" "A bracket that does not begin a tag pair begins an annotation or a side line; a bracket that closes nothing is skipped.",
    AfterResult "after result" "A game without tags begins after a result.",
    Outside "outside" "Text before, between and after games is skipped.",
    OpenComment "open comment" "A comment that is not closed ends before the next game, and cuts its own game.",
    OpenSideLine "open side line" "A side line that is not closed cuts the game.",
    InnerResult "inner result" "A result in a side line ends the game if nothing follows.",
    Blanks "blanks" "Control characters, Unicode blanks, byte order marks and single carriage returns are blanks or line ends, and `%` may follow blanks.",
    Glued "glued" "A move may touch the result, the glyph or the ellipsis before or after it, and castling may touch the next word.",
    Results "results" "`1/2` is read as a result, and so are results with other dashes, with blanks around the dash, in fullwidth characters or between other signs.",
    NoMove "no move" "A word that is not a move cuts the game.",
    Coordinates "coordinates" "Moves in coordinates, with both squares, are read.",
    MoveSign "move sign" "A wrong or missing `x` is accepted, and so are `-` and `:`.",
    Dashes "dashes" "Moves with other dashes are read.",
    Promotion "promotion" "Promotions are read without `=`, in parentheses, with figurines, in small letters, and after blanks.",
    Castling "castling" "Castling without dashes or in small letters is read.",
    NullSign "null sign" "`<>`, `@@@@`, `0000` and `null` are read as null moves.",
    NullInCheck "null in check" "A side in check may make a null move.",
    Figurines "figurines" "Moves with figurines are read.",
    Suffix "suffix" "Text directly after a move is skipped: `++`, `ep`, `mate`, signs of evaluation.",
    FenFields "FEN fields" "Only the first four fields of a FEN count; a castling or en passant field that cannot be read grants no right, and the FEN `?` means the usual start position.",
    Rights "rights" "If a castling right is impossible, only the castling rights that standard chess allows are kept.",
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
