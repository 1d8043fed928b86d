//! Tests groups by the moves played at hits. The expected groups were counted by hand, or are computed from games that pgn-reader
//! parses and shakmaty replays.
//!
//! A *copy* is one of the patterns that a transform generates.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Cursor;
use std::ops::ControlFlow;

use orbit_chess::{Database, DatabaseOptions, Query};
use orbit_search::choice::Player;
use orbit_search::stats::{Counts, GroupKey, GroupRow, MoveRow};
use pgn_reader::{RawTag, Reader, SanPlus, Visitor};
use shakmaty::{CastlingMode, Chess, Color, EnPassantMode, Move, Position, Role, Square};

use crate::database::SAMPLE;

/// A game as parsed by pgn-reader and shakmaty.
pub(crate) struct Played {
    pub(crate) result: String,
    /// The positions: one more than the number of moves.
    pub(crate) positions: Vec<Chess>,
    pub(crate) moves: Vec<Move>,
}

struct Reading;

impl Visitor for Reading {
    type Tags = String;
    type Movetext = Played;
    type Output = Played;

    fn begin_tags(&mut self) -> ControlFlow<Played, String> {
        ControlFlow::Continue(String::new())
    }

    fn tag(&mut self, result: &mut String, name: &[u8], value: RawTag<'_>) -> ControlFlow<Played> {
        assert!(name != b"FEN", "games of the sample begin with the usual position");
        if name == b"Result" {
            *result = value.decode_utf8().unwrap().into_owned();
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, result: String) -> ControlFlow<Played, Played> {
        ControlFlow::Continue(Played { result, positions: vec![Chess::new()], moves: Vec::new() })
    }

    fn san(&mut self, game: &mut Played, san: SanPlus) -> ControlFlow<Played> {
        let before = game.positions.last().unwrap();
        let mv = san.san.to_move(before).unwrap();
        let mut after = before.clone();
        after.play_unchecked(mv);
        game.positions.push(after);
        game.moves.push(mv);
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, _: &mut Played) -> ControlFlow<Played, pgn_reader::Skip> {
        ControlFlow::Continue(pgn_reader::Skip(true))
    }

    fn end_game(&mut self, game: Played) -> Played {
        game
    }
}

pub(crate) fn sample() -> Vec<Played> {
    let bytes = std::fs::read(SAMPLE).unwrap();
    let mut reader = Reader::new(Cursor::new(bytes));
    let mut games = Vec::new();
    while let Some(game) = reader.read_game(&mut Reading).unwrap() {
        games.push(game);
    }
    assert_eq!(games.len(), 1000);
    games
}

/// The viewpoint from which a move is shown: that of the game as it was played, or that of the filter as it is written. In `By`,
/// the array maps each square of the game to the square of the filter that the matching copy moved there, and the flag is true if
/// the copy swaps colours. Square a1 is (0, 0).
#[derive(Clone)]
enum Seen {
    Played,
    /// The board is turned upside down and the colours are swapped.
    Mirrored,
    By(Box<[(i32, i32); 64]>, bool),
    /// The filter has no squares, so moves are shown as played.
    Nowhere,
}

fn by(swap: bool, map: impl Fn(i32, i32) -> (i32, i32)) -> Seen {
    let squares = std::array::from_fn(|square| map(square as i32 % 8, square as i32 / 8));
    Seen::By(Box::new(squares), swap)
}

/// Returns the map for a copy that is shifted by some files and ranks, after a colour swap if `swap` is true.
fn shifted(swap: bool, by_how_much: (i32, i32)) -> Seen {
    let (dx, dy) = by_how_much;
    match by_how_much {
        (0, 0) if swap => Seen::Mirrored,
        (0, 0) => Seen::Played,
        _ if swap => by(true, |file, rank| (file - dx, 7 - (rank - dy))),
        _ => by(false, |file, rank| (file - dx, rank - dy)),
    }
}

/// A hit: its first and last position, and the viewpoint from which its moves are shown.
type Hit = (usize, usize, Seen);

/// Formats a move in the notation that the statistics use for groups by move.
fn told(chess: &Chess, mv: Move, seen: &Seen) -> String {
    match seen {
        Seen::Played => SanPlus::from_move(chess.clone(), mv).to_string(),
        Seen::Mirrored => {
            let setup = chess.to_setup(EnPassantMode::Always).into_mirrored();
            let mirrored: Chess = setup.position(CastlingMode::Standard).unwrap();
            let is_image = |image: &Move| {
                let square = |square: Square| square.flip_vertical();
                (image.from(), image.to(), image.promotion())
                    == (mv.from().map(square), square(mv.to()), mv.promotion())
            };
            let image = mirrored.legal_moves().into_iter().find(is_image).unwrap();
            SanPlus::from_move(mirrored, image).to_string()
        }
        Seen::Nowhere => long(mv, None),
        Seen::By(map, swap) => {
            let suffix =
                SanPlus::from_move(chess.clone(), mv).suffix.map_or(String::new(), |s| s.to_string());
            match spelt(chess, mv, map, *swap) {
                Some(text) => text + &suffix,
                None => long(mv, Some(&**map)),
            }
        }
    }
}

fn name((file, rank): (i32, i32)) -> Option<String> {
    let is_on = (0..8).contains(&file) && (0..8).contains(&rank);
    is_on.then(|| format!("{}{}", (b'a' + file as u8) as char, rank + 1))
}

/// Formats a move as a piece letter and two squares. Without a map, or if the map takes one of the squares off the board, the
/// squares are those of the game.
fn long(mv: Move, map: Option<&[(i32, i32); 64]>) -> String {
    let (from, to) = match mv {
        Move::Castle { king, rook } if rook > king => {
            (king, Square::from_coords(shakmaty::File::G, king.rank()))
        }
        Move::Castle { king, .. } => (king, Square::from_coords(shakmaty::File::C, king.rank())),
        _ => (mv.from().unwrap(), mv.to()),
    };
    let carried = map.and_then(|map| name(map[from as usize]).zip(name(map[to as usize])));
    let (from, to) = carried.unwrap_or((from.to_string(), to.to_string()));
    let letter = if mv.role() == Role::Pawn { String::new() } else { mv.role().upper_char().to_string() };
    let becomes = mv.promotion().map_or(String::new(), |role| format!("={}", role.upper_char()));
    format!("{letter}{from}-{to}{becomes}")
}

/// Formats a move in SAN without check signs; `None` if SAN cannot express it.
fn spelt(chess: &Chess, mv: Move, map: &[(i32, i32); 64], swap: bool) -> Option<String> {
    // In these tests, a castling move is no longer castling after its squares are mapped, so it is shown with its squares.
    if mv.is_castle() {
        return None;
    }
    let (before, after) = (map[mv.from()? as usize], map[mv.to() as usize]);
    let (from, to) = (name(before)?, name(after)?);
    let takes = if mv.is_capture() { "x" } else { "" };
    if mv.role() != Role::Pawn {
        let legal = chess.legal_moves();
        let others = legal.iter().filter(|other| {
            !other.is_castle()
                && other.role() == mv.role()
                && other.to() == mv.to()
                && other.from() != mv.from()
        });
        let others: Vec<(i32, i32)> = others.map(|other| map[other.from().unwrap() as usize]).collect();
        let origin = if others.is_empty() {
            ""
        } else if others.iter().all(|other| other.0 != before.0) {
            &from[..1]
        } else if others.iter().all(|other| other.1 != before.1) {
            &from[1..]
        } else {
            &from
        };
        return Some(format!("{}{origin}{takes}{to}", mv.role().upper_char()));
    }
    // Ranks are counted from the side of the player who moves on the mapped board.
    let is_white = chess.turn().is_white() != swap;
    let rank = |at: (i32, i32)| if is_white { at.1 + 1 } else { 8 - at.1 };
    let (aside, steps) = ((after.0 - before.0).abs(), rank(after) - rank(before));
    let goes = match (mv.is_capture(), aside, steps) {
        (true, 1, 1) => !mv.is_en_passant() || rank(after) == 6,
        (false, 0, 1) => true,
        (false, 0, 2) => rank(before) == 2,
        _ => false,
    };
    let fits = rank(before) >= 2 && (rank(after) == 8) == mv.is_promotion();
    let becomes = mv.promotion().map_or(String::new(), |role| format!("={}", role.upper_char()));
    (goes && fits).then(|| match mv.is_capture() {
        true => format!("{}x{to}{becomes}", &from[..1]),
        false => format!("{to}{becomes}"),
    })
}

/// The numbers of games and positions, and the results of the games for the side to move: won, drawn and lost.
type Sums = [u64; 5];

/// Groups hits by the moves before or after them, computed from the replayed games, and returns the counts of each group.
fn groups(
    games: &[Played],
    hits: &dyn Fn(&Played, usize) -> Option<Hit>,
    beside: &str,
) -> BTreeMap<String, Sums> {
    let mut out: BTreeMap<String, Sums> = BTreeMap::new();
    for game in games {
        let mut found: HashMap<String, (u64, BTreeSet<bool>)> = HashMap::new();
        for at in 0..game.positions.len() {
            let Some((first, last, seen)) = hits(game, at) else { continue };
            let (names, mover) = if beside == "previous" {
                let turn = game.positions[first].turn();
                let name = match first.checked_sub(1) {
                    None => "(start)".to_owned(),
                    Some(before) => told(&game.positions[before], game.moves[before], &seen),
                };
                (vec![name], !turn)
            } else {
                let plies = if beside == "next:3" { 3 } else { 1 };
                let moves = (last..game.moves.len()).take(plies);
                let moves: Vec<String> =
                    moves.map(|at| told(&game.positions[at], game.moves[at], &seen)).collect();
                let paths: Vec<String> = (1..=moves.len()).map(|count| moves[..count].join(" ")).collect();
                let paths = if paths.is_empty() { vec!["(end)".to_owned()] } else { paths };
                (paths, game.positions[last].turn())
            };
            for name in names {
                let (positions, movers) = found.entry(name).or_default();
                *positions += 1;
                movers.insert(mover.is_white());
            }
        }
        for (name, (positions, movers)) in found {
            let sums = out.entry(name).or_default();
            (sums[0], sums[1]) = (sums[0] + 1, sums[1] + positions);
            for is_white in movers {
                match (game.result.as_str(), is_white) {
                    ("1-0", true) | ("0-1", false) => sums[2] += 1,
                    ("1/2-1/2", _) => sums[3] += 1,
                    ("1-0", false) | ("0-1", true) => sums[4] += 1,
                    _ => {}
                }
            }
        }
    }
    out
}

/// Returns the groups that the library computes, in the same form as [`groups`].
fn counted(counts: &Counts, grouping: &str) -> BTreeMap<String, Sums> {
    let rows = counts.rows(&grouping.parse().unwrap()).into_iter();
    let sums = |row: GroupRow| {
        let ends = row.moves.as_ref().unwrap().tally.results;
        let sums = [row.hit.games, row.hit.positions, ends.wins, ends.draws, ends.losses];
        (row.keys[0].to_string(), sums)
    };
    rows.map(sums).collect()
}

const GROUPINGS: &str = "next,next:3,previous,next:played,previous:played";

/// Compares the test's groups with those of the library. Returns the group names for next moves.
#[track_caller]
fn compare(
    database: &Database,
    games: &[Played],
    text: &str,
    hits: &dyn Fn(&Played, usize) -> Option<Hit>,
) -> Vec<String> {
    let query = Query::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let counts = database.scan(&query).statistics(GROUPINGS).unwrap();
    let is_same = |due: &BTreeMap<String, Sums>, grouping: &str| {
        let found = counted(&counts, grouping);
        for (name, sums) in due {
            assert_eq!(found.get(name), Some(sums), "{text}: {name} by {grouping}");
        }
        assert_eq!(found.len(), due.len(), "{text}: other groups by {grouping}: {found:?}");
    };
    let tree = groups(games, hits, "next:3");
    is_same(&tree, "next:3");
    let firsts: BTreeMap<String, Sums> = tree.into_iter().filter(|(path, _)| !path.contains(' ')).collect();
    is_same(&firsts, "next");
    is_same(&groups(games, hits, "previous"), "previous");
    let as_played =
        |game: &Played, at: usize| hits(game, at).map(|(first, last, _)| (first, last, Seen::Played));
    is_same(&groups(games, &as_played, "next"), "next:played");
    is_same(&groups(games, &as_played, "previous"), "previous:played");
    assert!(!firsts.is_empty(), "{text} hits nothing");
    firsts.into_keys().collect()
}

/// Returns a query for exactly this position.
fn query_of(chess: &Chess) -> String {
    let square = |square: Square| match chess.board().piece_at(square) {
        Some(piece) => format!("{}{square}", piece.char()),
        None => format!("_{square}"),
    };
    let squares: Vec<String> = Square::ALL.into_iter().map(square).collect();
    format!("{} {}", if chess.turn().is_white() { "wtm" } else { "btm" }, squares.join(" "))
}

#[test(part = 3)]
fn moves_beside_positions_are_those_that_were_played() {
    let games = sample();
    let database = Database::open([SAMPLE]).unwrap();
    let mut counts: HashMap<(String, bool), usize> = HashMap::new();
    let place = |chess: &Chess| (chess.board().to_string(), chess.turn().is_white());
    for position in games.iter().flat_map(|game| &game.positions) {
        *counts.entry(place(position)).or_default() += 1;
    }
    let mut often: Vec<_> = counts.into_iter().collect();
    often.sort_unstable_by(|a, b| (b.1, &a.0).cmp(&(a.1, &b.0)));
    let often: Vec<_> = often.into_iter().take(12).map(|(place, _)| place).collect();
    let all = || games.iter().flat_map(|game| game.positions.iter().zip(&game.moves));
    let mut chosen: Vec<&Chess> = Vec::new();
    for wanted in &often {
        chosen.extend(all().map(|(position, _)| position).find(|position| place(position) == *wanted));
    }
    let kinds: [fn(&Move) -> bool; 4] = [
        |mv| mv.castling_side() == Some(shakmaty::CastlingSide::KingSide),
        |mv| mv.castling_side() == Some(shakmaty::CastlingSide::QueenSide),
        |mv| mv.is_en_passant(),
        |mv| mv.is_promotion(),
    ];
    for kind in kinds {
        chosen.extend(all().filter(|(_, mv)| kind(mv)).map(|(position, _)| position).take(2));
    }
    assert_eq!(chosen.len(), 20);
    let mut names = BTreeSet::new();
    for position in chosen {
        let hits = |game: &Played, at: usize| {
            (place(&game.positions[at]) == place(position)).then_some((at, at, Seen::Played))
        };
        names.extend(compare(&database, &games, &query_of(position), &hits));
    }
    let has = |part: &str| names.iter().any(|name| name.contains(part));
    assert!(["e4", "O-O", "O-O-O", "=Q", "x"].into_iter().all(has), "{names:?}");
}

#[test(part = 3)]
fn moves_beside_patterns_are_carried_back() {
    let games = sample();
    let database = Database::open([SAMPLE]).unwrap();
    let has = |chess: &Chess, piece: char, (file, rank): (i32, i32)| {
        let square = name((file, rank)).and_then(|name| name.parse::<Square>().ok());
        square.and_then(|square| chess.board().piece_at(square)).is_some_and(|found| found.char() == piece)
    };
    let place = |square: Square| (square.file() as i32, square.rank() as i32);
    let shifts = || (-7..=7).flat_map(|dx| (-7..=7).map(move |dy| (dx, dy)));
    let compare =
        |text: &str, hits: &dyn Fn(&Played, usize) -> Option<Hit>| compare(&database, &games, text, hits);
    let piece = |chess: &Chess, square: Square| chess.board().piece_at(square).map(|piece| piece.char());

    compare("Nd5", &move |game, at| {
        (piece(&game.positions[at], Square::D5) == Some('N')).then_some((at, at, Seen::Played))
    });
    compare("check", &|game, at| game.positions[at].is_check().then_some((at, at, Seen::Played)));
    // If both the pattern and its colour flip match, moves are shown from the viewpoint of the pattern as written.
    let names = compare("flipcolor Nd5", &move |game, at| {
        let chess = &game.positions[at];
        let seen = match (piece(chess, Square::D5), piece(chess, Square::D4)) {
            (Some('N'), _) => Seen::Played,
            (_, Some('n')) => Seen::Mirrored,
            _ => return None,
        };
        Some((at, at, seen))
    });
    assert!(names.iter().any(|name| name == "Nxf6+"), "{names:?}");
    let names = compare("flipvertical Bb5", &move |game, at| {
        let chess = &game.positions[at];
        let seen = match (piece(chess, Square::B5), piece(chess, Square::G5)) {
            (Some('B'), _) => Seen::Played,
            (_, Some('B')) => by(false, |file, rank| (7 - file, rank)),
            _ => return None,
        };
        Some((at, at, seen))
    });
    // On the mirrored board, castling goes to the other side, so these moves are shown with their squares.
    assert!(
        ["Kd1-b1", "Kd8-b8", "O-O"].into_iter().all(|one| names.iter().any(|name| name == one)),
        "{names:?}"
    );
    let names = compare("flip Nd4", &move |game, at| {
        let chess = &game.positions[at];
        let knight = |square| piece(chess, square) == Some('N');
        let seen = if knight(Square::D4) {
            Seen::Played
        } else if knight(Square::E4) {
            by(false, |file, rank| (rank, 7 - file))
        } else if knight(Square::E5) {
            by(false, |file, rank| (7 - file, 7 - rank))
        } else if knight(Square::D5) {
            by(false, |file, rank| (7 - rank, file))
        } else {
            return None;
        };
        Some((at, at, seen))
    });
    assert!(names.iter().any(|name| name == "Nxf5") && names.iter().any(|name| name == "e5-e4"), "{names:?}");
    let names = compare("shift {Nd4 kf3}", &move |game, at| {
        let chess = &game.positions[at];
        let (file, rank) = place(chess.board().king_of(Color::Black)?);
        has(chess, 'N', (file - 2, rank + 1)).then(|| (at, at, shifted(false, (file - 5, rank - 2))))
    });
    assert!(names.iter().any(|name| name.contains('-')), "{names:?}");
    compare("shift flipcolor {Pd4 Pd5}", &move |game, at| {
        let chess = &game.positions[at];
        let seen = shifts().find_map(|(dx, dy)| {
            let both = |pawn| has(chess, pawn, (3 + dx, 3 + dy)) && has(chess, pawn, (3 + dx, 4 + dy));
            let swap = if both('P') { Some(false) } else { both('p').then_some(true) };
            swap.map(|swap| shifted(swap, (dx, dy)))
        })?;
        Some((at, at, seen))
    });
    // A pattern with a direction that is rotated by 45 degrees has no squares, so moves are shown as played.
    compare("rotate45 {up 1 K & p}", &move |game, at| {
        let chess = &game.positions[at];
        let (file, rank) = place(chess.board().king_of(Color::White)?);
        let pawn = |(dx, dy): (i32, i32)| has(chess, 'p', (file + dx, rank + dy));
        let around = (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (dx, dy)));
        match (pawn((0, 1)), around.into_iter().any(pawn)) {
            (true, _) => Some((at, at, Seen::Played)),
            (_, true) => Some((at, at, Seen::Nowhere)),
            _ => None,
        }
    });
    // Each hit of this query consists of one move.
    compare("N--d5", &|game, at| {
        let mv = game.moves.get(at)?;
        let is_found =
            mv.role() == Role::Knight && mv.to() == Square::D5 && game.positions[at].turn().is_white();
        is_found.then_some((at, at + 1, Seen::Played))
    });
    compare("line --> Nf3 --> check", &move |game, at| {
        let is_found = piece(&game.positions[at], Square::F3) == Some('N')
            && game.positions.get(at + 1).is_some_and(Chess::is_check);
        is_found.then_some((at, at + 1, Seen::Played))
    });
    let names = compare("Nf6 find mate", &move |game, at| {
        let last = game.positions.len() - 1;
        let is_found =
            piece(&game.positions[at], Square::F6) == Some('N') && game.positions[last].is_checkmate();
        is_found.then_some((at, last, Seen::Played))
    });
    assert_eq!(names, ["(end)"]);
}

/// Games with ratings, years and players. One starts from a Chess960 position, and one has side lines.
const GAMES: &str = r#"
[White "Ann"]
[Black "Bob"]
[WhiteElo "2500"]
[BlackElo "2300"]
[Date "1999.01.01"]
[Result "1-0"]

1. e4 e5 (1... c5 2. Nf3 (2. Nc3 Nc6) 2... d6) 2. Nf3 Nc6 1-0

[White "Cid"]
[Black "Dan"]
[WhiteElo "2700"]
[Date "2004.??.??"]
[Result "1/2-1/2"]

1. e4 e5 2. Bc4 1/2-1/2

[White "Eve"]
[Black "Fay"]
[BlackElo "2600"]
[WhiteElo "2200"]
[Result "0-1"]

1. e4 c5 0-1

[White "Gil"]
[Black "Hal"]
[Variant "Chess960"]
[FEN "rk2r3/pppppppp/8/8/8/8/PPPPPPPP/RK2R3 w KQkq - 0 1"]
[Result "*"]

1. O-O O-O-O *
"#;

fn by_hand(query: Query, groupings: &str) -> Counts {
    let database =
        DatabaseOptions::new().variations(true).open_bytes("games", GAMES.as_bytes().to_vec()).unwrap();
    database.scan(&query).statistics(groupings).unwrap()
}

/// Returns groups as `group: games, positions, won-drawn-lost`.
fn shown(counts: &Counts, grouping: &str) -> Vec<String> {
    let rows = counts.rows(&grouping.parse().unwrap());
    let row = |row: &GroupRow| {
        let MoveRow { tally, .. } = row.moves.as_ref().unwrap();
        let [wins, draws, losses] = [tally.results.wins, tally.results.draws, tally.results.losses];
        let second =
            if row.keys[1] == GroupKey::Whole { String::new() } else { format!(" / {}", row.keys[1]) };
        format!("{}{second}: {}, {}, {wins}-{draws}-{losses}", row.keys[0], row.hit.games, row.hit.positions)
    };
    rows.iter().map(row).collect()
}

#[test]
fn groups_of_moves_tell_more_of_their_games() {
    let counts = by_hand(Query::parse("Pe4 btm pe7 pc7").unwrap(), "next,next*year");
    assert_eq!(shown(&counts, "next"), ["e5: 2, 2, 0-1-1", "c5: 1, 1, 1-0-0"]);
    let rows = counts.rows(&"next".parse().unwrap());
    let tally = |row: usize| &rows[row].moves.as_ref().unwrap().tally;
    assert_eq!((tally(0).rating(), tally(1).rating()), (Some(2300), Some(2600)));
    // The player of `e5` scores half a point in two games against opponents rated 2500 and 2700. The player of `c5` wins a game
    // against an opponent rated 2200.
    assert_eq!((tally(0).performance(), tally(1).performance()), (Some(2409), Some(3000)));
    assert_eq!((tally(0).years, tally(1).years), (Some([1999, 2004]), None));
    let best = tally(0).best.as_ref().unwrap();
    // The game of the player rated 2700 is not the best one, because the other player of that game has no rating.
    assert_eq!((best.rating, best.number, best.source.as_str()), (2400, 1, "games"));
    assert_eq!(best.players, [Some("Ann".to_owned()), Some("Bob".to_owned())]);
    let alone = by_hand(Query::parse("Pe4 Bc4").unwrap(), "previous").rows(&"previous".parse().unwrap());
    let alone = alone[0].moves.as_ref().unwrap().tally.best.as_ref().map(|best| (best.rating, best.number));
    assert_eq!(alone, Some((2700, 2)));
    let share = rows[0].move_share().unwrap();
    assert!((share.value - 2.0 / 3.0).abs() < 1e-9 && share.low < 0.3 && share.high > 0.9, "{share:?}");
    assert_eq!(rows[0].moves.as_ref().unwrap().score().unwrap().value, 0.25);
    // In a cross table of moves and years, `games_before` counts only the games of the row's year.
    let cross = counts.rows(&"next*year".parse().unwrap());
    let before: Vec<u64> = cross.iter().map(|row| row.moves.as_ref().unwrap().games_before).collect();
    assert_eq!(before, [1, 1, 1]);
}

#[test]
fn moves_in_side_lines_and_of_chess960_are_told() {
    let initial = |groupings| by_hand(Query::parse("initial").unwrap(), groupings);
    let tree = [
        "e4: 3, 3, 1-1-1",
        "e4 e5: 2, 2, 1-1-0",
        "e4 e5 Bc4: 1, 1, 0-1-0",
        "e4 e5 Nf3: 1, 1, 1-0-0",
        "e4 c5: 1, 1, 0-0-1",
        "O-O: 1, 1, 0-0-0",
        "O-O O-O-O: 1, 1, 0-0-0",
    ];
    assert_eq!(shown(&initial("next:3"), "next:3"), tree);
    assert_eq!(shown(&initial("previous"), "previous"), ["(start): 4, 4, 1-1-1"]);
    let lines = by_hand(Query::parse("pc5").unwrap().with_variations(), "next,previous");
    assert_eq!(
        shown(&lines, "next"),
        ["(end): 2, 3, 1-0-1", "Nc6: 1, 1, 0-0-1", "Nf3: 1, 1, 1-0-0", "d6: 1, 1, 0-0-1"]
    );
    let previous =
        ["c5: 2, 2, 1-0-1", "Nc3: 1, 1, 1-0-0", "Nc6: 1, 1, 0-0-1", "Nf3: 1, 1, 1-0-0", "d6: 1, 1, 0-0-1"];
    assert_eq!(shown(&lines, "previous"), previous);
}

#[test]
fn moves_of_copies_are_told_as_the_filter_is_written() {
    let counts = by_hand(Query::parse("flipcolor {Pe4 btm}").unwrap(), "next,next:played,next:2");
    // Black's pawn on e5 is treated like a white pawn on e4, so 2. Nf3 is shown as Nf6.
    let carried = [
        "(end): 2, 2, 1-1-0",
        "e5: 2, 2, 0-1-1",
        "Bc5: 1, 1, 0-1-0",
        "Nc6: 1, 1, 0-0-1",
        "Nf6: 1, 1, 1-0-0",
        "c5: 1, 1, 1-0-0",
    ];
    assert_eq!(shown(&counts, "next"), carried);
    let played = [
        "(end): 2, 2, 1-1-0",
        "e5: 2, 2, 0-1-1",
        "Bc4: 1, 1, 0-1-0",
        "Nc6: 1, 1, 0-0-1",
        "Nf3: 1, 1, 1-0-0",
        "c5: 1, 1, 1-0-0",
    ];
    assert_eq!(shown(&counts, "next:played"), played);
    let tree = shown(&counts, "next:2");
    assert!(
        tree.contains(&"e5 Nf3: 1, 1, 0-0-1".to_owned()) && tree.contains(&"Nf6 Nc3: 1, 1, 1-0-0".to_owned()),
        "{tree:?}"
    );
}

/// If the player has Black, moves are shown with swapped colours.
#[test]
fn moves_are_told_as_the_player_sees_them() {
    let database = DatabaseOptions::new().open_bytes("games", GAMES.as_bytes().to_vec()).unwrap();
    let query = Query::parse("pe5 wtm pc7").unwrap();
    let search = database.scan(&query).player(Player::new("Fay".parse().unwrap()));
    let counts = search.statistics("next,next:played,previous,previous:played").unwrap();
    let due = [("next", "c4"), ("next:played", "c5"), ("previous", "e5"), ("previous:played", "e4")];
    for (grouping, name) in due {
        let ends = if grouping.starts_with("next") { "1-0-0" } else { "0-0-1" };
        assert_eq!(shown(&counts, grouping), [format!("{name}: 1, 1, {ends}")], "{grouping}");
    }
}
