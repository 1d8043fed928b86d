//! Generates random CQL 5 position lists, and boards on which a given list often matches.
//!
//! Boards have one king of each side and no pawns on the first or last rank. The side not to move may be in check;
//! [`Board::is_plausible`] tests this.

use super::*;

/// The maximum number of a list's images (transformed versions). The images of a nested list count once for each occurrence of
/// that list.
const IMAGES_MAX: usize = 4_000;
/// The maximum number of compositions of transformations for a list. Most compositions give an image that is dropped or that
/// another composition also gives.
const WORDS_MAX: usize = 8_000;
/// The number of boards on which a new list is tried, and the accepted numbers of matches. A list must match some boards and not
/// match others.
const TRIALS: u64 = 32;
const HITS: std::ops::RangeInclusive<usize> = 4..=28;

struct Random(fastrand::Rng);

impl Random {
    fn new(seed: u64) -> Random {
        Random(fastrand::Rng::with_seed(seed))
    }

    /// Returns a number below `n`.
    fn below(&mut self, n: usize) -> usize {
        self.0.usize(..n)
    }

    fn percent(&mut self, n: usize) -> bool {
        self.below(100) < n
    }

    fn pick<T: Clone>(&mut self, things: &[T]) -> T {
        things[self.below(things.len())].clone()
    }

    fn word(&mut self, words: &str) -> String {
        let words: Vec<&str> = words.split_whitespace().collect();
        self.pick(&words).to_string()
    }

    fn square(&mut self) -> Square {
        (self.below(8), self.below(8))
    }
}

// ------------------------------------------------------------------------------------------- lists

/// An endless sequence of random lists: `Lists::new(7).take(1000)`.
pub struct Lists {
    random: Random,
}

impl Lists {
    /// Creates a generator of random lists. Equal seeds give equal lists.
    pub fn new(seed: u64) -> Lists {
        Lists { random: Random::new(seed) }
    }
}

impl Iterator for Lists {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        Some(random_list(self.random.0.u64(..)))
    }
}

/// Returns a well-formed list with at most 4,000 images (transformed versions). It matches some, but not all, of the boards that
/// are generated for it.
pub fn random_list(seed: u64) -> String {
    let mut random = Random::new(seed);
    loop {
        let mut budget = WORDS_MAX;
        let list = format!("(position {})", list_text(&mut random, 0, &mut budget));
        let expanded = Expanded::new(&list);
        if size(&expanded.images) > IMAGES_MAX {
            continue;
        }
        let mut hits = 0;
        for _ in 0..TRIALS {
            let board = board_from(&expanded, &mut random);
            let facts = guess_facts(&board, &mut random);
            hits += usize::from(expanded.matches(&board, &facts));
        }
        if HITS.contains(&hits) {
            return list;
        }
    }
}

/// Returns the number of images (transformed versions), including those of nested lists, once for each image that contains them.
/// Lists with more than [`IMAGES_MAX`] are not used.
fn size(images: &BTreeSet<Vec<Item>>) -> usize {
    fn of_item(item: &Item) -> usize {
        match item {
            Item::Nested(nested) => size(&nested.images),
            Item::Negated(inner) => of_item(inner),
            _ => 0,
        }
    }
    images.iter().map(|image| image.iter().map(of_item).sum::<usize>().max(1)).sum()
}

/// Returns random facts for evaluating a list on a board. Only `check` is computed from the board.
fn guess_facts(board: &Board, random: &mut Random) -> Facts {
    let mate = random.percent(10);
    Facts {
        check: mate || board.in_check(board.white_to_move),
        mate,
        stalemate: !mate && random.percent(5),
        initial: random.percent(5),
        terminal: random.percent(10),
        result: random.pick(&["1-0", "0-1", "1/2-1/2", "*"]),
    }
}

/// Returns the text between the parentheses of a list. `budget` is the number of compositions of transformations that the list may
/// still have. Each transform in the text divides it by the number of its transformations, and by the number of places that it can
/// take in the order of the transforms.
fn list_text(random: &mut Random, depth: usize, budget: &mut usize) -> String {
    let mut parts = Vec::new();
    let transforms: &[usize] = if depth == 0 { &[0, 1, 1, 1, 1, 2, 2, 2, 3, 3] } else { &[0, 0, 0, 0, 1, 2] };
    for _ in 0..random.pick(transforms) {
        let keyword = if random.percent(15) { "shift".into() } else { random.word(TRANSFORMS) };
        let orders = if keyword == "flipcolor" { 1 } else { parts.len() + 1 };
        let cost = transformation_set(&keyword).len() * orders;
        if cost <= *budget {
            *budget /= cost;
            parts.push(format!(":{keyword}"));
        }
    }
    for _ in 0..random.pick(&[1, 2, 2, 2, 3, 3, 4]) {
        let item = item_text(random, depth, budget);
        let place = random.below(parts.len() + 1);
        parts.insert(place, item);
    }
    parts.join(random.pick(&[" ", " ", " ", "  ", "\n  "]))
}

fn item_text(random: &mut Random, depth: usize, budget: &mut usize) -> String {
    if random.percent(55) {
        return designator_text(random, true);
    }
    let kind = random.below(if depth < 2 { 13 } else { 9 });
    // Most facts are rarely true, so they are often negated to make lists match more often.
    let negation = if random.percent(if kind == 1 { 60 } else { 15 }) { "!" } else { "" };
    let d = |random: &mut Random, empty| designator_text(random, empty);
    let text = match kind {
        0 => random.word("wtm btm"),
        1 => random.word("check mate stalemate initial terminal"),
        2 => format!("result {}", random.word(RESULTS)),
        3 => {
            let (by, on) = (d(random, false), d(random, true));
            format!("attackcount {by} {on} {}", range_text(random, 0, 3))
        }
        4 => format!("piececount {} {}", d(random, false), range_text(random, 0, 4)),
        5 => format!("power {} {}", d(random, false), range_text(random, 0, 20)),
        6 => format!("powerdifference {} {}", d(random, false), range_text(random, -6, 6)),
        7 | 8 => {
            let count = random.pick(&[2, 2, 2, 3, 3, 4]);
            let ds: Vec<String> = (0..count).map(|_| d(random, false)).collect();
            let range = if random.percent(50) { range_text(random, 0, 2) } else { String::new() };
            format!("{} ({}) {range}", random.word(RAYS), ds.join(" "))
        }
        _ => {
            let keyword = random.word(NESTINGS);
            // `:or (position A B)` has one list as its item, while `:or (A B)` has two items.
            let position = if keyword != "or" && random.percent(10) { "position " } else { "" };
            format!("{keyword} ({position}{})", list_text(random, depth + 1, budget))
        }
    };
    format!("{negation}:{text}")
}

fn range_text(random: &mut Random, lowest: i64, highest: i64) -> String {
    let n = lowest + random.below((highest - lowest + 1) as usize) as i64;
    match random.below(8) {
        0 | 1 => format!("{n}"),
        2 | 3 => format!("{n} {}", n + random.below(4) as i64),
        4 => format!("{n} unlimited"),
        _ => format!("{}{n}", random.pick(&[">", ">=", "<", "<="])),
    }
}

/// Returns the text of a designator. If `empty` is true, it may contain the symbols `.` and `?`, which also match an
/// empty square.
fn designator_text(random: &mut Random, empty: bool) -> String {
    let one = |random: &mut Random| random.word(". ? . K Q R B N P k q r b n p");
    let symbol = |random: &mut Random| {
        random.word("K Q R B N P k q r b n p A a U M m I i ♔ ♕ ♖ ♗ ♘ ♙ ♚ ♛ ♜ ♝ ♞ ♟ ○ ● ◑ △ ▲ ▽ ▼")
    };
    let pieces = match random.below(10) {
        0 if empty => one(random),
        1 | 2 => {
            let first = if empty && random.percent(20) { one(random) } else { symbol(random) };
            format!("[{first}{}]", symbol(random))
        }
        _ => symbol(random),
    };
    format!("{pieces}{}", squares_text(random))
}

fn squares_text(random: &mut Random) -> String {
    match random.below(20) {
        0..=2 => String::new(),
        3..=11 => square_text(random),
        12 => format!("{}{}", random.word("? a b c d e f g h"), random.word("1 2 3 4 5 6 7 8 ?")),
        13 if random.percent(10) => "[]".into(),
        _ => {
            let count = random.pick(&[1, 1, 2, 2, 3]);
            let elements: Vec<String> = (0..count).map(|_| element_text(random)).collect();
            format!("[{}]", elements.join(random.pick(&[",", ",", ", "])))
        }
    }
}

fn square_text(random: &mut Random) -> String {
    format!("{}{}", random.word("a b c d e f g h"), random.word("1 2 3 4 5 6 7 8"))
}

fn element_text(random: &mut Random) -> String {
    let mut span = |names: &str| {
        let (a, b) = (random.below(8), random.below(8));
        let (low, high) = (&names[a.min(b)..=a.min(b)], &names[a.max(b)..=a.max(b)]);
        match random.below(6) {
            0 => "?".to_string(),
            1 if low < high => format!("{low}-{high}"),
            2 if low < high => format!("{low}{high}"),
            _ => low.to_string(),
        }
    };
    format!("{}{}", span("abcdefgh"), span("12345678"))
}

// ------------------------------------------------------------------------------------------ boards

impl Board {
    /// Returns true if the king of the given side is attacked.
    fn in_check(&self, white: bool) -> bool {
        let king = all_squares().find(|s| self.at(*s) == if white { 'K' } else { 'k' });
        let hostile = |s: &Square| self.at(*s) != '.' && self.at(*s).is_uppercase() != white;
        king.is_some_and(|king| all_squares().filter(hostile).any(|s| self.attacks(s, king)))
    }

    /// Returns true if each side has one king and the side not to move is not in check.
    pub fn is_plausible(&self) -> bool {
        let kings = |king| self.squares.iter().filter(|c| **c == king).count();
        kings('K') == 1 && kings('k') == 1 && !self.in_check(!self.white_to_move)
    }
}

/// Returns a board with the pieces of a random image (transformed version) of the list and some other pieces. Sometimes one
/// square is changed afterwards.
pub fn board_for(list: &str, seed: u64) -> Board {
    board_from(&Expanded::new(list), &mut Random::new(seed))
}

fn board_from(list: &Expanded, random: &mut Random) -> Board {
    let images: Vec<&Vec<Item>> = list.images.iter().collect();
    let mut board = Board { squares: ['.'; 64], white_to_move: true };
    for _ in 0..20 {
        let image: Vec<Item> = if images.is_empty() { vec![] } else { random.pick(&images).clone() };
        let mut draft = Draft::new(random);
        draft.place_list(&image);
        draft.add_kings();
        draft.add_others();
        draft.change_one();
        board = draft.board;
        if board.is_plausible() {
            break;
        }
    }
    board
}

/// A board under construction. Settled squares, some of which must stay empty, no longer change.
struct Draft<'a> {
    board: Board,
    settled: Squares,
    random: &'a mut Random,
}

impl<'a> Draft<'a> {
    fn new(random: &'a mut Random) -> Draft<'a> {
        let board = Board { squares: ['.'; 64], white_to_move: random.percent(50) };
        Draft { board, settled: NO_SQUARES, random }
    }

    fn is_free(&self, (x, y): Square) -> bool {
        !self.settled[x][y]
    }

    /// Returns true if the piece may be added on the square: not a second king, and no pawn on the first or last rank.
    fn is_allowed(&self, piece: char, (_, rank): Square) -> bool {
        match piece {
            'K' | 'k' => !self.board.squares.contains(&piece),
            'P' | 'p' => (1..7).contains(&rank),
            _ => true,
        }
    }

    fn put(&mut self, piece: char, square: Square) {
        self.board.squares[8 * square.1 + square.0] = piece;
        self.settled[square.0][square.1] = true;
    }

    fn place_list(&mut self, items: &[Item]) {
        items.iter().for_each(|item| self.place(item));
    }

    /// Changes the board so that this item of a position list probably matches.
    fn place(&mut self, item: &Item) {
        match item {
            Item::Fact(fact) if fact == "wtm" || fact == "btm" => {
                self.board.white_to_move = fact == "wtm";
            }
            Item::Fact(_) => {}
            Item::Count(keyword, ds, _) if is_one_of(keyword, RAYS) => self.place_line(keyword, ds),
            Item::Count(keyword, ds, range) => match keyword.as_str() {
                PIECE => self.place_one(&ds[0]),
                "attackcount" => (0..range.0.clamp(1, 3)).for_each(|_| self.place_attack(&ds[0], &ds[1])),
                "piececount" => (0..range.0.clamp(0, 5)).for_each(|_| self.place_one(&ds[0])),
                _ => (0..self.random.below(4)).for_each(|_| self.place_one(&ds[0])),
            },
            Item::Negated(inner) if self.random.percent(25) => self.place(inner),
            Item::Negated(_) => {}
            Item::Nested(nested) => self.place_nested(nested),
        }
    }

    fn place_nested(&mut self, nested: &Nested) {
        let images: Vec<&Vec<Item>> = nested.images.iter().collect();
        if images.is_empty() || (nested.keyword == "not" && !self.random.percent(25)) {
            return;
        }
        let image = self.random.pick(&images);
        if nested.keyword == "or" && !image.is_empty() {
            let item = self.random.pick(image);
            self.place(&item);
        } else {
            self.place_list(image);
        }
    }

    /// Returns a random free square of the designator, and a piece for it.
    fn draw(&mut self, d: &Designator) -> Option<(char, Square)> {
        let free: Vec<Square> = all_squares().filter(|s| d.squares[s.0][s.1] && self.is_free(*s)).collect();
        let pieces: Vec<char> = d.pieces.iter().copied().collect();
        for _ in 0..if free.is_empty() { 0 } else { 20 } {
            let (piece, square) = (self.random.pick(&pieces), self.random.pick(&free));
            if self.is_allowed(piece, square) {
                return Some((piece, square));
            }
        }
        None
    }

    fn place_one(&mut self, d: &Designator) {
        if let Some((piece, square)) = self.draw(d) {
            self.put(piece, square);
        }
    }

    fn place_attack(&mut self, by: &Designator, on: &Designator) {
        for _ in 0..200 {
            let (Some(attacker), Some(target)) = (self.draw(by), self.draw(on)) else {
                return;
            };
            let mut trial = self.board.clone();
            for (piece, (x, y)) in [attacker, target] {
                trial.squares[8 * y + x] = piece;
            }
            let twin = attacker.0 == target.0 && "Kk".contains(attacker.0);
            if attacker.1 != target.1 && !twin && trial.attacks(attacker.1, target.1) {
                self.put(attacker.0, attacker.1);
                self.put(target.0, target.1);
                return;
            }
        }
    }

    /// Places pieces that match the designators along a line, and settles the empty squares between them.
    fn place_line(&mut self, keyword: &str, designators: &[Designator]) {
        for _ in 0..200 {
            let direction = self.random.pick(&ray_directions(keyword));
            let mut here = Some(self.random.square());
            let mut pieces = Vec::new();
            for d in designators {
                let Some(square) = here else { break };
                let choice: Vec<char> = d.pieces.iter().copied().collect();
                let piece = self.random.pick(&choice);
                let twin = "Kk".contains(piece) && pieces.iter().any(|(other, _)| *other == piece);
                if d.squares[square.0][square.1] && self.is_allowed(piece, square) && !twin {
                    pieces.push((piece, square));
                }
                let gap = 1 + self.random.below(3);
                here = (0..gap).fold(here, |s, _| s.and_then(|s| step(s, direction)));
            }
            if pieces.len() == designators.len() && pieces.iter().all(|(_, s)| self.is_free(*s)) {
                self.settle_line(&pieces, direction);
                return;
            }
        }
    }

    fn settle_line(&mut self, pieces: &[(char, Square)], direction: (i32, i32)) {
        let last = pieces[pieces.len() - 1].1;
        let line = std::iter::successors(Some(pieces[0].1), |s| step(*s, direction));
        for square in line.take_while(|s| *s != last) {
            self.settled[square.0][square.1] = true;
        }
        for (piece, square) in pieces {
            self.put(*piece, *square);
        }
    }

    /// Adds missing kings, never next to each other.
    fn add_kings(&mut self) {
        for (king, other) in [('K', 'k'), ('k', 'K')] {
            if self.board.squares.contains(&king) {
                continue;
            }
            let rival = all_squares().find(|s| self.board.at(*s) == other);
            let near = |s: &Square| rival.is_some_and(|r| s.0.abs_diff(r.0).max(s.1.abs_diff(r.1)) <= 1);
            let wanted: Vec<Square> = all_squares().filter(|s| self.is_free(*s) && !near(s)).collect();
            if !wanted.is_empty() {
                let square = self.random.pick(&wanted);
                self.put(king, square);
            }
        }
    }

    fn add_others(&mut self) {
        for _ in 0..self.random.below(7) {
            let square = self.random.square();
            let piece = self.random.pick(&['Q', 'R', 'B', 'N', 'P', 'P', 'q', 'r', 'b', 'n', 'p', 'p']);
            if self.is_free(square) && self.is_allowed(piece, square) {
                self.put(piece, square);
            }
        }
    }

    /// Sometimes empties, fills or recolours one square, or changes the side to move.
    fn change_one(&mut self) {
        if self.random.percent(8) {
            self.board.white_to_move ^= true;
        }
        let square = self.random.square();
        let settled: Vec<Square> = all_squares().filter(|s| !self.is_free(*s)).collect();
        let square = if self.random.percent(70) { self.random.pick(&settled) } else { square };
        let piece = self.random.pick(&['.', '.', 'Q', 'R', 'B', 'N', 'P', 'q', 'r', 'b', 'n', 'p']);
        let king = "Kk".contains(self.board.at(square));
        if self.random.percent(35) && !king && self.is_allowed(piece, square) {
            self.put(piece, square);
        }
    }
}
