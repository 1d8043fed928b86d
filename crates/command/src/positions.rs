//! Implements `orbit positions`, which looks up a position in a reel, an orbit database file.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use orbit_database::{BlockStream, StreamOptions};
use orbit_reel::Reel;
use orbit_search::choice::{ExactPosition, missing_rights};
use orbit_search::library::{SeenPosition, seen_game_json};
use orbit_visits::{
    MoveCount, Novelty, POSITIONS_MAX, PositionTable, SeenGame, TableError, TableOptions, UsedTable,
};
use serde_json::{Value, json};

use super::common::{CtrlC, Out, from_one, grouped, print_failures, shown, threads, unfinished};
use super::failure::{Exit, Failure};
use super::reading::{UnpackArgs, open};

const AFTER_HELP: &str = "\
Tables:
  `orbit positions --write all.reel` and `orbit index --positions` write all.reel.positions beside
  all.reel. A table answers for the games of which it was made. Games that were appended since are
  read from the reel. A table that is damaged or of another reel is not used, and a message says so.
  Without a table all games are read.

Exit code: 0 if the position was looked up, whether or not it was found, or the table was written; 1
if the position was not found and --fail-if-none is given; 2 if the position, the reel or the table
is wrong; 3 if a source was not read to its end; 130 after Ctrl-C.

Examples:
  orbit positions all.reel 'e4 c5 Nf3 d6 d4'
  orbit positions --json all.reel '8/8/8/4k3/4P3/4K3/8/8 w - -' | jq .games
  orbit positions --write all.reel
  orbit positions --novelties all.reel";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Args {
    /// The reel, a folder that `orbit index --shards` wrote, or PGN.
    #[arg(value_name = "DB")]
    database: PathBuf,
    /// The position: moves from the usual start position in SAN or UCI (`e4 c5`), a FEN, or `start`.
    ///
    /// Only positions of main lines count. As for repetitions, two positions are the same if board, side to move and
    /// castling rights are equal, and the en passant square if a pawn can capture there.
    ///
    /// If games have equal dates, the first in the file is the earliest one. An unknown day or month comes after all known
    /// ones: 2015.??.?? after 2015.12.31. A game without a year comes after all others; it is the last one only if no game
    /// has a year.
    #[arg(value_name = "POSITION", required_unless_present_any = ["write", "novelties"])]
    position: Option<ExactPosition>,
    /// Write the table of positions of a reel, or of each reel in a folder that `orbit index --shards` wrote, and replace
    /// existing ones.
    #[arg(long, conflicts_with_all = ["position", "novelties", "json", "fail_if_none"])]
    write: bool,
    /// List the first position of each game that no earlier game has, and the moves that earlier games played instead.
    ///
    /// Earlier games are those with an earlier date, and those with the same date that come first in the reel. A game whose
    /// moves an earlier game already has is not listed. Without a table of positions, all games are read several times.
    #[arg(long, conflicts_with_all = ["position", "fail_if_none"])]
    novelties: bool,
    /// Print one JSON object; with --novelties, one on each line.
    #[arg(long)]
    json: bool,
    /// Use N threads [default: one for each core].
    #[arg(short = 'j', long, value_name = "N", value_parser = from_one::<NonZeroUsize>)]
    threads: Option<NonZeroUsize>,
    /// Print no notes.
    #[arg(short, long)]
    quiet: bool,
    /// Exit with code 1 if no game has the position.
    #[arg(long)]
    fail_if_none: bool,
    /// Read a PGN file itself even if an up-to-date reel of it is in the same folder.
    #[arg(long, hide_short_help = true)]
    no_reel: bool,
    #[command(flatten)]
    unpack: UnpackArgs,
}

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    let interrupt = CtrlC::install()?;
    match &args.position {
        Some(position) => look_up(&args, position, &interrupt),
        None if args.write => {
            let write = |reel: &Path| write(reel, args.threads, args.quiet, &interrupt);
            reels(&args.database)?.iter().try_for_each(|reel| write(reel))?;
            Ok(if interrupt.is_set() { Exit::Interrupted } else { Exit::Done })
        }
        None => list_novelties(&args, &interrupt),
    }
}

/// Returns the reels in a folder, or the path itself if it is not a folder.
fn reels(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let database = BlockStream::open(&[path.to_owned()], StreamOptions::default())?;
    let reels: Vec<PathBuf> = database.reels().map(|reel| reel.path().to_owned()).collect();
    match reels.is_empty() {
        true => {
            Err(Failure::Other(format!("{} has no reel: `orbit index --positions` makes one", shown(path))))
        }
        false => Ok(reels),
    }
}

/// Writes a reel's position table.
pub(super) fn write(
    reel: &Path,
    given: Option<NonZeroUsize>,
    quiet: bool,
    interrupt: &CtrlC,
) -> Result<(), Failure> {
    let begun = Instant::now();
    let mut options = TableOptions::default();
    options.threads = threads(given);
    options.interrupt = interrupt.flag.clone();
    options.unfinished = unfinished();
    let size = match orbit_visits::write_table(reel, &options) {
        Err(error @ TableError::Interrupted { .. }) => {
            message!("{error}");
            return Ok(());
        }
        written => written?,
    };
    if !quiet {
        let seconds = begun.elapsed().as_secs_f64();
        message!(
            "{}: {} bytes, {} distinct positions of {}; {seconds:.2} s, {} positions/s",
            orbit_visits::table_path(reel).display(),
            grouped(size.bytes),
            grouped(size.positions),
            grouped(size.visits),
            grouped((size.visits as f64 / seconds) as u64)
        );
    }
    Ok(())
}

/// Returns a note that a position table was used to skip blocks (groups of games) or to add up game counts.
pub(super) fn used_line(used: &UsedTable) -> String {
    let UsedTable { path, blocks, of_blocks, appended, untotalled, .. } = used;
    let appended = match appended {
        0 => String::new(),
        appended => format!(", {} of them appended since it was written", grouped(*appended as u64)),
    };
    let untotalled = untotalled.map_or(String::new(), |games| {
        format!(", and {} games are added up, since no totals suit the request", grouped(games))
    });
    format!(
        "{}: {} of {} blocks are read{appended}{untotalled}",
        path.display(),
        grouped(*blocks as u64),
        grouped(*of_blocks as u64)
    )
}

/// Returns a warning that a position table is not used.
pub(super) fn unused_line(error: &TableError) -> String {
    format!(
        "{error}; it is not used, and all games are read: `orbit positions --write` with the reel writes it anew"
    )
}

fn look_up(args: &Args, position: &ExactPosition, interrupt: &CtrlC) -> Result<Exit, Failure> {
    let options = StreamOptions { substitute_reels: !args.no_reel, ..args.unpack.options(interrupt) };
    let database = open(std::slice::from_ref(&args.database), options, args.quiet)?;
    let refused = |error| message!("warning: {}", unused_line(&error));
    let position = *position.position();
    let (facts, summary) = orbit_visits::seen(database, &position, threads(args.threads), refused)?;
    if interrupt.is_set() {
        return Ok(Exit::Interrupted);
    }
    if !args.quiet {
        facts.used.iter().for_each(|used| message!("{}", used_line(used)));
    }
    let mut out = Out::new();
    let seen = SeenPosition { position, facts };
    match args.json {
        true => out.json(&seen.json())?,
        false => text_of(&seen).into_iter().try_for_each(|line| out.line(line))?,
    }
    out.finish()?;
    Ok(match print_failures(&summary) {
        Exit::Done if args.fail_if_none && seen.facts.visits == 0 => Exit::NoHits,
        exit => exit,
    })
}

fn text_of(SeenPosition { position, facts }: &SeenPosition) -> Vec<String> {
    let mut lines = vec![position.to_epd()];
    let Some([first, last]) = &facts.ends else {
        lines.push("no game has this position".into());
        lines.extend(missing_rights(position).map(str::to_owned));
        return lines;
    };
    lines.push(format!("games   {}", grouped(facts.games)));
    lines.push(format!("visits  {}", grouped(facts.visits)));
    lines.push(format!("first   {}", game_text(first)));
    lines.push(format!("last    {}", game_text(last)));
    lines
}

/// Formats a game: `2015.03.07  Carlsen, M (2865) - Anand, V (2797), game 17`.
fn game_text(game: &SeenGame) -> String {
    let player = |side: usize| {
        let name = game.players[side].as_deref().unwrap_or("?");
        let rating = game.ratings[side].map_or(String::new(), |rating| format!(" ({rating})"));
        format!("{name}{rating}")
    };
    let date = game.date.as_deref().unwrap_or("????.??.??");
    format!("{date}  {} - {}, game {}", player(0), player(1), game.number)
}

fn list_novelties(args: &Args, interrupt: &CtrlC) -> Result<Exit, Failure> {
    let options = StreamOptions { substitute_reels: !args.no_reel, ..args.unpack.options(interrupt) };
    let database = open(std::slice::from_ref(&args.database), options, args.quiet)?;
    if !database.is_repeatable() {
        return Err(Failure::Other(format!(
            "novelties need games that can be read several times, and {} can be read only once: save it in a file",
            shown(&args.database)
        )));
    }
    let mut out = Out::new();
    let mut written = Ok(());
    let take = |novelty: Novelty| {
        written = match args.json {
            true => out.json(&novelty_json(&novelty)),
            false => out.line(novelty_text(&novelty)),
        };
        if written.is_err() || interrupt.is_set() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let exit = match table_of_all_games(args, &database)? {
        Some((reel, table)) => orbit_visits::novelties(reel, &table, take).map(|()| Exit::Done)?,
        None => {
            let threads = threads(args.threads);
            match orbit_visits::novelties_without_table(&database, threads, POSITIONS_MAX, take)? {
                Some(summary) => print_failures(&summary),
                None => Exit::Interrupted,
            }
        }
    };
    written?;
    out.finish()?;
    Ok(if interrupt.is_set() { Exit::Interrupted } else { exit })
}

/// Returns the reel and its position table if the database is a reel and the table covers all its games. Otherwise prints the
/// reason, unless `--quiet` is given.
fn table_of_all_games<'a>(
    args: &Args,
    database: &'a BlockStream,
) -> Result<Option<(&'a Reel, PositionTable)>, Failure> {
    let path = &args.database;
    let reel = database.reels().next().filter(|_| !path.is_dir());
    let reason = match reel.map(|reel| (reel, PositionTable::open(reel))) {
        Some((_, Err(TableError::Reel(error)))) => return Err(error.into()),
        Some((reel, Ok(Some(table)))) if table.blocks() == reel.blocks() => return Ok(Some((reel, table))),
        Some((_, Err(error))) => error.to_string(),
        Some((_, Ok(Some(_)))) => "games were appended since the table of positions was written".into(),
        Some((_, Ok(None))) => format!("{} has no table of positions", shown(path)),
        None => format!("{} is no reel with a table of positions", shown(path)),
    };
    if !args.quiet {
        let remedy = match reel {
            Some(reel) => format!("`orbit positions --write {}` writes a table", shown(reel.path())),
            None => format!("`orbit index --positions {} -o all.reel` makes one", shown(path)),
        };
        message!("note: {reason}, so all games are read several times: {remedy}");
    }
    Ok(None)
}

fn novelty_text(novelty: &Novelty) -> String {
    let before: Vec<String> = novelty
        .before
        .iter()
        .map(|MoveCount { san, games, .. }| format!("{san} {}", grouped(*games)))
        .collect();
    let before = if before.is_empty() { String::new() } else { format!(" (before: {})", before.join(", ")) };
    let what = novelty.label.as_deref().unwrap_or("its start position");
    format!("{}: {what}{before}", game_text(&novelty.game))
}

fn novelty_json(novelty: &Novelty) -> Value {
    let before =
        novelty.before.iter().map(|MoveCount { san, games, .. }| json!({ "san": san, "games": games }));
    let mut all = seen_game_json(&novelty.game);
    all["ply"] = novelty.ply.into();
    all["move"] = novelty.label.clone().into();
    all["fen"] = novelty.position.to_epd().into();
    all["games_before"] = novelty.games_before.into();
    all["before"] = before.collect::<Vec<_>>().into();
    all
}
