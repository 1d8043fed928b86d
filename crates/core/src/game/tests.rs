use super::*;
use crate::board::{Color, Position};

/// A header for tests, which has only tags.
struct Tags<'a>(&'a [(&'a str, &'a str)]);

impl GameHeader for Tags<'_> {
    fn tags(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.0.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()))
    }

    fn start(&self) -> Position {
        Position::STANDARD
    }
}

/// Checks the two rules for ratings: CQL's rule, which the filter `elo` follows, and the rule for everything else, which accepts a
/// rating as a person would read it.
#[test]
fn ratings_by_either_rule() {
    for (value, as_cql, otherwise) in [
        ("2700", Some(2700), Some(2700)),
        ("2700 (FIDE)", Some(2700), Some(2700)),
        ("1500?", Some(1500), Some(1500)),
        ("02700", Some(2700), Some(2700)),
        ("0", None, None),
        ("", None, None),
        ("?", None, None),
        ("-", None, None),
        ("-1", None, None),
        ("+5", None, None),
        ("unrated", None, None),
        // CQL does not skip blanks.
        (" 2700", None, Some(2700)),
        ("\t2700 ", None, Some(2700)),
        ("9999", Some(9999), Some(9999)),
        // `orbit` ignores numbers that are too high for a rating. CQL accepts all 32-bit numbers.
        ("10000", Some(10000), None),
        ("2147483647", Some(i32::MAX), None),
        ("2147483648", None, None),
        ("99999999999", None, None),
    ] {
        assert_eq!(rating::value_as_cql(value.as_bytes()), as_cql, "{value:?}");
        assert_eq!(rating::of_value(value.as_bytes()), otherwise, "{value:?}");
        let tags = [("WhiteElo", value), ("BlackElo", "?")];
        for side in [None, Some(Color::White)] {
            assert_eq!(rating::of_game_as_cql(&Tags(&tags), side), as_cql, "{value:?}");
        }
        assert_eq!(rating::of_game_as_cql(&Tags(&tags), Some(Color::Black)), None);
        assert_eq!(Rating::Higher.of_game(&Tags(&tags)), otherwise.map(i64::from), "{value:?}");
    }
}

#[test]
fn ratings_of_two_sides() {
    use Rating::{Black, Difference, Higher, Mean, White};
    for (white, black, expected) in [
        (Some(2700), Some(2501), [Some(2700), Some(2600), Some(2700), Some(2501), Some(199)]),
        (Some(2501), Some(2700), [Some(2700), Some(2600), Some(2501), Some(2700), Some(-199)]),
        (Some(2700), None, [Some(2700), Some(2700), Some(2700), None, None]),
        (None, Some(2700), [Some(2700), Some(2700), None, Some(2700), None]),
        (None, None, [None; 5]),
    ] {
        let found = [Higher, Mean, White, Black, Difference].map(|rating| rating.of_players(white, black));
        assert_eq!(found, expected, "{white:?} {black:?}");
    }
}

/// Checks the two rules for years. CQL reads the first four bytes of `Date`. The other rule reads dates part by part, and falls
/// back to `UTCDate`.
#[test]
fn years_by_either_rule() {
    for (date, as_cql, otherwise) in [
        ("1997.05.11", Some(1997), Some(1997)),
        ("1997.??.??", Some(1997), Some(1997)),
        ("1997", Some(1997), Some(1997)),
        ("2020-01-31", Some(2020), Some(2020)),
        ("2020/1/31", Some(2020), Some(2020)),
        ("????.??.??", None, None),
        ("0000.00.00", None, None),
        ("199?.??.??", None, None),
        ("11.05.1997", None, None),
        ("+997.01.01", None, None),
        ("997", None, None),
        ("", None, None),
        // CQL ignores the text after the four digits.
        ("19970511", Some(1997), None),
        ("1997?", Some(1997), None),
        // CQL does not skip blanks before the year.
        (" 1997.05.11", None, Some(1997)),
    ] {
        let game = [("Date", date)];
        assert_eq!(date::year_as_cql(&Tags(&game)), as_cql, "{date:?}");
        assert_eq!(Date::from_game(&Tags(&game)).map(|date| date.year), otherwise, "{date:?}");
        let with_utc = [("UTCDate", "1901.02.03"), ("Date", date)];
        assert_eq!(date::year_as_cql(&Tags(&with_utc)), as_cql, "{date:?}");
        assert_eq!(
            Date::from_game(&Tags(&with_utc)).map(|date| date.year),
            otherwise.or(Some(1901)),
            "{date:?}"
        );
    }
}

#[test]
fn dates_are_read_as_far_as_they_are_known() {
    let date = |year, month, day| Some(Date { year, month, day });
    for (text, expected, shown) in [
        ("2015.03.07", date(2015, Some(3), Some(7)), "2015.03.07"),
        ("2015-3-7", date(2015, Some(3), Some(7)), "2015.03.07"),
        ("2015.03.??", date(2015, Some(3), None), "2015.03.??"),
        ("2015.??.07", date(2015, None, None), "2015.??.??"),
        ("2015.13.07", date(2015, None, None), "2015.??.??"),
        ("2015.259.07", date(2015, None, None), "2015.??.??"),
        ("2015.70000.07", date(2015, None, None), "2015.??.??"),
        ("2015", date(2015, None, None), "2015.??.??"),
        ("0997.1", date(997, Some(1), None), "0997.01.??"),
        ("+997.01.01", None, ""),
        ("0000.00.00", None, ""),
        ("????.??.??", None, ""),
        ("15.03.2015", None, ""),
        ("", None, ""),
    ] {
        assert_eq!(Date::parse(text), expected, "{text}");
        assert_eq!(expected.map_or(String::new(), |date| date.to_string()), shown);
        assert!(expected.is_none() || Date::parse(shown) == expected, "{text}");
    }
}

#[test]
fn a_game_shows_the_date_that_counts() {
    for (tags, shown) in [
        (&[("Date", "2015.03.??"), ("UTCDate", "2015.03.07")][..], Some("2015.03.??")),
        (&[("Date", "????.??.??"), ("UTCDate", " 2015.03.07 ")], Some("2015.03.07")),
        (&[("utcdate", "2015.03.07")], Some("2015.03.07")),
        (&[("Date", "????.??.??"), ("UTCDate", "?")], None),
        // Text that is not a date is returned unchanged, unless it means "unknown".
        (&[("Date", "spring 1997")], Some("spring 1997")),
        (&[("Date", "-")], None),
        (&[], None),
    ] {
        assert_eq!(date::known_text(&Tags(tags)).as_deref(), shown, "{tags:?}");
    }
}

/// Checks the two rules for reading a text from a tag: CQL's rule, which queries follow, and the rule that everything else follows.
#[test]
fn texts_by_either_rule() {
    for (name, value, as_cql, otherwise) in [
        ("White", Some("Carlsen,M"), Some("Carlsen, M"), Some("Carlsen,M")),
        ("Black", Some("  So,\t Wesley "), Some(" So, Wesley"), Some("So,\t Wesley")),
        ("White", Some("?"), Some("?"), None),
        ("White", Some("-"), Some("-"), None),
        ("White", Some(""), Some(""), None),
        ("White", None, Some("?"), None),
        ("Event", Some("-"), Some("-"), None),
        ("Event", None, Some("?"), None),
        ("Site", Some(" Wijk aan Zee "), Some(" Wijk aan Zee "), Some("Wijk aan Zee")),
        ("Site", None, Some("?"), None),
        // In these tags, `-` is a value (no round, or no time control) and does not mean "unknown".
        ("Round", Some("-"), Some("-"), Some("-")),
        ("TimeControl", Some("-"), Some("-"), Some("-")),
        ("Round", None, None, None),
        ("Date", Some("2015.5.3"), Some("2015.05.03"), Some("2015.5.3")),
        ("Date", Some("2015"), Some("2015.??.??"), Some("2015")),
        ("Date", Some("?"), Some("????.??.??"), None),
        ("Date", Some("????.??.??"), Some("????.??.??"), None),
        ("Date", None, Some("????.??.??"), None),
        ("EventDate", None, Some("????.??.??"), None),
        ("UTCDate", Some("????.??.??"), Some("????.??.??"), None),
        ("ECO", Some("b90n"), Some("b90n"), Some("b90n")),
    ] {
        let tags: Vec<(&str, &str)> = value.map(|value| (name, value)).into_iter().collect();
        let game = Tags(&tags);
        let found = tag_as_cql(&game, name).map(|text| String::from_utf8(text).unwrap());
        assert_eq!(found.as_deref(), as_cql, "{name} {value:?}");
        assert_eq!(tags::known(&game, name).as_deref(), otherwise, "{name} {value:?}");
    }
    let both = player_as_cql(&Tags(&[("White", "A,B")]), None);
    assert_eq!(both.as_deref(), Some(&b"A, B\n?"[..]));
}

/// Checks the two rules for tag names. If a game has several tags with one name, the first one counts.
#[test]
fn names_of_tags_by_either_rule() {
    let game =
        Tags(&[("white", "a"), ("White", "b"), ("White", "c"), ("WHITEELO", "2000"), ("WhiteElo", "2100")]);
    assert_eq!(player_as_cql(&game, Some(Color::White)).as_deref(), Some(&b"b"[..]));
    assert_eq!(tags::player(&game, Color::White).as_deref(), Some("a"));
    assert_eq!(rating::of_game_as_cql(&game, None), Some(2100));
    assert_eq!(Rating::White.of_game(&game), Some(2000));
}

#[test]
fn openings_have_a_letter_and_two_digits() {
    for (value, found) in [
        ("B90", Some("B90")),
        (" b90n", Some("B90")),
        ("B90/05", Some("B90")),
        ("E00", Some("E00")),
        ("F00", None),
        ("B9", None),
        ("?", None),
        ("B9ö", None),
        ("", None),
    ] {
        assert_eq!(eco::of_value(value.as_bytes()).as_ref().map(Eco::as_str), found, "{value}");
    }
}

#[test]
fn addresses_are_those_of_known_sites() {
    for (tags, expected) in [
        (&[("Site", "https://lichess.org/abcdefgh")][..], Some("https://lichess.org/abcdefgh#7")),
        (&[("Site", "https://lichess.org/abcdefghijkl/black#3")], Some("https://lichess.org/abcdefghijkl#7")),
        (
            &[("Site", "Chess.com"), ("link", "https://www.chess.com/game/live/1")],
            Some("https://www.chess.com/game/live/1"),
        ),
        (
            &[("Link", "https://www.chess.com/x"), ("GameURL", "https://lichess.org/abcdefgh")],
            Some("https://lichess.org/abcdefgh#7"),
        ),
        (&[("Site", "https://lichess.org/study/abc")], Some("https://lichess.org/study/abc")),
        (&[("Site", "https://example.org/abcdefgh")], None),
        (&[("Site", "https://lichess.org/a\"b")], None),
        (&[], None),
    ] {
        assert_eq!(url(&Tags(tags), Some(7)).as_deref(), expected, "{tags:?}");
    }
}

#[test]
fn ids_of_lichess_are_those_of_games() {
    for (address, id) in [
        ("https://lichess.org/AbCdEf12", Some("AbCdEf12")),
        ("https://lichess.org/AbCdEf12wxyz", Some("AbCdEf12")),
        ("https://lichess.org/AbCdEf12/", Some("AbCdEf12")),
        ("https://lichess.org/AbCdEf12/white", Some("AbCdEf12")),
        ("https://lichess.org/AbCdEf12wxyz/black?tv=1#30", Some("AbCdEf12")),
        ("https://lichess.org/AbCdEf12?a=/b", Some("AbCdEf12")),
        ("https://lichess.org/AbCdEf12#7", Some("AbCdEf12")),
        ("https://lichess.org/", None),
        ("https://lichess.org/abc", None),
        ("https://lichess.org/abcdefghi", None),
        ("https://lichess.org/abcdefg_", None),
        ("https://lichess.org/abcdéfg", None),
        ("https://lichess.org/AbCdEf12/red", None),
        ("https://lichess.org/AbCdEf12/white/3", None),
        ("https://lichess.org/broadcast/norway-chess/round-1/abcdefgh/XyZxYzXy", None),
        ("https://lichess.org/study/AbCdEfGh/IjKlMnOp", None),
        ("https://lichess.org/training", None),
        ("https://lichess.org/training/AbCdE", None),
        ("https://lichess.org/analysis#3", None),
        ("http://lichess.org/AbCdEf12", None),
        ("https://example.org/AbCdEf12", None),
    ] {
        assert_eq!(lichess_id(&Tags(&[("Site", address)])).as_deref(), id, "{address}");
    }
    let both = [("Site", "https://lichess.org/study/abc"), ("GameURL", "https://lichess.org/AbCdEf12")];
    assert_eq!(lichess_id(&Tags(&both)).as_deref(), Some("AbCdEf12"));
    let page = "https://lichess.org/training";
    assert_eq!(url(&Tags(&[("Site", page)]), Some(7)).as_deref(), Some(page));
}

#[test]
fn tags_are_known_by_what_they_hold() {
    use known::TagKind::{Date, Eco, Rating, Text};
    for (name, kind) in [
        ("Date", Date),
        ("utcdate", Date),
        ("EventDate", Date),
        ("WHITEELO", Rating),
        ("BlackElo", Rating),
        ("WhiteEloChange", Text),
        ("eco", Eco),
        ("ECOUrl", Text),
        ("Event", Text),
        ("é", Text),
        ("", Text),
    ] {
        assert_eq!(known::kind(name), kind, "{name}");
    }
}

/// Checks which moves are numbered in movetext, for games that White or Black begins.
#[test]
fn moves_have_numbers_in_movetext() {
    let numbers = MoveNumbers::from_header(&Tags(&[("FEN", "4k3/8/8/8/8/8/8/4K3 w - - 0 23")]));
    assert_eq!([0, 1, 2].map(|ply| numbers.before_move(ply)), [Some("23.".into()), None, Some("24.".into())]);
    struct BlackBegins<'a>(Tags<'a>);
    impl GameHeader for BlackBegins<'_> {
        fn tags(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
            self.0.tags()
        }

        fn start(&self) -> Position {
            let standard = Position::STANDARD;
            Position { state: standard.state.with_turn(Color::Black), ..standard }
        }
    }
    let numbers = MoveNumbers::from_header(&BlackBegins(Tags(&[("FEN", "4k3/8/8/8/8/8/8/4K3 b - - 0 23")])));
    assert_eq!(
        [0, 1, 2].map(|ply| numbers.before_move(ply)),
        [Some("23...".into()), Some("24.".into()), None]
    );
}
