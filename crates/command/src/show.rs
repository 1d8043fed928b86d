//! Implements `orbit show`, which prints one game.

use std::ops::Range;
use std::path::PathBuf;
use std::str::FromStr;

use orbit_core::board::{Position, Square};
use orbit_core::text::decode;
use orbit_database::PlaceCache;
use orbit_pgn::{AnnotationKind, comment_text};
use orbit_reel::{Block, GameRow};
use orbit_search::report::{MoveToken, NodeWalk, movetext};
use serde_json::{Value, json};

use super::common::{CtrlC, Out, grouped, kind_name, print_failures, shown, threads};
use super::failure::{Exit, Failure};
use super::reading::{UnpackArgs, open};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  orbit show games.pgn 1042
  orbit show all.reel 1042:37
  orbit show --variations studies.pgn 3:60
  orbit show --json all.reel 1042:0 | jq .fen")]
pub(super) struct Args {
    /// The reel, or the PGN, EPD or FEN file, that contains the game.
    ///
    /// A build with the feature `https` also reads the URL of such a file.
    #[arg(value_name = "DB")]
    database: PathBuf,
    /// The number of the game, from 1, and the ply (half-moves played) of the position to print [default: the last
    /// position of the main line].
    ///
    /// `1042:0` prints game 1042 and its start position, `1042:37` the position after 37 half-moves, and marks the move
    /// that led to it: `>Nf6+<`. With --variations, the second number is that of a node: numbers above the last ply are in
    /// side lines.
    #[arg(value_name = "GAME[:PLY]")]
    place: ShownPosition,
    /// Print side lines (variations), comments and glyphs as well.
    #[arg(long)]
    variations: bool,
    #[command(flatten)]
    unpack: UnpackArgs,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug)]
struct ShownPosition {
    game: u32,
    node: Option<u32>,
}

impl FromStr for ShownPosition {
    type Err = String;

    fn from_str(text: &str) -> Result<ShownPosition, String> {
        let (game, node) = text.split_once(':').map_or((text, None), |(game, node)| (game, Some(node)));
        let game = match game.parse() {
            Ok(0) | Err(_) => {
                return Err(format!("`{game}` is no game number: write GAME or GAME:PLY, from game 1"));
            }
            Ok(game) => game,
        };
        let number = |ply: &str| {
            ply.parse().map_err(|_| format!("`{ply}` is no ply: write a number of half-moves, from 0"))
        };
        let node = node.map(number).transpose()?;
        Ok(ShownPosition { game, node })
    }
}

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    let interrupt = CtrlC::install()?;
    let mut options = args.unpack.options(&interrupt);
    (options.parse.variations, options.parse.annotations) = (args.variations, args.variations);
    options.places = PlaceCache::from_environment();
    let database = open(std::slice::from_ref(&args.database), options, true)?;
    database.outdated().iter().for_each(|outdated| message!("{outdated}"));
    let found = database.block_of_game(args.place.game, threads(None)).map_err(Failure::Midway)?;
    if interrupt.is_set() {
        return Ok(Exit::Interrupted);
    }
    let exit = print_failures(&found.summary);
    let Some(block) = found.block else {
        let (name, games) = (shown(&args.database), grouped(found.games.into()));
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
    let shown = Shown::new(game, args.variations, args.place.node)?;
    let mut out = Out::new();
    if args.json {
        out.json(&shown.json())?;
    } else {
        shown.text().into_iter().try_for_each(|line| out.line(line))?;
    }
    out.finish()?;
    Ok(exit)
}

/// Returns the reason why a game of a block (a group of whole games) was skipped.
fn reason(block: &Block, number: u32) -> String {
    let mut before = block.games_before;
    for (index, part) in block.source_games().iter().enumerate() {
        let numbered =
            |number| move |p: &&orbit_reel::Problem| (p.stretch, p.number) == (index as u32, number);
        if number > before && number <= before + part.games {
            let problem = block.problems().iter().find(numbered(number - before));
            return problem.map_or(String::from("no reason is recorded"), |problem| problem.reason.clone());
        }
        before += part.games;
    }
    String::from("no reason is recorded")
}

/// A game and one of its positions.
pub(super) struct Shown<'a> {
    game: GameRow<'a>,
    variations: bool,
    /// The node (position number) whose move is marked, if a node was given.
    marked: Option<u32>,
    /// A cursor into the game, at the node whose position is shown.
    walk: NodeWalk<'a>,
}

impl<'a> Shown<'a> {
    pub(super) fn new(game: GameRow<'a>, variations: bool, node: Option<u32>) -> Result<Shown<'a>, Failure> {
        let (number, plies) = (game.number(), game.plies());
        let marked = node;
        let node = node.unwrap_or(plies as u32);
        if node as usize >= game.positions() {
            return Err(Failure::Other(match game.has_lines() {
                false => format!(
                    "game {number} has {plies} plies: there is no ply {node} (nodes of side lines want --variations)"
                ),
                true => {
                    let last = game.positions() - 1;
                    format!("the last node of game {number} is {last}: there is no node {node}")
                }
            }));
        }
        let mut walk = NodeWalk::from_game(&game);
        walk.to(node);
        Ok(Shown { game, variations, marked, walk })
    }

    fn tags(&self) -> impl Iterator<Item = (String, String)> + use<'a> {
        self.game.tags().map(|(name, value)| (decode(name).into_owned(), decode(value).into_owned()))
    }

    fn json(&self) -> Value {
        let tags = self.tags().map(|(name, value)| json!([name, value]));
        let problems = self.game.problems().map(|problem| {
            json!({ "kind": kind_name(problem.kind), "ply": problem.ply, "reason": problem.reason })
        });
        let mut shown = json!({
            "game": self.game.number(),
            "number_in_source": self.game.number_in_source(),
            "offset": self.game.offset(),
            "tags": tags.collect::<Vec<_>>(),
            "moves": sans(&mut NodeWalk::from_game(&self.game), 0..self.game.plies() as u32),
            "result": self.game.outcome().text(),
            "problems": problems.collect::<Vec<_>>(),
            "ply": self.walk.ply(),
            "move": self.walk.san().map(|san| format!("{} {san}", self.walk.label())),
            "san": self.walk.san(),
            "next": Some(self.walk.next()).filter(|next| !next.is_empty()),
            "fen": self.walk.fen(),
        });
        if self.variations {
            shown["node"] = self.walk.node().into();
            shown["line"] = Some(self.walk.line()).filter(|line| !line.is_empty()).into();
            shown["lines"] = self.lines();
            shown["annotations"] = self.annotations();
        }
        shown
    }

    /// Returns the side lines in node order.
    fn lines(&self) -> Value {
        let mut walk = NodeWalk::from_game(&self.game);
        let lines = self.game.lines().map(|line| {
            walk.to(line.first_node());
            let name = walk.line().to_owned();
            let mut moves = Vec::from_iter(walk.entry());
            moves.extend(sans(&mut walk, line.first_node()..line.end_node() - 1));
            json!({ "node": line.first_node(), "parent": line.parent(), "line": name, "moves": moves })
        });
        lines.collect()
    }

    fn annotations(&self) -> Value {
        let annotations = self.game.annotations().iter().map(|annotation| {
            let (name, what) = match &annotation.kind {
                AnnotationKind::Before(text) => ("comment_before", Value::from(decode(text))),
                AnnotationKind::Comment(text) => ("comment", Value::from(decode(text))),
                AnnotationKind::Nag(nag) => ("nag", (*nag).into()),
            };
            json!({ "node": annotation.node, name: what })
        });
        annotations.collect()
    }

    /// Returns the tags, the moves and the position as lines of text.
    pub(super) fn text(&self) -> Vec<String> {
        let escaped = |value: String| value.replace('\\', "\\\\").replace('"', "\\\"");
        let mut lines: Vec<String> =
            self.tags().map(|(name, value)| format!("[{name} \"{}\"]", escaped(value))).collect();
        lines.push(String::new());
        lines.extend(wrapped(&self.movetext()));
        for problem in self.game.problems() {
            lines.push(format!("; {}: {}", kind_name(problem.kind), problem.reason));
        }
        lines.push(String::new());
        lines.extend(self.position_text());
        lines
    }

    /// Returns the position as lines of text: its place in the game, the board, and the FEN.
    pub(super) fn position_text(&self) -> Vec<String> {
        let (number, ply) = (self.game.number(), self.walk.ply());
        let mut place = match self.walk.line().as_str() {
            "" => format!("game {number}, ply {ply} of {}", self.game.plies()),
            line => format!("game {number}, node {}, ply {ply} of ({line})", self.walk.node()),
        };
        if let Some(san) = self.walk.san() {
            place.push_str(&format!(", after {} {san}", self.walk.label()));
        }
        if !self.walk.next().is_empty() {
            place.push_str(&format!(", next {}", self.walk.next()));
        }
        let mut lines = vec![place];
        lines.extend(drawn(&self.walk.position()));
        lines.push(self.walk.fen());
        lines
    }

    /// Returns the movetext. Move numbers continue from the game's FEN, and side lines are in parentheses.
    fn movetext(&self) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        let mut begun = "";
        for token in movetext(&self.game) {
            let word = match token {
                MoveToken::Open => {
                    begun = "(";
                    continue;
                }
                MoveToken::Close => {
                    words.last_mut().expect("a side line has moves").push(')');
                    continue;
                }
                MoveToken::Number(number) => number,
                MoveToken::Move(san, node) if self.marked == Some(node) => format!(">{san}<"),
                MoveToken::Move(san, _) => san,
                MoveToken::Nag(nag) => format!("${nag}"),
                MoveToken::Comment(text) => format!("{{{}}}", comment_text(&decode(text))),
                MoveToken::End(outcome) => outcome.text().to_owned(),
            };
            // Comments are split into words so that they wrap like moves.
            let word = format!("{}{word}", std::mem::take(&mut begun));
            words.extend(word.split_whitespace().map(str::to_owned));
        }
        words
    }
}

/// Returns the moves of a line in SAN. `nodes` are the nodes that the moves lead to.
fn sans(walk: &mut NodeWalk, nodes: Range<u32>) -> Vec<String> {
    let san = |node| {
        walk.to(node);
        walk.next()
    };
    nodes.map(san).collect()
}

/// Wraps the words into lines of at most 80 characters.
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

/// Draws the board, rank 8 first.
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
