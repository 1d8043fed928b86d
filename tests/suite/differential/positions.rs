//! Generates games on which a query runs: games that start from positions generated for the query, and random games.

use orbit_core::board::{Bitboard, Board, Code, Color, PackedMove, PieceSet, Position, Square};
use orbit_pgn::{Game, Outcome, SideLine, Tag};
use orbit_query::{
    TypedQuery,
    tree::{Pieces, Ref, SquaresOp},
};
use shakmaty::Position as _;

use super::{operation, rng::Rng};

/// Returns the designators of a query.
pub fn designators(query: &TypedQuery) -> Vec<(Pieces, Bitboard)> {
    let mut out = Vec::new();
    query.body.walk(&mut |node| {
        if let Ref::Squares(f) = node
            && let SquaresOp::Designator { pieces, squares } = f.op()
        {
            out.push((*pieces, *squares));
        }
    });
    out
}

/// Returns `count` games for a query. They start from positions generated for the query, and a few of them have moves.
pub fn games(rng: &mut Rng, query: &TypedQuery, real: &[Position], count: usize) -> Vec<Game> {
    let wanted = designators(query);
    let mut played = 15;
    // If the query has a `find`, 60 instead of 15 percent of the games may have moves, because it needs games with several
    // positions.
    query.body.walk(&mut |node| played = if operation(node).starts_with("Find") { 60 } else { played });
    (0..count)
        .map(|_| {
            let background = *rng.pick(real);
            let start = made_from(rng, &wanted, background);
            let plies = if rng.percent(played) { rng.below(12) } else { 0 };
            let moves = random_moves(rng, &start, plies);
            let mut game = Game { start: Some(start), moves, ..Game::default() };
            if rng.percent(40) {
                add_lines(rng, &mut game, start);
            }
            with_facts(rng, game)
        })
        .collect()
}

/// Adds side lines, some of them nested, to a game that has moves.
fn add_lines(rng: &mut Rng, game: &mut Game, start: Position) {
    let mut positions = vec![start];
    for &mv in &game.moves {
        positions.push(after(positions[positions.len() - 1], mv));
    }
    let next = positions.len() as u32;
    add_lines_to(rng, game, (&positions, 0), next, 3);
}

/// Adds side lines to a line, given by its positions and the number of its first position. `next` is the number of the next new
/// position. Returns the number after the last new position.
fn add_lines_to(rng: &mut Rng, game: &mut Game, line: (&[Position], u32), mut next: u32, depth: u32) -> u32 {
    let (positions, first) = line;
    // No move is played from the last position, so it has no alternatives.
    for (at, position) in positions.iter().enumerate().rev().skip(1) {
        let siblings = if depth > 0 && rng.percent(25) { 1 + rng.below(2) as u32 } else { 0 };
        for sibling in 1..=siblings {
            let plies = 1 + rng.below(6);
            let moves = random_moves(rng, position, plies);
            let Some(&edge) = moves.first() else { continue };
            let mut of_line = vec![after(*position, edge)];
            for &mv in &moves[1..] {
                of_line.push(after(of_line[of_line.len() - 1], mv));
            }
            game.lines.push(SideLine { parent: first + at as u32, sibling, moves });
            let begin = next;
            next = add_lines_to(rng, game, (&of_line, begin), begin + of_line.len() as u32, depth - 1);
        }
    }
    next
}

fn after(mut position: Position, mv: PackedMove) -> Position {
    position.play(mv);
    position
}

/// Returns positions from random games that start from the standard position.
pub fn random_games(rng: &mut Rng, count: usize) -> Vec<Position> {
    let mut out = vec![Position::STANDARD];
    while out.len() < count {
        let plies = rng.below(120);
        let mut position = Position::STANDARD;
        for mv in random_moves(rng, &Position::STANDARD, plies) {
            position.play(mv);
            if rng.percent(10) {
                out.push(position);
            }
        }
    }
    out
}

/// Returns random legal moves from a position, or none if shakmaty cannot represent the position.
pub fn random_moves(rng: &mut Rng, start: &Position, plies: usize) -> Vec<PackedMove> {
    let Ok(mut chess) = start.to_chess() else { return vec![] };
    // If shakmaty drops castling or en passant rights, no moves are generated, because the replay would keep these rights.
    if Position::from_setup(&chess.to_setup(shakmaty::EnPassantMode::Always)) != *start {
        return vec![];
    }
    let mut out = Vec::new();
    for _ in 0..plies {
        let moves = chess.legal_moves();
        if moves.is_empty() {
            break;
        }
        let mv = moves[rng.below(moves.len())];
        out.push(PackedMove::from_shakmaty(mv, chess.turn()));
        chess.play_unchecked(mv);
    }
    out
}

/// The effect of a query transform on squares and on colours.
#[derive(Clone, Copy)]
struct Image {
    swap_axes: bool,
    mirror: (bool, bool),
    step: (i32, i32),
    swap_colors: bool,
}

impl Image {
    fn random(rng: &mut Rng) -> Image {
        let shift = rng.percent(60);
        let step = if shift { (rng.within(-4, 4), rng.within(-4, 4)) } else { (0, 0) };
        let turn = rng.percent(60);
        Image {
            swap_axes: turn && rng.percent(50),
            mirror: (turn && rng.percent(50), turn && rng.percent(50)),
            step,
            swap_colors: rng.percent(40),
        }
    }

    const IDENTITY: Image =
        Image { swap_axes: false, mirror: (false, false), step: (0, 0), swap_colors: false };

    fn square(self, square: Square) -> Option<Square> {
        let (mut x, mut y) = (square.file() as i32, square.rank() as i32);
        if self.swap_colors {
            y = 7 - y;
        }
        if self.swap_axes {
            (x, y) = (y, x);
        }
        if self.mirror.0 {
            x = 7 - x;
        }
        if self.mirror.1 {
            y = 7 - y;
        }
        let (x, y) = (x + self.step.0, y + self.step.1);
        ((0..8).contains(&x) && (0..8).contains(&y)).then(|| Square::new((8 * y + x) as u32))
    }
}

/// Returns a position in which most designators of a query, after some transform, match a piece.
fn made_from(rng: &mut Rng, wanted: &[(Pieces, Bitboard)], background: Position) -> Position {
    let mut board = match rng.below(10) {
        0..=3 => background.board,
        4..=6 => thinned(rng, background.board),
        7 | 8 => Board::default(),
        _ => clutter(rng),
    };
    let image = if rng.percent(40) { Image::IDENTITY } else { Image::random(rng) };
    // Sometimes a designator is omitted, so that the query almost matches.
    let chance = *rng.pick(&[100, 100, 85, 50, 0]);
    for &(pieces, squares) in wanted.iter().take(24) {
        if rng.percent(chance) {
            place(rng, &mut board, pieces, squares, image);
        }
    }
    for _ in 0..[0, 0, 1, 1, 3][rng.below(5)] {
        let square = Square::new(rng.below(64) as u32);
        board.put(square, code(rng));
    }
    kings(rng, &mut board);
    with_state(rng, board, background)
}

fn place(rng: &mut Rng, board: &mut Board, pieces: Pieces, squares: Bitboard, image: Image) {
    let accepted = pieces.accepts();
    let codes: Vec<Code> = (0..15).map(Code).filter(|&c| accepted.contains(c)).collect();
    let squares: Vec<Square> = squares.into_iter().filter_map(|square| image.square(square)).collect();
    if squares.is_empty() || (squares.len() > 32 && codes.len() > 4) {
        return;
    }
    let mut code = *rng.pick(&codes);
    if image.swap_colors && code != Code::EMPTY {
        code = Code(code.0 ^ 8);
    }
    board.put(*rng.pick(&squares), code);
}

fn thinned(rng: &mut Rng, mut board: Board) -> Board {
    for square in Square::ALL {
        if rng.percent(50) {
            board.put(square, Code::EMPTY);
        }
    }
    board
}

fn clutter(rng: &mut Rng) -> Board {
    let mut board = Board::default();
    for _ in 0..rng.below(40) {
        board.put(Square::new(rng.below(64) as u32), code(rng));
    }
    board
}

/// Returns random contents for a square: a piece other than a king, or nothing.
fn code(rng: &mut Rng) -> Code {
    Code(*rng.pick(&[0, 1, 1, 2, 3, 4, 5, 9, 9, 10, 11, 12, 13]))
}

/// Puts kings on the board: usually one of each colour, sometimes none or several.
fn kings(rng: &mut Rng, board: &mut Board) {
    if rng.percent(12) {
        return;
    }
    for king in [Code(6), Code(14)] {
        let found: Vec<Square> = board.squares_of(PieceSet::only(king)).into_iter().collect();
        match found.len() {
            0 => board.put(Square::new(rng.below(64) as u32), king),
            1 => {}
            count => {
                let keep = rng.below(count);
                for (index, &square) in found.iter().enumerate() {
                    if index != keep {
                        board.put(square, Code::EMPTY);
                    }
                }
            }
        }
    }
}

/// Returns the board with a random side to move, and with castling rights and an en passant square that are possible on it.
fn with_state(rng: &mut Rng, board: Board, background: Position) -> Position {
    if board == background.board {
        return background;
    }
    let turn = if rng.percent(50) { Color::White } else { Color::Black };
    let mut setup = Position { board, state: background.state }.to_setup();
    (setup.turn, setup.ep_square, setup.castling_rights) = (turn, None, Bitboard::EMPTY);
    for color in Color::ALL {
        let back = if color == Color::White { 0xff } else { 0xff << 56 };
        let king = setup.board.by_color(color) & setup.board.by_role(shakmaty::Role::King) & Bitboard(back);
        let rooks = setup.board.by_color(color) & setup.board.by_role(shakmaty::Role::Rook) & Bitboard(back);
        if let (Some(king), true) = (king.single_square(), rng.percent(60)) {
            let left: Option<Square> = rooks.into_iter().filter(|&rook| rook < king).min();
            let right: Option<Square> = rooks.into_iter().filter(|&rook| rook > king).max();
            for rook in [left, right].into_iter().flatten() {
                setup.castling_rights.toggle(rook);
            }
        }
    }
    let (row, forward) = if turn == Color::White { (4, 8) } else { (3, -8) };
    let enemies = setup.board.by_color(!turn) & setup.board.by_role(shakmaty::Role::Pawn);
    let passed: Vec<Square> =
        (enemies & Bitboard(0xff << (8 * row))).into_iter().filter_map(|pawn| pawn.offset(forward)).collect();
    if !passed.is_empty() && rng.percent(60) {
        setup.ep_square = Some(*rng.pick(&passed));
    }
    Position::from_setup(&setup)
}

fn with_facts(rng: &mut Rng, mut game: Game) -> Game {
    const NAMES: [&str; 4] = ["Karpov, A", "Fischer, R", "", "Réti, R"];
    const NUMBERS: [&str; 7] = ["1500", "2750", "0", "?", "2100?", "-", "99999999999"];
    const DATES: [&str; 5] = ["1970.??.??", "2024.01.02", "????.??.??", "19", ""];
    game.outcome = *rng.pick(&[Outcome::Unknown, Outcome::WhiteWins, Outcome::BlackWins, Outcome::Draw]);
    let mut tag = |name: &str, values: &[&str]| {
        if rng.percent(75) {
            let value = rng.pick(values).as_bytes().to_vec();
            game.tags.push(Tag { name: name.as_bytes().to_vec(), value });
        }
    };
    tag("White", &NAMES);
    tag("Black", &NAMES);
    tag("WhiteElo", &NUMBERS);
    tag("BlackElo", &NUMBERS);
    tag("Date", &DATES);
    tag("EventDate", &DATES);
    tag("Event", &["", "Match", "Karpov"]);
    tag("Annotator", &["a", "Karpov, A"]);
    game
}
