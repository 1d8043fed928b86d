//! Lists the known tag names, and the kind of value of each tag.

use super::rating;
use crate::board::Color;
use crate::diagnostic::nearest;

/// The tags that occur in games of common sources.
///
/// Source: the PGN standard, sections 8.1.1 and 9; other tags that ChessBase, lichess, chess.com, FICS, DGT and others write.
const KNOWN: [&str; 99] = [
    "Event",
    "Site",
    "Date",
    "Round",
    "White",
    "Black",
    "Result",
    "WhiteTitle",
    "BlackTitle",
    "WhiteElo",
    "BlackElo",
    "WhiteUSCF",
    "BlackUSCF",
    "WhiteNA",
    "BlackNA",
    "WhiteType",
    "BlackType",
    "EventDate",
    "EventSponsor",
    "Section",
    "Stage",
    "Board",
    "Opening",
    "Variation",
    "SubVariation",
    "ECO",
    "NIC",
    "Time",
    "UTCTime",
    "UTCDate",
    "TimeControl",
    "SetUp",
    "FEN",
    "Termination",
    "Annotator",
    "Mode",
    "PlyCount",
    "EventType",
    "EventRounds",
    "EventCountry",
    "EventCategory",
    "Source",
    "SourceTitle",
    "SourceDate",
    "SourceVersion",
    "SourceVersionDate",
    "SourceQuality",
    "WhiteTeam",
    "BlackTeam",
    "WhiteTeamCountry",
    "BlackTeamCountry",
    "WhiteCountry",
    "BlackCountry",
    "WhiteFideId",
    "BlackFideId",
    "WhiteRatingDiff",
    "BlackRatingDiff",
    "WhiteClock",
    "BlackClock",
    "Variant",
    "Link",
    "GameURL",
    "GameId",
    "ECOUrl",
    "CurrentPosition",
    "Timezone",
    "StartTime",
    "EndDate",
    "EndTime",
    "Tournament",
    "StudyName",
    "ChapterName",
    "ChapterURL",
    "StudyURL",
    "BroadcastName",
    "BroadcastURL",
    "Orientation",
    "Remark",
    "Remarks",
    "GameStartTime",
    "GameEndTime",
    "GameDuration",
    "TerminationDetails",
    "Number",
    "WhiteEloChange",
    "BlackEloChange",
    "WhiteTimeControl",
    "BlackTimeControl",
    "FICSGamesDBGameNo",
    "WhiteRD",
    "BlackRD",
    "WhiteIsComp",
    "BlackIsComp",
    "ICCResult",
    "Match",
    "MatchLabel",
    "HashCode",
    "TotalPlyCount",
    "LiveChessVersion",
];

/// Returns the usual spelling of a known tag name, ignoring case.
pub fn known_tag(name: &str) -> Option<&'static str> {
    KNOWN.into_iter().find(|known| known.eq_ignore_ascii_case(name))
}

/// Returns the known tag that a misspelt name resembles.
pub fn nearest_tag(name: &str) -> Option<&'static str> {
    let lower = KNOWN.map(str::to_ascii_lowercase);
    let lower = lower.each_ref().map(String::as_str);
    let nearest = nearest(name, lower.iter())?;
    known_tag(nearest)
}

/// Returns the name of the tag that a user means by the text after `tag:`. A known tag gets its usual spelling. A name that
/// resembles a known tag is refused, since it is probably misspelt; a second colon before the name prevents this. Any other name is
/// accepted unchanged.
///
/// # Errors
///
/// Returns the known tag that the name resembles.
///
/// ```
/// use orbit_core::game::known::tag_named;
///
/// assert_eq!(tag_named("annotator"), Ok("Annotator"));
/// assert_eq!(tag_named("ClubCode"), Ok("ClubCode"));
/// assert_eq!(tag_named("Anotator"), Err("Annotator"));
/// assert_eq!(tag_named(":Anotator"), Ok("Anotator"));
/// ```
pub fn tag_named(name: &str) -> Result<&str, &'static str> {
    if let Some(exact) = name.strip_prefix(':') {
        return Ok(exact);
    }
    match (known_tag(name), nearest_tag(name)) {
        (Some(known), _) => Ok(known),
        (None, Some(nearest)) => Err(nearest),
        (None, None) => Ok(name),
    }
}

/// The kind of value that a tag has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TagKind {
    /// A text.
    Text,
    /// A [`Date`](super::Date).
    Date,
    /// A rating, see [`rating::of_value`].
    Rating,
    /// The code of an opening, see [`Eco`](super::Eco).
    Eco,
    /// The way in which the game ended: see [`termination`](super::termination).
    Termination,
}

/// Returns the kind of value that the tag called `name` has.
pub fn kind(name: &str) -> TagKind {
    let is = |known: &str| known.eq_ignore_ascii_case(name);
    match name {
        _ if is_date(name) => TagKind::Date,
        _ if [Color::White, Color::Black].map(rating::tag).into_iter().any(is) => TagKind::Rating,
        _ if is("ECO") => TagKind::Eco,
        _ if is("Termination") => TagKind::Termination,
        _ => TagKind::Text,
    }
}

/// Returns whether the tag `name` contains a date. This is the case for every name that ends in `Date`, ignoring case, such as
/// `UTCDate` and `EventDate`.
pub(super) fn is_date(name: &str) -> bool {
    let end = name.len().saturating_sub("date".len());
    name.get(end..).is_some_and(|end| end.eq_ignore_ascii_case("date"))
}
