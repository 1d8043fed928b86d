//! What tags say of a game, read the same way wherever it matters.

use super::words::decode;
use crate::board::Color;
use crate::diagnostic::nearest;
use crate::reel::GameRow;

/// A date of which the end may be unknown: `2015.03.??`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Date {
    /// The year.
    pub year: u32,
    /// 1 to 12, if known.
    pub month: Option<u32>,
    /// 1 to 31, if known; only beside a month.
    pub day: Option<u32>,
}

impl Date {
    /// Reads `2015.03.07`, `2015-03-07`, `2015/3/7`, `2015.03` or `2015`; parts that are no numbers are unknown, and
    /// nothing is known of the year 0.
    pub fn parse(text: &str) -> Option<Date> {
        let mut parts = text.trim().splitn(3, ['.', '-', '/']);
        // A sign would be taken for a part of the number.
        let number =
            |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?;
        let year = parts.next().filter(|year| year.len() == 4).and_then(number).filter(|&year| year > 0)?;
        let mut part = |max| number(parts.next()?.trim()).filter(|part| (1..=max).contains(part));
        let month = part(12);
        Some(Date { year, month, day: part(31).filter(|_| month.is_some()) })
    }

    /// Year, month and day, as far as they are known.
    pub fn parts(self) -> [Option<u32>; 3] {
        [Some(self.year), self.month, self.day]
    }
}

/// When a game was played: `Date`, or else `UTCDate`.
pub fn date(game: &GameRow) -> Option<Date> {
    Date::parse(&decode(game.tag(date_name(game))?))
}

/// The tag that says when a game was played: `UTCDate`, if its date is known and that of `Date` is not.
pub fn date_name(game: &GameRow) -> &'static str {
    let is_known = |name: &&str| game.tag(name).is_some_and(|date| Date::parse(&decode(date)).is_some());
    ["Date", "UTCDate"].into_iter().find(is_known).unwrap_or("Date")
}

/// The rating of a side, or else the higher of both, as `elo` is in CQL.
pub fn elo(game: &GameRow, side: Option<Color>) -> Option<u32> {
    let rating = |name| rating(game.tag(name)?);
    match side {
        Some(Color::White) => rating("WhiteElo"),
        Some(Color::Black) => rating("BlackElo"),
        None => rating("WhiteElo").max(rating("BlackElo")),
    }
}

/// The value of a tag as a rating; 0 and what begins with no number are unknown.
pub fn rating(value: &[u8]) -> Option<u32> {
    let text = value.trim_ascii();
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    str::from_utf8(&text[..digits]).ok()?.parse().ok().filter(|&elo: &u32| elo > 0)
}

/// The page of a game at lichess or chess.com, at a ply where the site can show one. Such addresses stand in
/// `Site` or `Link`.
pub fn url(game: &GameRow, ply: u32) -> Option<String> {
    let address = |name| {
        let text = decode(game.tag(name)?).trim().to_owned();
        let is_plain =
            text.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'<' | b'>'));
        (is_plain && text.starts_with("https://")).then_some(text)
    };
    let lichess = |text: &String| {
        let id = text.strip_prefix("https://lichess.org/")?.split(['#', '?', '/']).next()?;
        let is_id = matches!(id.len(), 8 | 12) && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_id.then(|| format!("https://lichess.org/{id}#{ply}"))
    };
    let names = ["Site", "Link", "GameURL"];
    let addresses: Vec<String> = names.iter().filter_map(|name| address(name)).collect();
    let known = |text: &&String| {
        text.starts_with("https://www.chess.com/") || text.starts_with("https://lichess.org/")
    };
    addresses.iter().find_map(lichess).or_else(|| addresses.iter().find(known).cloned())
}

/// Tags that games of common sources have.
///
/// Source: the PGN standard, sections 8.1.1 and 9; what ChessBase, lichess, chess.com, FICS, DGT and others write besides.
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

/// A tag that is known, whatever the case of its letters.
pub fn known_tag(name: &str) -> Option<&'static str> {
    KNOWN.into_iter().find(|known| known.eq_ignore_ascii_case(name))
}

/// The known tag that a name resembles.
pub fn nearest_tag(name: &str) -> Option<&'static str> {
    let lower = KNOWN.map(str::to_ascii_lowercase);
    let lower = lower.each_ref().map(String::as_str);
    let nearest = nearest(name, lower.iter())?;
    known_tag(nearest)
}

/// The tag that is meant by what follows `tag:`. A known tag is spelt as games spell it; any other name is taken as it
/// stands, unless it resembles a known one: after a second colon it is taken all the same.
///
/// # Errors
///
/// The known tag that the name resembles.
///
/// ```
/// use orbit_chess::report::tags::tag_named;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_far_as_they_are_known() {
        let date = |year, month, day| Some(Date { year, month, day });
        for (text, expected) in [
            ("2015.03.07", date(2015, Some(3), Some(7))),
            ("2015-3-7", date(2015, Some(3), Some(7))),
            ("2015.03.??", date(2015, Some(3), None)),
            ("2015.??.07", date(2015, None, None)),
            ("2015.13.07", date(2015, None, None)),
            ("2015", date(2015, None, None)),
            ("+997.01.01", None),
            ("0000.00.00", None),
            ("????.??.??", None),
            ("15.03.2015", None),
            ("", None),
        ] {
            assert_eq!(Date::parse(text), expected, "{text}");
        }
    }
}
