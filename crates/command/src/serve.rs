//! Implements `orbit serve`, a server for other programs.

use std::io;
#[cfg(feature = "http")]
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use orbit_search::CancelToken;
use orbit_search::executor::{EngineChoice, EngineOptions};
use orbit_search::serve::{
    Endpoint, Greeting, Listener, Open, OpenDatabases, Origin, ServeOptions, converse,
};
#[cfg(feature = "http")]
use orbit_search::serve::{HttpListener, HttpOrigin, RequestFiles};

use super::common::{GpuArgs, bytes, choice, from_one, on_interrupt, threads, unfinished};
use super::failure::{Exit, Failure};
use super::terminal;

const AFTER_HELP: &str = "\
Each line on standard input is a request, a JSON object; each line on standard output is an
answer or an event. docs/serve.md describes all requests and shows a conversation. The process ends
at the end of its input or after the request `quit`; with --listen, it ends after Ctrl-C.

Requests:
  open, close   open a database from files, close it
  query         search a database; the hits are kept, and returned page by page
  count, statistics, batch, write
                numbers of hits, by groups, of themes; files of games and reports
  hits          a page of the hits of a query; the rows are those of `orbit scan --format jsonl`
  positions     how often a position occurs, and the first and the last game that has it
  game          one game: tags, moves, positions, PGN
  explain       the meaning of a query, and the copies that its transform makes
  cancel        stop a query, or the opening of a database
  progress, ping, version, quit

Examples:
  orbit serve games.pgn
  orbit serve --memory 8G --listen unix:/run/user/1000/orbit all.reel
  echo '{\"id\":1,\"request\":\"query\",\"query\":\"mate\",\"rows\":5}' | orbit serve games.pgn";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Args {
    /// Serve several clients over a socket: at an address of this machine (127.0.0.1:0 for any port), or at unix:PATH.
    ///
    /// The first line of the output gives the place. Standard input is not read. Nobody but you can use a socket at a path.
    ///
    /// Anyone who can connect to an address can read and write files as you can. If several people use the machine, use
    /// unix:PATH.
    #[arg(long, value_name = "PLACE", group = "socket")]
    listen: Option<Endpoint>,
    /// Answer over HTTP at an address of this machine (127.0.0.1:0 for any port): questions about a position, as lichess's
    /// opening explorer does, and the requests of clients that send the token.
    ///
    /// The first line of the output has the address and the token. GET /lichess, /masters and /player need no token (see
    /// docs/explorer.md); POST /requests needs it in `Authorization: Bearer TOKEN`. Standard input is not read.
    #[cfg(feature = "http")]
    #[arg(long, value_name = "ADDRESS", group = "socket", hide_short_help = true)]
    http: Option<SocketAddr>,
    /// Let pages of another origin, such as `https://example.org`, send requests over HTTP. This option may be given
    /// several times.
    #[cfg(feature = "http")]
    #[arg(long, value_name = "ORIGIN", requires = "http", hide_short_help = true)]
    allow_origin: Vec<HttpOrigin>,
    /// Let requests over HTTP open and write files below FOLDER; without this option, they cannot use files.
    #[cfg(feature = "http")]
    #[arg(long, value_name = "FOLDER", requires = "http", hide_short_help = true)]
    folder: Option<PathBuf>,
    /// Let --listen and --http use an address that other machines can connect to.
    #[arg(long, requires = "socket", hide_short_help = true)]
    allow_remote: bool,
    #[command(flatten)]
    pub(super) desk: OpenArgs,
}

/// The arguments about databases that stay open, and about the memory and threads of queries.
#[derive(Debug, clap::Args)]
pub(super) struct OpenArgs {
    /// Open these files at the start, as the database `main`: PGN, EPD, FEN, folders, or reels.
    ///
    /// A build with the feature `https` also reads URLs of such files.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Keep side lines (variations) and comments of these files, so that queries can search side lines.
    ///
    /// A reel contains side lines if it was made by `orbit index --variations`.
    #[arg(long)]
    variations: bool,
    /// Keep databases in memory as long as they fit in this much. A database that does not fit is read again for each query.
    #[arg(long, value_name = "BYTES", default_value = "2G", value_parser = bytes)]
    memory: u64,
    /// Read PGN files themselves even if an up-to-date reel of them is in the same folder.
    #[arg(long, hide_short_help = true)]
    no_reel: bool,
    /// Use N threads for a query [default: one for each core].
    #[arg(short = 'j', long, value_name = "N", value_parser = from_one::<NonZeroUsize>)]
    threads: Option<NonZeroUsize>,
    /// Choose the engine of queries: auto, cpu, gpu or reference.
    ///
    /// A request of `orbit serve` can name another engine.
    #[arg(long, value_parser = choice::<EngineChoice>(), default_value_t, hide_possible_values = true)]
    engine: EngineChoice,
    #[command(flatten)]
    gpu: GpuArgs,
}

impl OpenArgs {
    /// Creates the list of open databases. If files are given, they are opened as the first database, `main`.
    pub(super) fn open(&self, cancel: &CancelToken) -> Result<OpenDatabases, Failure> {
        let mut options = ServeOptions::default();
        options.unfinished = unfinished();
        options.memory_max = self.memory;
        let EngineOptions { engine, gpu, .. } = self.gpu.engine_options(self.engine, None, 0)?;
        (options.engine, options.gpu) = (engine, gpu);
        options.threads = threads(self.threads);
        options.substitute_reels = !self.no_reel;
        let desk = OpenDatabases::new(options);
        if !self.paths.is_empty() {
            let path = |path: &PathBuf| match path.to_str() {
                Some(path) => Ok(path.to_owned()),
                None => Err(Failure::Other(format!("the path {} is not UTF-8: rename it", path.display()))),
            };
            let paths = self.paths.iter().map(path).collect::<Result<_, _>>()?;
            let open = Open { variations: self.variations, ..Open::new(paths) };
            let opened = desk.open(&open, cancel, &mut |_| ());
            opened.map_err(|fault| Failure::Other(fault.to_string()))?;
        }
        Ok(desk)
    }
}

const GREETING: Greeting<'static> = Greeting { program: "orbit", version: env!("CARGO_PKG_VERSION") };

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    if let Some(place) = &args.listen {
        return listen(&args, place);
    }
    #[cfg(feature = "http")]
    if let Some(address) = args.http {
        return listen_http(&args, address);
    }
    end_on_interrupt(|| ())?;
    let desk = args.desk.open(&CancelToken::new())?;
    let say = |line: &str| {
        if terminal::data_line(line).is_err() {
            // The reader closed the pipe. The thread that waits for requests might never notice this, so the process ends here.
            unfinished().remove();
            std::process::exit(0);
        }
    };
    match converse(&desk, GREETING, (&mut io::stdin().lock(), Origin::Input), &say) {
        Ok(()) => Ok(Exit::Done),
        Err(error) => Err(Failure::Other(format!(
            "no more requests can be read ({error}): check standard input and the limits of threads and memory, and start again"
        ))),
    }
}

/// Installs the Ctrl-C handler. Ctrl-C calls `leave`, removes the files that requests are writing, and ends the process.
fn end_on_interrupt(leave: impl Fn() + Send + 'static) -> Result<(), Failure> {
    on_interrupt(move || {
        leave();
        unfinished().remove();
        std::process::exit(130);
    })
}

/// Serves clients over HTTP until Ctrl-C.
#[cfg(feature = "http")]
fn listen_http(args: &Args, address: SocketAddr) -> Result<Exit, Failure> {
    let files = args.folder.clone().map_or(RequestFiles::None, RequestFiles::Below);
    let bound = HttpListener::bind(address, args.allow_remote, args.allow_origin.clone(), files);
    let listener = bound.map_err(|error| Failure::Other(error.to_string()))?;
    end_on_interrupt(|| ())?;
    let desk = args.desk.open(&CancelToken::new())?;
    terminal::data_line(&listener.event()).map_err(Failure::from_stdout)?;
    listener.serve(&desk, GREETING);
    Ok(Exit::Done)
}

/// Serves clients over a socket until Ctrl-C.
fn listen(args: &Args, place: &Endpoint) -> Result<Exit, Failure> {
    let bound = Listener::bind(place, args.allow_remote);
    let listener = Arc::new(bound.map_err(|error| Failure::Other(error.to_string()))?);
    let handler = Arc::clone(&listener);
    end_on_interrupt(move || handler.remove())?;
    let served = args.desk.open(&CancelToken::new()).and_then(|desk| {
        terminal::data_line(&listener.event()).map_err(Failure::from_stdout)?;
        listener.serve(&desk, GREETING);
        Ok(Exit::Done)
    });
    listener.remove();
    served
}
