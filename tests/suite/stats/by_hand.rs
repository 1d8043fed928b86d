//! Tests small tables that were counted by hand.

use orbit_search::stats::{Counts, GroupKey, GroupRow, SideResults, Tally};

use super::{KNIGHT, counted, counts, pgn};

/// Returns rows in the form `key: games with hits/games, positions with hits/positions`. In a cross table, the second key follows
/// the first.
fn shown(counts: &Counts, grouping: &str) -> Vec<String> {
    let row = |GroupRow { keys: [first, second], all, hit, .. }: &GroupRow| {
        let second = if *second == GroupKey::Whole { String::new() } else { format!(" {second}") };
        format!("{first}{second}: {}/{}, {}/{}", hit.games, all.games, hit.positions, all.positions)
    };
    counts.rows(&grouping.parse().unwrap()).iter().map(row).collect()
}

#[test]
fn games_are_grouped_by_their_tags_and_results() {
    for (grouping, rows) in [
        ("year", &["1997: 2/2, 6/11", "1999: 1/1, 2/3", "?: 0/1, 0/2"][..]),
        ("decade", &["1990: 3/3, 8/14", "?: 0/1, 0/2"]),
        ("eco", &["C60: 1/1, 2/3", "C65: 1/1, 3/6", "?: 1/2, 3/7"]),
        ("eco:2", &["C6: 2/2, 5/9", "?: 1/2, 3/7"]),
        ("result", &["1-0: 1/1, 3/6", "1/2-1/2: 1/1, 3/5", "0-1: 1/1, 2/3", "*: 0/1, 0/2"]),
        ("elo", &["2400: 1/1, 2/3", "2700: 2/2, 6/11", "?: 0/1, 0/2"]),
        ("meanelo", &["2400: 1/1, 2/3", "2600: 2/2, 6/11", "?: 0/1, 0/2"]),
        ("whiteelo", &["2600: 1/1, 3/5", "2700: 1/1, 3/6", "?: 1/2, 2/5"]),
        ("blackelo:1000", &["2000: 3/3, 8/14", "?: 0/1, 0/2"]),
        ("elodiff:150", &["-150: 1/1, 3/5", "150: 1/1, 3/6", "?: 1/2, 2/5"]),
        ("event", &["Open: 2/2, 5/9", "M\u{fc}, \u{7}: 1/1, 3/5", "?: 0/1, 0/2"]),
        ("white", &["A: 1/2, 3/8", "B: 1/1, 2/3", "?: 1/1, 3/5"]),
        // A game is in the groups of both its players. In the third game, both players are called A, so it counts only once under
        // A.
        ("player", &["A: 2/3, 5/11", "B: 2/2, 5/9", "?: 1/1, 3/5"]),
        ("tag:Nothing", &["?: 3/4, 8/16"]),
        (
            "player*white",
            &["A A: 1/2, 3/8", "A B: 1/1, 2/3", "B A: 1/1, 3/6", "B B: 1/1, 2/3", "? ?: 1/1, 3/5"],
        ),
    ] {
        assert_eq!(shown(&counts(KNIGHT, grouping), grouping), rows, "{grouping}");
    }
}

#[test]
fn positions_are_grouped_by_ply_and_move() {
    for (grouping, rows) in [
        ("ply:2", &["0: 1/4, 1/8", "2: 3/3, 4/5", "4: 2/2, 3/3"][..]),
        ("ply:100", &["0: 3/4, 8/16"]),
        ("move:30", &["0: 2/4, 5/12", "30: 1/1, 3/4"]),
        ("move:2", &["0: 1/3, 1/6", "2: 2/2, 4/5", "28: 0/1, 0/1", "30: 1/1, 3/4"]),
        ("ply:4*move:30", &["0 0: 2/4, 3/10", "0 30: 1/1, 2/3", "4 0: 1/1, 2/2", "4 30: 1/1, 1/1"]),
        (
            "ply:2*result",
            &[
                "0 1-0: 0/1, 0/2",
                "0 1/2-1/2: 0/1, 0/2",
                "0 0-1: 1/1, 1/2",
                "0 *: 0/1, 0/2",
                "2 1-0: 1/1, 1/2",
                "2 1/2-1/2: 1/1, 2/2",
                "2 0-1: 1/1, 1/1",
                "4 1-0: 1/1, 2/2",
                "4 1/2-1/2: 1/1, 1/1",
            ],
        ),
    ] {
        assert_eq!(shown(&counts(KNIGHT, grouping), grouping), rows, "{grouping}");
    }
}

#[test]
fn hits_are_grouped_by_value_and_copy_among_all_games() {
    let (number, set) = ("#(Nf3 | nf6)", "Nf3 | nf6");
    for (query, grouping, rows) in [
        (number, "value", &["0: 4/4, 8/16", "1: 3/4, 7/16", "2: 1/4, 1/16"][..]),
        (number, "value:2", &["0: 4/4, 15/16", "2: 1/4, 1/16"]),
        (set, "value", &["1: 3/4, 7/16", "2: 1/4, 1/16"]),
        (KNIGHT, "value", &["true: 3/4, 8/16"]),
        ("-5 + #(Nf3 | nf6)", "value:4", &["-8: 4/4, 8/16", "-4: 3/4, 8/16"]),
        (
            number,
            "value*year",
            &[
                "0 1997: 2/2, 5/11",
                "0 1999: 1/1, 1/3",
                "0 ?: 1/1, 2/2",
                "1 1997: 2/2, 6/11",
                "1 1999: 1/1, 1/3",
                "2 1999: 1/1, 1/3",
            ],
        ),
        ("flipcolor {Nf3}", "copy", &["1: 3/4, 8/16", "2: 1/4, 1/16"]),
        (
            "flipcolor {Nf3}",
            "result*copy",
            &["1-0 1: 1/1, 3/6", "1/2-1/2 1: 1/1, 3/5", "0-1 1: 1/1, 2/3", "0-1 2: 1/1, 1/3"],
        ),
        (
            "flipcolor {Nf3}",
            "ply:2*copy",
            &["0 1: 1/4, 1/8", "2 1: 3/3, 4/5", "2 2: 1/3, 1/5", "4 1: 2/2, 3/3"],
        ),
        ("flipcolor Nf3", "copy*value", &["1 1: 3/4, 7/16", "1 2: 1/4, 1/16", "2 2: 1/4, 1/16"]),
        (KNIGHT, "copy", &["1: 3/4, 8/16"]),
        ("{Nf3 not Nf3}", "copy", &[]),
    ] {
        assert_eq!(shown(&counts(query, grouping), grouping), rows, "{query} by {grouping}");
    }
}

#[test]
fn games_that_do_not_count_are_as_if_they_were_not_there() {
    let open = |query, grouping| counted(query, grouping, pgn(1 << 20), 1, Some("Open"));
    let fourth = |query, grouping| counted(query, grouping, pgn(1 << 20), 1, Some("M\u{fc}, \u{7}"));
    assert_eq!(shown(&open(KNIGHT, "year"), "year"), ["1997: 1/1, 3/6", "1999: 1/1, 2/3"]);
    assert_eq!(shown(&open("flipcolor {Nf3}", "copy"), "copy"), ["1: 2/2, 5/9", "2: 1/2, 1/9"]);
    // Only the fourth game is selected. The games before it also have hits of both copies (the pattern and its colour flip),
    // which must not be counted.
    assert_eq!(shown(&fourth("flipcolor {Nf3 or qd8}", "copy"), "copy"), ["1: 1/1, 3/5"]);
}

#[test]
fn white_scores_are_means_of_known_results() {
    let counts = counts("{Nf3 not initial btm}", "year,player");
    let total = counts.total();
    // One game is won, one is lost, one is drawn, and one has no result.
    let three = Tally { results: 3, half_points: 3, wins: 1, ..Tally::default() };
    assert_eq!(total.all, Tally { games: 4, positions: 16, ..three });
    assert_eq!(total.all.ends(), SideResults { wins: 1, draws: 1, losses: 1 });
    assert_eq!(total.all.score(), Some(0.5));
    assert_eq!(total.hit, Tally { games: 3, positions: 5, ..three });
    let years = counts.rows(&"year".parse().unwrap());
    let scores: Vec<_> = years.iter().map(|row| (row.hit.score(), row.all.score())).collect();
    assert_eq!(scores, [(Some(0.75), Some(0.75)), (Some(0.0), Some(0.0)), (None, None)]);
}

#[test]
fn nothing_is_counted_of_nothing() {
    let none = counted(KNIGHT, "year,copy,ply*result", pgn(1 << 20), 1, Some("no such event"));
    assert_eq!(none.total().all, Tally::default());
    assert!(["year", "copy", "ply*result"].iter().all(|grouping| shown(&none, grouping).is_empty()));
    assert_eq!(none.total().games(), None);
}
