//! Constructs findings (the data of a report) by hand: with many rows, with odd names, or empty.

use orbit_core::board::{Bitboard, Square};
use orbit_search::report::{
    findings::{
        Findings, GroupTable, Histogram, HistogramRow, HitCounts, ListedGame, Miss, Misses, OrbitFindings,
        PatternBoard, SampleHit, SampleMoves, SampleSpan, SortedBy, SquareNames, SquarePair, Unit,
    },
    heat::HeatMap,
};
use orbit_transforms::Orbit;
use orbit_transforms::OutermostOrbit as _;

/// Returns the orbit (the set of distinct copies) of a query that is a transform.
pub fn orbit_of(text: &str) -> Orbit {
    let filter = orbit_transforms::expand(&orbit_query::parse(text).unwrap().query.body).unwrap();
    filter.outermost().unwrap_or_else(|| panic!("{text} is no transform"))
}

/// Returns findings (the data of a report) with everything that a page can show. Some parts are too long, too large or hostile.
pub fn rich(query: &str) -> Findings {
    let orbit = orbit_of(query);
    let size = orbit.copies.len() as u64;
    let mut counts: Vec<u64> = (0..size).map(|k| (k * 7_919 % 613).saturating_sub(150)).collect();
    counts[5] = 98_765_432_109_876;
    let mut squares = [0; 64];
    (0..64u64).for_each(|k| squares[k as usize] = k * k * 31 % 1_009);
    Findings {
        title: "Knights & <kings> “in check” שח".into(),
        date: Some("2026-01-31".into()),
        query: query.into(),
        chosen: "games with white~<Müller> & date>=2015".into(),
        pattern: PatternBoard::from_filter(&orbit.base),
        engine: "cpu, 2 threads <AVX-512>".into(),
        sources: (0..60).map(|k| format!("folder & more/a-rather-long-file-name-{k}.pgn.zst")).collect(),
        totals: HitCounts { games: 11_372, games_hit: 4_071, positions: u64::MAX, positions_hit: 98_765 },
        orbit: Some(OrbitFindings::new(&orbit, &counts)),
        squares: Some(HeatMap::from_squares(&squares)),
        histograms: histograms(),
        tables: vec![GroupTable {
            name: "next:2".into(),
            headings: ["next:2", "games hit", "share"].map(String::from).to_vec(),
            rows: [&["Nf6", "1,071", "26.3 %"][..], &["<b> & more"], &["total", "4,071", ""]]
                .map(|row| row.iter().map(|cell| String::from(*cell)).collect())
                .to_vec(),
        }],
        sample: sample(),
        sample_note: "6 of 98,765 hits, seed 1.".into(),
        games: games(),
        games_found: 4_071,
        command: format!("orbit scan --where 'white~<O'\\''Kelly>' '{query}\n' games.pgn"),
        command_outputs: "-o report.html --title='</script><b>'".into(),
        ..Findings::default()
    }
}

/// Returns the findings (the data of a report) for a query without hits.
pub fn empty() -> Findings {
    let orbit = orbit_of("shift {R[a1,a2] k}");
    Findings {
        title: String::new(),
        date: None,
        query: "stalemate".into(),
        chosen: String::new(),
        pattern: PatternBoard::default(),
        engine: "cpu".into(),
        sources: Vec::new(),
        totals: HitCounts { games: 1_234, positions: 98_765, ..HitCounts::default() },
        orbit: Some(OrbitFindings::new(&orbit, &vec![0; orbit.copies.len()])),
        squares: Some(HeatMap::from_squares(&[0; 64])),
        histograms: vec![
            histogram("year", Unit::Games, &[]),
            histogram("ply", Unit::Positions, &[("0", 0, 0)]),
        ],
        misses: Some(Misses {
            games: 1_234,
            positions: 98_765,
            is_whole: false,
            tried: vec![
                Miss {
                    change: "without R[a1,a2]".into(),
                    query: "shift {k}".into(),
                    games_hit: 1_200,
                    positions_hit: 98_000,
                },
                Miss {
                    change: "a-change-without-any-blank-in-it-that-goes-on-and-on & <b>".into(),
                    query: "{".repeat(300),
                    games_hit: 0,
                    positions_hit: 0,
                },
            ],
        }),
        ..Findings::default()
    }
}

fn histograms() -> Vec<Histogram> {
    // The years from 2001 to 2010 have no games, which leaves a gap in the chart.
    let years: Vec<_> = (1990..2026u64)
        .filter(|year| !(2001..2011).contains(year))
        .map(|year| (year.to_string(), (year * 37) % 211, 4_000))
        .collect();
    let ratings: Vec<_> = (0..14u64)
        .map(|k| {
            (
                format!("{}-{}", 1_500 + 100 * k, 1_599 + 100 * k),
                10 * k,
                if k == 3 { 0 } else { 10 + 400 * k },
            )
        })
        .collect();
    let plies: Vec<_> = (0..300u64).map(|k| (k.to_string(), k * 13 % 1_000, 100_000 - k)).collect();
    let rare: Vec<_> = (0..9u64).map(|k| (format!("{k}"), k, 100_000)).collect();
    let names = [
        "Čigorin <b>&amp;\"'",
        "Шахматы",
        "将棋と囲碁の名前がとても長い場合",
        "الشطرنج",
        "</script><script>alert(1)",
    ];
    let names: Vec<_> = names.into_iter().map(|name| (name.to_owned(), 1_234_567, u64::MAX / 2)).collect();
    let lists = [
        ("year", Unit::Games, years),
        ("rating", Unit::Games, ratings),
        ("ply", Unit::Positions, plies),
        ("rare", Unit::Positions, rare),
    ];
    let mut out: Vec<Histogram> = lists.iter().map(|(name, unit, rows)| owned(name, *unit, rows)).collect();
    out.push(owned("event <&>", Unit::Games, &names));
    out
}

fn owned(name: &str, unit: Unit, rows: &[(String, u64, u64)]) -> Histogram {
    let rows: Vec<_> = rows.iter().map(|(label, hit, all)| (label.as_str(), *hit, *all)).collect();
    histogram(name, unit, &rows)
}

fn histogram(name: &str, unit: Unit, rows: &[(&str, u64, u64)]) -> Histogram {
    let row = |&(label, hit, all): &(&str, u64, u64)| {
        let share = (all > 0).then(|| hit as f64 / all as f64);
        let reach = 1.0 / (all.max(1) as f64).sqrt();
        let (first, last) = label.split_once('-').unwrap_or((label, label));
        HistogramRow {
            label: label.into(),
            first: first.parse().ok(),
            last: last.parse().ok(),
            counts: HitCounts { games: all, games_hit: hit, positions: all, positions_hit: hit.min(all) },
            share,
            low: share.map(|share| (share - reach).max(0.0)),
            high: share.map(|share| (share + reach).min(1.0)),
        }
    };
    Histogram { name: name.into(), unit, rows: rows.iter().map(row).collect() }
}

fn games() -> Vec<ListedGame> {
    let game = |game: u64, players: &str, moves: &str| ListedGame {
        game,
        source: "folder & more/file.pgn".into(),
        players: players.into(),
        result: "1/2-1/2".into(),
        date: "2015.07.20".into(),
        event: "Open <of> the “World”".into(),
        hits: 12_345,
        moves: moves.into(),
        ..ListedGame::default()
    };
    let sorted = |name: &str, value: &str| SortedBy { name: name.into(), value: value.into() };
    vec![
        ListedGame {
            sorts: vec![sorted("men <&>", "-4"), sorted("שח", "</script><script>alert(1)")],
            spans: vec!["23... 24. Nf6+ <Kh8>".into(), "(12...b5: 15.) 15. Nf3".into()],
            ..game(
                1,
                "Čigorin, Mikhail & \"sons\" - O'Kelly <de Galway> (2500)",
                &"23. Nxf6+ to 24... Kh8, next Rxf6; ".repeat(12),
            )
        },
        game(3, "A-name-without-any-blank-in-it-that-goes-on-and-on-and-on-and-on-and-on-and-on", ""),
        ListedGame {
            event: String::new(),
            date: String::new(),
            ..game(987_654_321, "كاسباروف - 王, 皓", "start")
        },
    ]
}

fn sample() -> Vec<SampleHit> {
    let hit = |game: u64, white: &str, black: &str, fen: &str, lit: &[Square]| SampleHit {
        game,
        source: "folder & more/file.pgn".into(),
        white: white.into(),
        black: black.into(),
        event: "Open <of> the “World”".into(),
        date: "2015.07.20".into(),
        result: "1/2-1/2".into(),
        ply: 122,
        label: "61...".into(),
        fen: fen.into(),
        next: Some("Nxf6+".into()),
        lit: SquareNames(lit.iter().copied().collect::<Bitboard>()),
        url: Some(format!("https://lichess.org/abcd{game}#122")),
        value: Some("[d4,e5]".into()),
        copy: Some("{Nf6 kg8}".into()),
        ..SampleHit::default()
    };
    let middle = "r1bq1rk1/pp2bppp/2n1pN2/3p4/3P4/2NB4/PPP2PPP/R1BQK2R b KQ - 0 10";
    let arrows = [[Square::G8, Square::H8], [Square::F6, Square::H7], [Square::A1, Square::B1]];
    vec![
        SampleHit {
            moves: SampleMoves {
                before: ["59... Kg8", "60. Nf6+", "Kh8", "61. Nxh7", "Nxf6+"].map(String::from).into(),
                after: ["62. Nxf6+", "Kxh7"].map(String::from).into(),
            },
            span: Some(SampleSpan {
                kind: "path".into(),
                moves: "61... Kh8 62. Nxh7 … 64. Rb1".into(),
                length: 3,
                arrows: arrows.map(SquarePair).into(),
            }),
            ..hit(1, "Čigorin, Mikhail & \"sons\"", "O'Kelly <de Galway>", middle, &[Square::F6, Square::G8])
        },
        hit(2, "Петросян, Тигран", "王, 皓", "8/8/8/8/3N4/5k2/8/4K3 b - - 0 1", &[Square::D4, Square::F3]),
        hit(
            987_654_321,
            "كاسباروف",
            "A-name-without-any-blank-in-it-that-goes-on-and-on-and-on",
            "not a fen",
            &[],
        ),
        SampleHit {
            url: Some("http://plain.example/".into()),
            ply: 0,
            next: None,
            ..hit(4, "?", "?", "K7/8/8/8/8/8/8/k7 w - - 0 1", &[])
        },
        SampleHit {
            url: None,
            value: None,
            copy: None,
            date: String::new(),
            ..hit(5, "a", "b", middle, &[Square::A1, Square::H8])
        },
        hit(
            6,
            "",
            "",
            "QQQQQQQQ/rrrrrrrr/NNNNNNNN/bbbbbbbb/PPPPPPPP/kkkkkkkk/nnnnnnnn/qqqqqqqq w - - 0 1",
            &[Square::E4],
        ),
    ]
}
