//! Implements `orbit player`, which writes a player's profile.

use std::path::{Path, PathBuf};

use orbit_core::game::PlayerName;
use orbit_database::{BlockStream, StreamError, StreamedBlock};
use orbit_search::choice::{Condition, Player};
use orbit_search::executor::{EngineOptions, Executor};
use orbit_search::profile::{self, PlayerNovelties, Profile, ProfileCollector};
use orbit_search::run::Run;
use orbit_search::{Choice, Request};

use super::choosing::texts;
use super::common::{CtrlC, Out, ProgressDisplay, ending, is_unread, print_failures, threads};
use super::failure::{Exit, Failure};
use super::players;
use super::reading::{self, PassArgs};
use super::sink::OutputFiles;

const AFTER_HELP: &str = "\
The page has the results by side, the openings against the scores that ratings let expect, the
positions with the lowest scores, the player's novelties, structures and themes against the other
games of the files, the endings, and the clock. docs/player.md says what each number is.

Examples:
  orbit player 'Carlsen, Magnus' games.pgn
  orbit player 'Carlsen, Magnus' games.pgn -o carlsen.html
  orbit player my-name lichess.pgn.zst --where 'time-control=blitz' --where 'date>=2024'
  orbit player --exact 'Carlsen,M' games.reel --json | jq .themes";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Args {
    /// The player, however the name is spelt: `Carlsen, M` finds `Magnus Carlsen`, and `Carlsen` every Carlsen.
    #[arg(value_name = "NAME")]
    name: String,
    /// The games: PGN, EPD or FEN files, folders, reels, or `-` for standard input.
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// Count only games in which the name has exactly this spelling.
    #[arg(long)]
    exact: bool,
    /// Count only games that meet a condition, such as `date>=2024`, of the player and of others.
    ///
    /// This option may be given several times; then all conditions must be met. `orbit scan --help` explains how to write
    /// them.
    #[arg(short = 'w', long = "where", value_name = "CONDITION")]
    conditions: Vec<Condition>,
    /// Write the profile to a file whose name ends in .html, .json or .txt, instead of printing it.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print the figures as one JSON object.
    #[arg(long, conflicts_with = "output")]
    json: bool,
    #[command(flatten)]
    pass: PassArgs,
}

/// The format of a profile.
#[derive(Clone, Copy)]
enum ProfileFormat {
    Text,
    Json,
    Page,
}

impl Args {
    fn player(&self) -> Result<Player, Failure> {
        let name = if self.exact { PlayerName::exact(&self.name) } else { self.name.parse() };
        name.map(Player::new).map_err(|error| Failure::Other(error.to_string()))
    }

    /// Returns the conditions on games. The player is not among them, because games of other players are examined too.
    fn choice(&self) -> Result<Choice, Failure> {
        let request = Request { conditions: texts(&self.conditions), ..Request::default() };
        let choice = request.check()?.choice;
        let of_positions = choice.of_positions().next().map(Condition::to_string);
        match of_positions {
            None => Ok(choice),
            Some(condition) => Err(Failure::Other(format!(
                "`{condition}` is a condition on positions, and a profile is about games: leave it out, or use \
                 `orbit scan --player`"
            ))),
        }
    }

    fn format(&self) -> Result<ProfileFormat, Failure> {
        let Some(path) = &self.output else {
            return Ok(if self.json { ProfileFormat::Json } else { ProfileFormat::Text });
        };
        match ending(path).as_str() {
            "html" | "htm" => Ok(ProfileFormat::Page),
            "json" => Ok(ProfileFormat::Json),
            "txt" => Ok(ProfileFormat::Text),
            _ => Err(Failure::Other(format!(
                "{}: the ending of the name chooses the format: give a name that ends in .html, .json or .txt",
                path.display()
            ))),
        }
    }

    /// Opens the games with their comments, which contain clock times. A reel without comments is opened without them.
    fn open(&self, interrupt: &CtrlC) -> Result<BlockStream, Failure> {
        let open = |options| reading::open(&self.paths, options, self.pass.quiet);
        let mut with_comments = self.pass.options(interrupt);
        with_comments.parse.annotations = true;
        match open(with_comments) {
            Err(Failure::Database(StreamError::NoAnnotations { .. })) => open(self.pass.options(interrupt)),
            opened => opened,
        }
    }
}

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    let (player, choice, format) = (args.player()?, args.choice()?, args.format()?);
    let interrupt = CtrlC::install()?;
    let database = args.open(&interrupt)?;
    let (sources, again) = (database.source_names(), database.unread());
    let sink = OutputFiles::new(&database);
    let sink = args.output.as_deref().map(|path: &Path| sink.begin(path)).transpose()?;
    let queries = profile::queries().map_err(|error| Failure::Other(error.to_string()))?;
    let scan = Executor::new(queries, &EngineOptions::default())?.threads(threads(args.pass.threads));
    let collector = ProfileCollector::new(player, database.keeps_annotations());
    let progress = ProgressDisplay::from_args(&args.pass.progress, args.pass.quiet);
    let collected =
        Run::new(&scan, &choice, &collector).collect_watched(database, |streamed| progress.update(streamed));
    progress.clear();
    let (part, summary) = collected?;
    if is_unread(&summary) {
        return Ok(print_failures(&summary));
    }
    let player = collector.player();
    let mut profile = Profile::new(&collector, &choice, sources, &part);
    if profile.games() == 0 && !interrupt.is_set() {
        return Err(Failure::Other(players::none_of(player, &choice, &part.spellings)));
    }
    if !interrupt.is_set() {
        // The search for novelties reads the games again. JSON progress describes a single pass over the games, so these extra
        // passes show only a progress bar.
        let progress = ProgressDisplay::new_if(args.pass.progress.is_bar() && !args.pass.quiet);
        let watch = |streamed: &StreamedBlock| progress.update(streamed);
        profile.novelties =
            PlayerNovelties::find(&again, player, &choice, threads(args.pass.threads), watch)?;
    }
    match (sink, format) {
        // After an interrupt, games are missing, but the profile would look complete. So no file is written.
        (Some(sink), _) if interrupt.is_set() => {
            let path = sink.path().unwrap_or(Path::new("-")).display();
            message!("interrupted; {path} was not written");
        }
        (Some(sink), ProfileFormat::Page) => sink.write_whole(profile.page().as_bytes())?,
        (Some(sink), ProfileFormat::Json) => {
            sink.write_whole(format!("{}\n", super::terminal::json(&profile)).as_bytes())?;
        }
        (Some(sink), ProfileFormat::Text) => sink.write_whole(profile.text().as_bytes())?,
        (None, format) => {
            let mut out = Out::new();
            match format {
                ProfileFormat::Json => out.json(&profile)?,
                _ => out.drawn(&profile.text())?,
            }
            out.finish()?;
        }
    }
    Ok(args.pass.end(&summary, &interrupt))
}
