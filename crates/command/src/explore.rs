//! Implements `orbit explore`, an opening explorer.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use orbit_engine::PreparedQuery;
use orbit_plan::PlanOptions;
use orbit_search::choice::{Choice, WrittenPosition};
use orbit_search::executor::{EngineOptions, Executor};
use orbit_search::explore::{AskError, Explored, Explorer, ExplorerRequest, Parameters, TabledGames};
use orbit_search::run::{Collector as _, Run};
use orbit_visits::OpenTables;

use super::common::{CtrlC, Out, ProgressDisplay, grouped, is_unread, print_failures, shown, threads};
use super::failure::{Exit, Failure};
use super::positions::{unused_line, used_line};
use super::reading::{PassArgs, open};

const AFTER_HELP: &str = "\
A game counts once, with the last move that was played in the position, even if it reached the
position several times. docs/explorer.md describes the columns and the fields of --json.

Examples:
  orbit explore games.pgn start
  orbit explore all.reel 'e4 c5 Nf3 d6'
  orbit explore --since 2015 --speeds blitz,rapid --ratings 2000,2200 all.reel '1. d4 Nf6'
  orbit explore --player 'Carlsen, Magnus' --as black --json otb.pgn e4 | jq .moves
  orbit explore games.pgn 'r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3'";

#[derive(Debug, clap::Args)]
#[command(
    after_help = AFTER_HELP,
    override_usage = "orbit explore [OPTIONS] PATH... MOVES\n       orbit explore [OPTIONS] PATH... FEN\n       orbit explore [OPTIONS] PATH... start"
)]
pub(super) struct Args {
    /// The games, then the position: moves from the usual start in SAN or UCI (`e4 c5`), a FEN, or `start`.
    ///
    /// Games are PGN, EPD, FEN, folders, reels, or `-` for standard input. Only main lines are searched; they may begin
    /// with any position.
    #[arg(value_name = "PATH", required = true, num_args = 1..)]
    words: Vec<PathBuf>,
    /// Count only games from this date on: `2015`, `2015-03` or `2015-03-07`.
    #[arg(long, value_name = "DATE")]
    since: Option<String>,
    /// Count only games up to this date.
    #[arg(long, value_name = "DATE")]
    until: Option<String>,
    /// Count only games in which the mean rating of the players is in one of these groups: 0, 1000, 1200, 1400, 1600, 1800,
    /// 2000, 2200, 2500.
    ///
    /// A group extends from its number to the next one, as at lichess: `2200,2500` includes all ratings from 2200 on. Another
    /// number means the group that contains it: `1700` means 1600.
    #[arg(long, value_name = "GROUPS")]
    ratings: Option<String>,
    /// Count only games of these speeds: ultraBullet, bullet, blitz, rapid, classical, correspondence.
    #[arg(long, value_name = "SPEEDS")]
    speeds: Option<String>,
    /// Count only rated or only casual games, according to the tag Event, as lichess writes it.
    #[arg(long, value_name = "MODES")]
    modes: Option<String>,
    /// Count only games of a player, however the name is spelt.
    #[arg(long, value_name = "NAME")]
    player: Option<String>,
    /// Count only games in which the player has this side.
    #[arg(long = "as", value_name = "SIDE", value_parser = ["white", "black"], requires = "player")]
    side: Option<String>,
    /// List at most N moves [default: 12].
    #[arg(long, value_name = "N")]
    moves: Option<String>,
    /// List the N games with the highest mean ratings [default: 4].
    #[arg(long, value_name = "N")]
    top_games: Option<String>,
    /// List the N most recent games [default: 4].
    #[arg(long, value_name = "N")]
    recent_games: Option<String>,
    /// Print one JSON object in the form of lichess's opening explorer.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pass: PassArgs,
}

impl Args {
    /// Returns the paths of games, and the position, which is the last argument.
    fn paths_and_position(&self) -> Result<(&[PathBuf], String), Failure> {
        match self.words.as_slice() {
            [only] => Err(Failure::Other(match only.exists() {
                true => format!(
                    "the position is missing: write `orbit explore {0} start`, or moves or a FEN after {0}",
                    shown(only)
                ),
                false => format!("the games are missing: write `orbit explore games.pgn '{}'`", shown(only)),
            })),
            [paths @ .., position] => Ok((paths, position.to_string_lossy().into_owned())),
            [] => Err(Failure::Other("the games and the position are missing".into())),
        }
    }

    /// Returns the explorer request for a position, with the game selection from the arguments.
    fn asked(&self, position: &str) -> Result<ExplorerRequest, AskError> {
        let (fen, play) = match WrittenPosition::new(position) {
            WrittenPosition::Fen(fen) => (Some(fen.to_owned()), None),
            WrittenPosition::Moves(moves) => (None, Some(moves.to_owned())),
        };
        ExplorerRequest::read(&Parameters {
            fen,
            play,
            since: self.since.clone(),
            until: self.until.clone(),
            ratings: self.ratings.clone(),
            speeds: self.speeds.clone(),
            modes: self.modes.clone(),
            player: self.player.clone(),
            color: self.side.clone(),
            moves: self.moves.clone(),
            top_games: self.top_games.clone(),
            recent_games: self.recent_games.clone(),
        })
    }
}

/// Converts an error in a request to a failure. The message names the command-line argument instead of the request parameter.
fn failure(AskError { name, message }: &AskError, position: &str) -> Failure {
    let argument = match *name {
        "fen" | "play" if Path::new(position).exists() => {
            return Failure::Other(format!(
                "{0} is a file, and the last argument of `orbit explore` is the position: write `orbit explore {0} start`, or \
                 moves or a FEN after {0}",
                shown(Path::new(position))
            ));
        }
        "fen" | "play" => return Failure::Other(format!("the position `{position}`: {message}")),
        "color" => "--as".into(),
        "topGames" => "--top-games".into(),
        "recentGames" => "--recent-games".into(),
        name => format!("--{name}"),
    };
    Failure::Other(format!("{argument}: {message}"))
}

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    let (paths, position) = args.paths_and_position()?;
    let asked = args.asked(&position).map_err(|error| failure(&error, &position))?;
    let interrupt = CtrlC::install()?;
    let wrong = |fault: String| Failure::Other(fault);
    let parsed = orbit_query::parse(&asked.query()).map_err(|error| wrong(error.to_string()))?;
    let prepared =
        PreparedQuery::new(parsed.query, PlanOptions::default()).map_err(|error| wrong(error.to_string()))?;
    let database = open(paths, args.pass.options(&interrupt), args.pass.quiet)?;
    let scan = Executor::new(vec![prepared], &EngineOptions::default())?.threads(threads(args.pass.threads));
    let (choice, explorer) = (Choice::default(), Explorer::new(asked));
    let TabledGames { part: mut sum, rest: database, used, unused, .. } =
        explorer.from_tables(database, &OpenTables::default(), |_| None);
    used.iter().filter(|_| !args.pass.quiet).for_each(|used| message!("{}", used_line(used)));
    unused.iter().for_each(|error| message!("warning: {}", unused_line(error)));
    let run = Run::new(&scan, &choice, &explorer);
    let progress = ProgressDisplay::from_args(&args.pass.progress, args.pass.quiet);
    let (names, mut texts) = (run.names(database.source_names()), database.texts());
    let mut fault = None;
    let summary = run.for_each_part(database, &names, |streamed, part| {
        progress.update(&streamed);
        fault = explorer.take(&mut sum, part, &streamed, &mut texts).err();
        if fault.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    progress.clear();
    if let Some(fault) = fault {
        return Err(fault.into());
    }
    if is_unread(&summary) {
        return Ok(print_failures(&summary));
    }
    let explored = Explored::new(explorer.asked(), &sum);
    let mut out = Out::new();
    match args.json {
        true => out.json(&explored.json())?,
        false => out.drawn(&explored.text())?,
    }
    out.finish()?;
    Ok(match used.as_slice() {
        [] => args.pass.end(&summary, &interrupt),
        // With position tables, most games are counted without being read.
        _ => args.pass.end_with(
            &format!("{} games are counted", grouped(explored.games())),
            &summary,
            &interrupt,
        ),
    })
}
