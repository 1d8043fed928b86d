//! Writes the answer to an explorer request, in lichess's JSON format or as a table.

use serde_json::{Map, Value, json};
use shakmaty::EnPassantMode;
use shakmaty::fen::Fen;

use super::asked::ExplorerRequest;
use super::collect::{ExploredGame, ExploredMove, ExplorerPart};
use crate::choice::missing_rights;
use crate::report::{TextTable, grouped};
use orbit_core::board::{Color, MoveKind, PackedMove, Position};
use orbit_core::game::{Opening, Speed};
use orbit_core::visible;

/// The answer to an explorer request: the moves played in a position. It can be written as JSON or text.
#[derive(Debug)]
pub struct Explored<'a> {
    asked: &'a ExplorerRequest,
    part: &'a ExplorerPart,
    /// The moves, most frequent first.
    moves: Vec<(PackedMove, &'a ExploredMove)>,
    /// The games that end in this position.
    ended: Option<&'a ExploredMove>,
}

impl<'a> Explored<'a> {
    /// Creates the answer from a request and its result.
    pub fn new(asked: &'a ExplorerRequest, part: &'a ExplorerPart) -> Explored<'a> {
        let with_move = part.moves.iter().filter_map(|(mv, sum)| Some((PackedMove((*mv)?), sum)));
        let mut moves: Vec<(PackedMove, &ExploredMove)> = with_move.collect();
        moves.sort_by_cached_key(|(mv, sum)| (std::cmp::Reverse(sum.games), mv.to_san(&asked.position)));
        Explored { asked, part, moves, ended: part.moves.get(&None) }
    }

    /// Returns the number of games that reach the position.
    pub fn games(&self) -> u64 {
        self.sums().map(|sum| sum.games).sum()
    }

    fn sums(&self) -> impl Iterator<Item = &'a ExploredMove> {
        self.moves.iter().map(|(_, sum)| *sum).chain(self.ended)
    }

    fn turn(&self) -> Color {
        self.asked.position.state.turn()
    }

    /// Returns the numbers of wins for White, draws, and wins for Black.
    fn results(&self, sum: &ExploredMove) -> [u64; 3] {
        let results = sum.tally.results;
        match self.turn() {
            Color::White => [results.wins, results.draws, results.losses],
            Color::Black => [results.losses, results.draws, results.wins],
        }
    }

    fn total(&self) -> [u64; 3] {
        self.sums().fold([0; 3], |sum, one| {
            let more = self.results(one);
            std::array::from_fn(|at| sum[at] + more[at])
        })
    }

    /// Returns the opening that a move reaches, if the position after the move is that of a named opening.
    fn opening_after(&self, mv: PackedMove) -> Option<&'static Opening> {
        let mut position = self.asked.position;
        position.play(mv);
        Opening::from_position(&position)
    }

    /// Returns the answer in the JSON format of lichess's explorer. In this format, castling is written as the king capturing its
    /// rook: `e1h1`.
    pub fn json(&self) -> Value {
        let [white, draws, black] = self.total();
        let moves = self.moves.iter().take(self.asked.moves_max).map(|(mv, sum)| self.move_json(*mv, sum));
        let games = |list: &[(u64, ExploredGame)]| -> Vec<Value> {
            list.iter().map(|(_, game)| self.game_json(game, true)).collect()
        };
        let mut answer = json!({
            "white": white,
            "draws": draws,
            "black": black,
            "moves": moves.collect::<Vec<Value>>(),
            "topGames": games(&self.part.top),
            "recentGames": games(&self.part.recent),
            "opening": opening_json(self.asked.opening),
        });
        if self.asked.way.is_some() {
            answer["byOtherMoves"] = self.part.other_way.into();
        }
        answer
    }

    fn move_json(&self, mv: PackedMove, sum: &ExploredMove) -> Value {
        let [white, draws, black] = self.results(sum);
        let mut out = Map::new();
        out.insert("uci".into(), uci(mv, &self.asked.position).into());
        out.insert("san".into(), mv.to_san(&self.asked.position).into());
        let numbers = [
            ("averageRating", sum.tally.rating().map(Value::from)),
            ("averageOpponentRating", sum.tally.opponent_rating().map(Value::from)),
            ("performance", sum.tally.performance().map(Value::from)),
        ];
        out.extend(numbers.into_iter().filter_map(|(name, number)| Some((name.to_owned(), number?))));
        for (name, count) in [("white", white), ("draws", draws), ("black", black)] {
            out.insert(name.into(), count.into());
        }
        out.insert("game".into(), sum.only.as_ref().map_or(Value::Null, |game| self.game_json(game, false)));
        out.insert("opening".into(), opening_json(self.opening_after(mv)));
        Value::Object(out)
    }

    fn game_json(&self, game: &ExploredGame, with_move: bool) -> Value {
        let mut out = Map::new();
        if let Some(mv) = game.mv.filter(|_| with_move) {
            out.insert("uci".into(), uci(PackedMove(mv), &self.asked.position).into());
        }
        out.insert("id".into(), game.id.clone().into());
        let winner = match game.result.as_str() {
            "1-0" => Value::from("white"),
            "0-1" => Value::from("black"),
            _ => Value::Null,
        };
        out.insert("winner".into(), winner);
        if let Some(speed) = &game.speed {
            let is_ultra = speed == Speed::UltraBullet.name();
            out.insert("speed".into(), if is_ultra { "ultraBullet" } else { speed }.into());
        }
        if let Some(mode) = &game.mode {
            out.insert("mode".into(), mode.clone().into());
        }
        for (side, at) in [("black", 1), ("white", 0)] {
            out.insert(side.into(), json!({ "name": game.players[at], "rating": game.ratings[at] }));
        }
        out.insert("year".into(), game.year.into());
        let month = game.year.zip(game.month).map(|(year, month)| format!("{year:04}-{month:02}"));
        out.insert("month".into(), month.into());
        Value::Object(out)
    }

    /// Returns the answer as text.
    pub fn text(&self) -> String {
        let fen = Fen::from_position(&self.asked.chess, EnPassantMode::Legal);
        let name = self.asked.opening.map(|opening| format!("{} {}", opening.eco.as_str(), opening.name));
        let mut out: String = name.into_iter().map(|name| name + "\n").collect();
        out += &format!("{fen}\n\n");
        let total = self.games();
        if total == 0 {
            let note = missing_rights(&self.asked.position).map_or(String::new(), |note| format!("{note}\n"));
            let games =
                if self.asked.has_conditions() { "no game that meets the conditions" } else { "no game" };
            return format!("{out}{games} comes to this position\n{note}");
        }
        let headings =
            ["move", "games", "share", "White wins", "draws", "Black wins", "rating", "performance"];
        let mut rows: Vec<Vec<String>> = Vec::new();
        rows.push(headings.into_iter().chain(["years", "opening"]).map(String::from).collect());
        for (mv, sum) in self.moves.iter().take(self.asked.moves_max) {
            let opening = self.opening_after(*mv).map(|opening| opening.name.clone());
            rows.push(self.row(mv.to_san(&self.asked.position), sum, total, opening.unwrap_or_default()));
        }
        let mut more = ExploredMove::default();
        self.moves.iter().skip(self.asked.moves_max).for_each(|(_, sum)| more.add(sum));
        if more.games > 0 {
            let name = format!("{} more", self.moves.len() - self.asked.moves_max);
            rows.push(self.row(name, &more, total, String::new()));
        }
        if let Some(ended) = self.ended {
            rows.push(self.row("(end)".into(), ended, total, String::new()));
        }
        let mut whole = ExploredMove::default();
        self.sums().for_each(|sum| whole.add(sum));
        rows.push(self.row("total".into(), &whole, total, String::new()));
        out += &table(rows).text();
        if self.part.other_way > 0 {
            let (other, total) = (grouped(self.part.other_way), grouped(total));
            out += &format!("{other} of {total} games came to this position by other moves\n");
        }
        for (heading, list) in [("top games", &self.part.top), ("recent games", &self.part.recent)] {
            if !list.is_empty() {
                out += &format!("\n{heading}\n{}", self.games_text(list));
            }
        }
        out
    }

    fn row(&self, name: String, sum: &ExploredMove, total: u64, opening: String) -> Vec<String> {
        let results = self.results(sum);
        let known: u64 = results.iter().sum();
        let mut cells = vec![name, grouped(sum.games), percent(sum.games, total)];
        cells.extend(results.map(|count| if known == 0 { String::new() } else { percent(count, known) }));
        cells.push(sum.tally.rating().map_or(String::new(), |rating| rating.to_string()));
        cells.push(sum.tally.performance().map_or(String::new(), |rating| rating.to_string()));
        cells.push(match sum.tally.years {
            Some([first, last]) if first == last => first.to_string(),
            Some([first, last]) => format!("{first}-{last}"),
            None => String::new(),
        });
        cells.push(opening);
        cells
    }

    fn games_text(&self, list: &[(u64, ExploredGame)]) -> String {
        let mut out = String::new();
        for (_, game) in list {
            let player = |at: usize| {
                let rating = game.ratings[at].map_or(String::new(), |rating| format!(" ({rating})"));
                format!("{}{rating}", game.players[at])
            };
            let san = game.mv.map_or("(end)".into(), |mv| PackedMove(mv).to_san(&self.asked.position));
            let year = game.year.map_or(String::new(), |year| format!(" {year}"));
            let line = format!(
                "  {} - {}  {}{year}  {san}  game {}",
                player(0),
                player(1),
                game.result,
                grouped(game.number.into())
            );
            out += &visible::line(&line);
            out.push('\n');
        }
        out
    }
}

/// Creates a table from `rows`, the first of which contains the headings. Columns without values are omitted.
fn table(mut rows: Vec<Vec<String>>) -> TextTable {
    for column in (0..rows[0].len()).rev() {
        if rows[1..].iter().all(|row| row[column].is_empty()) {
            rows.iter_mut().for_each(|row| drop(row.remove(column)));
        }
    }
    let has_names = rows[0].last().is_some_and(|heading| heading == "opening");
    let mut rows = rows.into_iter();
    let table = TextTable::new(rows.next().unwrap_or_default());
    let mut table = table.first_left(true).last_left(has_names);
    for row in rows {
        let mut cells = row.into_iter();
        table.push(cells.next().unwrap_or_default(), cells);
    }
    table
}

fn percent(count: u64, total: u64) -> String {
    format!("{:.1} %", 100.0 * count as f64 / total.max(1) as f64)
}

fn opening_json(opening: Option<&Opening>) -> Value {
    opening.map_or(Value::Null, |opening| json!({ "eco": opening.eco.as_str(), "name": opening.name }))
}

/// Returns a move in UCI. As in lichess's explorer, castling is written as the king capturing its rook.
fn uci(mv: PackedMove, position: &Position) -> String {
    if mv == PackedMove::NULL {
        return "0000".into();
    }
    let promoted = match mv.kind() {
        MoveKind::Piece(code) if code != position.board.at(mv.from()) => code.piece(),
        _ => None,
    };
    let letter = promoted.map_or(String::new(), |piece| piece.role.char().to_string());
    format!("{}{}{letter}", mv.from(), mv.to())
}
