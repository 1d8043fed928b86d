//! Reads time controls.

use super::measures::thousandths_of;
use super::{GameHeader, tags};

/// The name of the tag that contains the time control.
pub const TAG: &str = "TimeControl";

/// The speed of a game, under lichess's names. It depends on the time in seconds that a player has for 40 moves: `initial + 40 *
/// increment`.
///
/// Source: <https://lichess.org/faq#time-controls>.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Speed {
    /// Less than 30 seconds.
    UltraBullet,
    /// Less than 180 seconds.
    Bullet,
    /// Less than 480 seconds.
    Blitz,
    /// Less than 1500 seconds.
    Rapid,
    /// 1500 seconds or more.
    Classical,
    /// No clock, or at least a day per move.
    Correspondence,
}

/// The number of seconds in a day. A game with at least a day per move is a correspondence game.
const DAY: i64 = 86_400;

impl Speed {
    /// All speeds, the fastest first.
    pub const ALL: [Speed; 6] = [
        Speed::UltraBullet,
        Speed::Bullet,
        Speed::Blitz,
        Speed::Rapid,
        Speed::Classical,
        Speed::Correspondence,
    ];

    /// Returns the name in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Speed::UltraBullet => "ultrabullet",
            Speed::Bullet => "bullet",
            Speed::Blitz => "blitz",
            Speed::Rapid => "rapid",
            Speed::Classical => "classical",
            Speed::Correspondence => "correspondence",
        }
    }

    /// Returns the speed that a tag's value describes, if the value can be read.
    pub fn from_value(value: &[u8]) -> Option<Speed> {
        let text = tags::text(value);
        if text == "-" {
            return Some(Speed::Correspondence);
        }
        let Some(periods) = periods(&text) else { return in_words(&text) };
        let is_by_days = |period: &Period| {
            period.moves.is_some_and(|moves| period.base >= DAY.saturating_mul(1000).saturating_mul(moves))
        };
        if periods.iter().any(is_by_days) {
            return Some(Speed::Correspondence);
        }
        let base = periods.iter().fold(0i64, |sum, period| sum.saturating_add(period.base));
        let increment = periods.iter().map(|period| period.increment).max().unwrap_or(0);
        Some(Speed::from_times(base, increment))
    }

    /// Returns the speed of a game with the initial time `base` and the given increment, both in milliseconds.
    fn from_times(base: i64, increment: i64) -> Speed {
        match base.saturating_add(increment.saturating_mul(40)) {
            i64::MIN..30_000 => Speed::UltraBullet,
            30_000..180_000 => Speed::Bullet,
            180_000..480_000 => Speed::Blitz,
            480_000..1_500_000 => Speed::Rapid,
            _ => Speed::Classical,
        }
    }

    /// Returns the speed of a game.
    pub fn from_game(game: &impl GameHeader) -> Option<Speed> {
        game.tag_named(TAG).and_then(Speed::from_value)
    }
}

/// Returns the increment per move in milliseconds, if the whole game is one period, as in `300+3` and `600`.
pub fn increment_of_game(game: &impl GameHeader) -> Option<i64> {
    let text = tags::text(game.tag_named(TAG)?);
    match &periods(&text)?[..] {
        &[Period { moves: None, increment, is_sand: false, .. }] => Some(increment),
        _ => None,
    }
}

/// Returns the initial time of each side in milliseconds, if the tag gives it in seconds, as in `300+3` and `40/7200:3600`.
pub fn base_of_game(game: &impl GameHeader) -> Option<i64> {
    let text = tags::text(game.tag_named(TAG)?);
    periods(&text)?.first().map(|period| period.base).filter(|&base| base > 0)
}

/// A period of a time control. Times are in milliseconds.
struct Period {
    /// The number of moves in the period; `None` if it lasts for the rest of the game.
    moves: Option<i64>,
    base: i64,
    increment: i64,
    /// True for an hourglass: the time that one side uses is added to the clock of the other side.
    is_sand: bool,
}

/// Reads the periods of a time control such as `300+3`, `40/7200:3600+30`, `*180` or `1/86400`. Signs may have blanks around them,
/// and commas or semicolons may replace the colons.
fn periods(text: &str) -> Option<Vec<Period>> {
    text.split([':', ',', ';']).map(period).collect()
}

/// Reads the speed from a time control in words, such as `90 min + 30 sec`, `15'/game & 10''/move`, `G/60;d5` or `Blitz`. Seconds
/// that follow another time, and times per move, are the increment. All other times are added to the initial time.
fn in_words(text: &str) -> Option<Speed> {
    let text =
        text.to_lowercase().replace(['\u{2019}', '\u{2032}'], "'").replace(['\u{201d}', '\u{2033}'], "''");
    let (mut base, mut increment) = (None, None::<i64>);
    let mut at = 0;
    while let Some(skip) = text[at..].find(|letter: char| letter.is_ascii_digit()) {
        let before = text[..at + skip].trim_end();
        let number = &text[at + skip..];
        let length =
            number.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(number.len());
        let (number, after) = number.split_at(length);
        let (unit, rest) = unit(after);
        at = text.len() - rest.len();
        let is_any = |text: &str, ends: &[&str]| ends.iter().any(|end| text.ends_with(end));
        let unit = match unit {
            Some(unit) => unit,
            None if is_any(before, &["+", "inc", "increment", "delay", ";d", " d"]) && base.is_some() => {
                SECOND
            }
            None if is_any(before, &["g/", "game/", "game in", "sd/"])
                || matches!(before, "g" | "game" | "sd") =>
            {
                MINUTE
            }
            None => continue,
        };
        let amount = thousandths_of(number.trim_end_matches('.'))?.checked_mul(unit)?;
        let rest = rest.trim_start();
        let is_of_move =
            ["/move", "/ move", "per move", "a move", "each move", "every move", "for each move"];
        let is_of_move = is_of_move.iter().any(|words| rest.starts_with(words));
        if unit == DAY {
            return Some(Speed::Correspondence);
        } else if is_of_move || unit == SECOND && base.is_some() {
            increment = increment.max(Some(amount));
        } else {
            base = Some(base.unwrap_or(0i64).saturating_add(amount));
        }
    }
    if base.is_some() || increment.is_some() {
        return Some(Speed::from_times(base.unwrap_or(0), increment.unwrap_or(0)));
    }
    text.split(|letter: char| !letter.is_ascii_alphabetic()).find_map(|word| match word {
        "standard" => Some(Speed::Classical),
        "lightning" => Some(Speed::Bullet),
        "daily" | "unlimited" => Some(Speed::Correspondence),
        _ => Speed::ALL.into_iter().find(|speed| speed.name() == word),
    })
}

/// Units of time in seconds.
const SECOND: i64 = 1;
const MINUTE: i64 = 60;
const HOUR: i64 = 3600;

/// Reads the unit of time at the start of a text. Returns its length in seconds, and the rest of the text.
fn unit(text: &str) -> (Option<i64>, &str) {
    let bare = text.trim_start();
    for (sign, seconds) in [("''", SECOND), ("\"", SECOND), ("'", MINUTE)] {
        if let Some(rest) = bare.strip_prefix(sign) {
            return (Some(seconds), rest);
        }
    }
    let length = bare.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(bare.len());
    let (word, rest) = bare.split_at(length);
    let seconds = match word {
        "s" | "sec" | "secs" | "second" | "seconds" => SECOND,
        "m" | "min" | "mins" | "minute" | "minutes" => MINUTE,
        "h" | "hr" | "hrs" | "hour" | "hours" => HOUR,
        "d" | "day" | "days" => DAY,
        _ => return (None, text),
    };
    (Some(seconds), rest)
}

fn period(text: &str) -> Option<Period> {
    let text = text.trim();
    let (is_sand, text) = text.strip_prefix('*').map_or((false, text), |text| (true, text));
    let (moves, text) = match text.split_once('/') {
        Some((moves, text)) => (Some(moves.parse::<i64>().ok().filter(|&moves| moves > 0)?), text),
        None => (None, text),
    };
    let (base, increment) = text.split_once('+').unwrap_or((text, "0"));
    let amount = |text: &str| {
        thousandths_of(text.trim()).filter(|_| text.trim_start().starts_with(|c: char| c.is_ascii_digit()))
    };
    Some(Period { moves, base: amount(base)?, increment: amount(increment)?, is_sand })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_controls_have_speeds() {
        use Speed as S;
        for (value, speed) in [
            ("15+0", S::UltraBullet),
            ("29", S::UltraBullet),
            ("30+0", S::Bullet),
            ("0+1", S::Bullet),
            ("60+0", S::Bullet),
            ("120+1", S::Bullet),
            ("179+0", S::Bullet),
            ("180+0", S::Blitz),
            ("120+2", S::Blitz),
            (" 300+3 ", S::Blitz),
            ("300+5", S::Rapid),
            ("479", S::Blitz),
            ("480", S::Rapid),
            ("600", S::Rapid),
            ("900+10", S::Rapid),
            ("900+15", S::Classical),
            ("1499+0", S::Rapid),
            ("1500", S::Classical),
            ("60+0.6", S::Bullet),
            ("40/7200:3600+30", S::Classical),
            ("40/300", S::Blitz),
            ("*180", S::Blitz),
            ("-", S::Correspondence),
            ("1/86400", S::Correspondence),
            ("1/259200", S::Correspondence),
            ("10/2592000", S::Correspondence),
            ("300 + 3", S::Blitz),
            ("40/7200, 20/3600, 900 + 30", S::Classical),
            ("90 min + 30 sec", S::Classical),
            ("15 min + 10 sec", S::Rapid),
            ("3 min + 2 sec", S::Blitz),
            ("5 min", S::Blitz),
            ("5 Minutes", S::Blitz),
            ("1 min", S::Bullet),
            ("3m+2s", S::Blitz),
            ("5m+3", S::Blitz),
            ("10 sec", S::UltraBullet),
            ("10 seconds per move", S::Blitz),
            ("15'/game & 10''/move", S::Rapid),
            ("90'+30\"", S::Classical),
            ("3\u{2032} + 2\u{2033}", S::Blitz),
            ("1h30m+30s", S::Classical),
            ("40/2h, 20/1h, G/30m", S::Classical),
            ("40 moves in 2 hours", S::Classical),
            ("game in 10", S::Rapid),
            ("G/5;d2", S::Blitz),
            ("G/90 +30", S::Classical),
            (
                "90 minutes for the first 40 moves, followed by 30 minutes for the rest of the game with an increment of 30 \
                 seconds per move starting from move 1",
                S::Classical,
            ),
            ("3 days per move", S::Correspondence),
            ("Blitz", S::Blitz),
            ("Standard", S::Classical),
            ("unlimited", S::Correspondence),
        ] {
            assert_eq!(Speed::from_value(value.as_bytes()), Some(speed), "{value}");
        }
        for value in [
            "",
            "?",
            "+",
            "300+",
            "+3",
            "300+-3",
            "0/300",
            "x/300",
            "300:",
            "\u{e4}",
            "300+3+3",
            "15 10",
            "round 3",
            "5.5.5 min",
        ] {
            assert_eq!(Speed::from_value(value.as_bytes()), None, "{value}");
        }
    }
}
