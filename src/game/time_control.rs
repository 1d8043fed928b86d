//! How much time games give.

use super::measures::thousandths_of;
use super::{Header, tags};

/// The tag.
pub const TAG: &str = "TimeControl";

/// How fast a game is, as lichess names it: by the seconds that a player has for 40 moves, `initial + 40 * increment`.
///
/// Source: <https://lichess.org/faq#time-controls>.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Speed {
    /// Less than 30 seconds.
    UltraBullet,
    /// Less than 180.
    Bullet,
    /// Less than 480.
    Blitz,
    /// Less than 1500.
    Rapid,
    /// 1500 and more.
    Classical,
    /// No clock, or a day and more for each move.
    Correspondence,
}

/// The least seconds a move of correspondence.
const DAY: i64 = 86_400;

impl Speed {
    /// All, the fastest first.
    pub const ALL: [Speed; 6] = [
        Speed::UltraBullet,
        Speed::Bullet,
        Speed::Blitz,
        Speed::Rapid,
        Speed::Classical,
        Speed::Correspondence,
    ];

    /// Its name in lower case.
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

    /// The speed that a tag means, if it can be read.
    pub fn of_value(value: &[u8]) -> Option<Speed> {
        let text = tags::text(value);
        if text == "-" {
            return Some(Speed::Correspondence);
        }
        let periods = periods(&text)?;
        let is_by_days = |period: &Period| {
            period.moves.is_some_and(|moves| period.base >= DAY.saturating_mul(1000).saturating_mul(moves))
        };
        if periods.iter().any(is_by_days) {
            return Some(Speed::Correspondence);
        }
        let base = periods.iter().fold(0i64, |sum, period| sum.saturating_add(period.base));
        let increment = periods.iter().map(|period| period.increment).max().unwrap_or(0);
        Some(match base.saturating_add(increment.saturating_mul(40)) {
            i64::MIN..30_000 => Speed::UltraBullet,
            30_000..180_000 => Speed::Bullet,
            180_000..480_000 => Speed::Blitz,
            480_000..1_500_000 => Speed::Rapid,
            _ => Speed::Classical,
        })
    }

    /// The speed of a game.
    pub fn of_game(game: &impl Header) -> Option<Speed> {
        game.tag_named(TAG).and_then(Speed::of_value)
    }
}

/// The milliseconds that each move adds to the clock, where the whole game has one period: `300+3`, `600`.
pub fn increment_of_game(game: &impl Header) -> Option<i64> {
    let text = tags::text(game.tag_named(TAG)?);
    match &periods(&text)?[..] {
        &[Period { moves: None, increment, is_sand: false, .. }] => Some(increment),
        _ => None,
    }
}

/// A part of a game with a time of its own, in milliseconds.
struct Period {
    /// Moves for which the time is.
    moves: Option<i64>,
    base: i64,
    increment: i64,
    /// What one side uses the other gets.
    is_sand: bool,
}

/// `300+3`, `40/7200:3600+30`, `*180`, `1/86400`.
fn periods(text: &str) -> Option<Vec<Period>> {
    text.split(':').map(period).collect()
}

fn period(text: &str) -> Option<Period> {
    let (is_sand, text) = text.strip_prefix('*').map_or((false, text), |text| (true, text));
    let (moves, text) = match text.split_once('/') {
        Some((moves, text)) => (Some(moves.parse::<i64>().ok().filter(|&moves| moves > 0)?), text),
        None => (None, text),
    };
    let (base, increment) = text.split_once('+').unwrap_or((text, "0"));
    let amount = |text: &str| thousandths_of(text).filter(|_| text.starts_with(|c: char| c.is_ascii_digit()));
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
        ] {
            assert_eq!(Speed::of_value(value.as_bytes()), Some(speed), "{value}");
        }
        for value in
            ["", "?", "+", "300+", "+3", "5 min", "300+-3", "0/300", "x/300", "300:", "\u{e4}", "300+3+3"]
        {
            assert_eq!(Speed::of_value(value.as_bytes()), None, "{value}");
        }
    }
}
