//! `orbit show`.

use std::path::PathBuf;
use std::str::FromStr;

use orbit_chess::internals::board::{Position, Square};
use orbit_chess::internals::database::{Database, DatabaseOptions, PlaceCache};
use orbit_chess::internals::game::MoveNumbers;
use orbit_chess::internals::reel::{Block, GameRow};
use orbit_chess::internals::report::fen_at;
use orbit_chess::internals::text::decode;
use serde_json::{Value, json};

use super::common::{Interrupt, Out, grouped, kind_name, print_failures, threads};
use super::reading::UnpackArgs;
use super::{Exit, Failure};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  orbit show games.pgn 1042
  orbit show all.reel 1042:37
  orbit show --json all.reel 1042:0 | jq .fen")]
pub(super) struct Args {
    /// The reel, or the PGN, EPD or FEN file, that contains the game.
    #[arg(value_name = "DB")]
    database: PathBuf,
    /// The number of the game, from 1, and the ply (half-moves played) of the position to print [default: the last
    /// position].
    ///
    /// `1042:0` prints game 1042 and its start position, `1042:37` the position after 37 half-moves.
    #[arg(value_name = "GAME[:PLY]")]
    place: Place,
    #[command(flatten)]
    unpack: UnpackArgs,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    game: u32,
    ply: Option<usize>,
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Place, String> {
        let (game, ply) = text.split_once(':').map_or((text, None), |(game, ply)| (game, Some(ply)));
        let game = match game.parse() {
            Ok(0) | Err(_) => {
                return Err(format!("`{game}` is no game number: write GAME or GAME:PLY, from game 1"));
            }
            Ok(game) => game,
        };
        let number = |ply: &str| {
            ply.parse().map_err(|_| format!("`{ply}` is no ply: write a number of half-moves, from 0"))
        };
        let ply = ply.map(number).transpose()?;
        Ok(Place { game, ply })
    }
}

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    let interrupt = Interrupt::install()?;
    let mut options = DatabaseOptions::default();
    options.interrupt = interrupt.flag.clone();
    args.unpack.apply(&mut options);
    options.places = PlaceCache::of_user();
    let database = Database::open(std::slice::from_ref(&args.database), options)?;
    let found = database.block_of_game(args.place.game, threads(None)).map_err(Failure::Midway)?;
    if interrupt.is_set() {
        return Ok(Exit::Interrupted);
    }
    let exit = print_failures(&found.summary);
    let Some(block) = found.block else {
        let (name, games) = (args.database.display(), grouped(found.games.into()));
        return Err(Failure::Other(format!(
            "{name} has {games} games: there is no game {}",
            args.place.game
        )));
    };
    let Some(game) = block.games().find(|game| game.number() == args.place.game) else {
        return Err(Failure::Other(format!(
            "game {} was skipped: {}",
            args.place.game,
            reason(&block, args.place.game)
        )));
    };
    let shown = Shown::new(game, args.place.ply)?;
    let mut out = Out::new();
    if args.json {
        out.json(&shown.json())?;
    } else {
        shown.text().into_iter().try_for_each(|line| out.line(line))?;
    }
    out.finish()?;
    Ok(exit)
}

/// Why a game of a block has no positions.
fn reason(block: &Block, number: u32) -> String {
    let mut before = block.games_before;
    for (index, part) in block.source_games().iter().enumerate() {
        let numbered = |number| {
            move |p: &&orbit_chess::internals::reel::Problem| (p.stretch, p.number) == (index as u32, number)
        };
        if number > before && number <= before + part.games {
            let problem = block.problems().iter().find(numbered(number - before));
            return problem.map_or(String::from("no reason is recorded"), |problem| problem.reason.clone());
        }
        before += part.games;
    }
    String::from("no reason is recorded")
}

/// A game with its moves named and one position.
struct Shown<'a> {
    game: GameRow<'a>,
    san: Vec<String>,
    ply: usize,
    position: Position,
}

impl<'a> Shown<'a> {
    fn new(game: GameRow<'a>, ply: Option<usize>) -> Result<Shown<'a>, Failure> {
        let start = game.start();
        let ply = ply.unwrap_or(game.plies());
        if ply > game.plies() {
            let plies = game.plies();
            return Err(Failure::Other(format!(
                "game {} has {plies} plies: there is no ply {ply}",
                game.number()
            )));
        }
        let (mut at, mut position, mut san) = (start, start, Vec::new());
        for (i, &mv) in game.moves().iter().enumerate() {
            san.push(mv.to_san(&at));
            at.play(mv);
            if i + 1 == ply {
                position = at;
            }
        }
        Ok(Shown { game, san, ply, position })
    }

    fn tags(&self) -> impl Iterator<Item = (String, String)> + use<'a> {
        self.game.tags().map(|(name, value)| (decode(name).into_owned(), decode(value).into_owned()))
    }

    fn json(&self) -> Value {
        let tags = self.tags().map(|(name, value)| json!([name, value]));
        let problems = self.game.problems().map(|problem| {
            json!({ "kind": kind_name(problem.kind), "ply": problem.ply, "reason": problem.reason })
        });
        json!({
            "game": self.game.number(),
            "number_in_source": self.game.number_in_source(),
            "offset": self.game.offset(),
            "tags": tags.collect::<Vec<_>>(),
            "moves": self.san,
            "result": self.game.outcome().text(),
            "problems": problems.collect::<Vec<_>>(),
            "ply": self.ply,
            "fen": fen_at(&self.game, self.ply as u32),
        })
    }

    fn text(&self) -> Vec<String> {
        let escaped = |value: String| value.replace('\\', "\\\\").replace('"', "\\\"");
        let mut lines: Vec<String> =
            self.tags().map(|(name, value)| format!("[{name} \"{}\"]", escaped(value))).collect();
        lines.push(String::new());
        lines.extend(wrapped(&self.movetext()));
        for problem in self.game.problems() {
            lines.push(format!("; {}: {}", kind_name(problem.kind), problem.reason));
        }
        lines.push(String::new());
        lines.push(format!("game {}, ply {} of {}", self.game.number(), self.ply, self.game.plies()));
        lines.extend(drawn(&self.position));
        lines.push(fen_at(&self.game, self.ply as u32));
        lines
    }

    /// Moves have the numbers that the game's FEN gives them.
    fn movetext(&self) -> Vec<String> {
        let numbers = MoveNumbers::of(&self.game);
        let mut words = Vec::new();
        for (ply, san) in (0..).zip(&self.san) {
            words.extend(numbers.before_move(ply));
            words.push(san.clone());
        }
        words.push(self.game.outcome().text().to_owned());
        words
    }
}

/// Words in lines of at most 80 characters.
fn wrapped(words: &[String]) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in words {
        let line = lines.last_mut().expect("it begins with one");
        if line.is_empty() {
            line.push_str(word);
        } else if line.len() + 1 + word.len() <= 80 {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.clone());
        }
    }
    lines
}

/// The board, rank 8 first.
fn drawn(position: &Position) -> Vec<String> {
    let mut lines = Vec::new();
    for rank in (0..8).rev() {
        let mut line = format!("{} ", rank + 1);
        for file in 0..8 {
            let piece = position.board.at(Square::new(8 * rank + file)).piece();
            line.push(' ');
            line.push(piece.map_or('.', |piece| piece.char()));
        }
        lines.push(line);
    }
    lines.push(String::from("   a b c d e f g h"));
    lines
}
