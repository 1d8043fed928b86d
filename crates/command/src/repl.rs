//! Implements `orbit repl`, which runs queries and commands line by line.

mod editor;

use std::io::stdin;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use orbit_core::files::refuse_clashes;
use orbit_core::sync::lock;
use orbit_search::CancelToken;
use orbit_search::report::{Columns, Format, Rows};
use orbit_search::serve::{
    Answered, Ask, ErrorCode, Explain, Explained, Fault, KeptHits, MAIN, Make, Open, OpenDatabases, What,
};

use self::editor::{LineSource, Typed};
use super::common::{counted, ending, grouped, on_interrupt, unfinished};
use super::failure::{Exit, Failure};
use super::serve::OpenArgs;
use super::show::Shown;
use super::sink::Sink;
use super::terminal::{
    Out, Stdout, drawn_message, has_colors, has_colors_on_stdout, has_json_messages, json_message,
};

const GAMES_SHOWN: usize = 10;
/// The number of transformed copies of a query that `:explain` lists.
const COPIES_SHOWN: usize = 10;

const HELP: &str = "\
A line is a query, or a command that begins with a colon:
  :open PATH...  search these files or reels from now on
  :next          list the next games of the last answer
  :board N [K]   draw the position of game N of the last answer: of its first hit, or its hit K
  :game N        print game N of the last answer
  :explain [Q]   explain the query Q, or the last query, and list its copies
  :save FILE     write the hits of the last answer to FILE: .pgn .csv .jsonl .epd .fen
  :help          print this help
  :quit          end the program
Ctrl-C stops a running query. `orbit help language` lists the words of the query language.";

/// The names of the commands.
const COMMANDS: [&str; 8] = [":open", ":next", ":board", ":game", ":explain", ":save", ":help", ":quit"];

#[derive(Debug, clap::Args)]
#[command(after_help = format!("{HELP}

Without a terminal, there is no prompt: each line of standard input is executed, and the exit code
is 2 if one of them is wrong.

Examples:
  orbit repl games.pgn
  orbit repl all.reel
  printf 'mate\\n:board 1\\n' | orbit repl games.pgn"))]
pub(super) struct Args {
    #[command(flatten)]
    desk: OpenArgs,
}

/// The currently running request, which Ctrl-C cancels.
#[derive(Clone, Default)]
struct RunningRequest(Arc<Mutex<Option<CancelToken>>>);

impl RunningRequest {
    /// Installs the Ctrl-C handler. Ctrl-C cancels the running request; if none is running, it ends the process.
    fn install() -> Result<RunningRequest, Failure> {
        let running = RunningRequest::default();
        let handler = running.clone();
        on_interrupt(move || match &*lock(&handler.0) {
            Some(cancel) => cancel.cancel(),
            None => {
                unfinished().remove();
                std::process::exit(130);
            }
        })?;
        Ok(running)
    }

    /// Calls `work` with a token that Ctrl-C cancels.
    fn run<T>(&self, work: impl FnOnce(&CancelToken) -> T) -> T {
        let cancel = CancelToken::new();
        let set = |to| *lock(&self.0) = to;
        set(Some(cancel.clone()));
        let done = work(&cancel);
        set(None);
        done
    }
}

/// The action to take after a line was executed.
enum Done {
    /// Read the next line.
    Next,
    Quit,
}

/// The reason why a line could not be executed.
enum Wrong {
    Fault(Fault),
    Failure(Failure),
}

impl From<Fault> for Wrong {
    fn from(fault: Fault) -> Wrong {
        Wrong::Fault(fault)
    }
}

impl From<Failure> for Wrong {
    fn from(failure: Failure) -> Wrong {
        Wrong::Failure(failure)
    }
}

struct Repl {
    desk: OpenDatabases,
    running: RunningRequest,
    /// The last query and its answer.
    last: Option<(Answered, Arc<KeptHits>)>,
    /// The number of games in the last answer that were already listed.
    shown: usize,
    has_prompt: bool,
}

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    let running = RunningRequest::install()?;
    let desk = running.run(|cancel| args.desk.open(cancel))?;
    let mut lines = LineSource::open(stdin())?;
    let has_prompt = lines.have_prompt();
    let mut repl = Repl { desk, running, last: None, shown: 0, has_prompt };
    repl.greet()?;
    let mut is_wrong = false;
    while let Some(typed) = lines.next()? {
        let taken = match typed {
            Typed::Nothing => continue,
            Typed::NoText => Err(wrong("stdin: a line is not UTF-8: write queries as UTF-8")),
            Typed::Line(line) => repl.take(line.trim()),
        };
        match taken {
            Ok(Done::Next) => {}
            Ok(Done::Quit) => break,
            Err(Wrong::Failure(failure @ (Failure::Stdout(_) | Failure::Closed))) => return Err(failure),
            Err(Wrong::Failure(failure)) => {
                super::terminal::error_message(failure.code(), &failure.to_string());
                is_wrong = true;
            }
            Err(Wrong::Fault(fault)) => {
                is_wrong |= fault.code != ErrorCode::Cancelled;
                print_fault(&fault);
            }
        }
    }
    // At a prompt, the user has seen the error message. For a script, the exit code must report the error.
    match is_wrong && !has_prompt {
        true => Ok(Exit::Wrong),
        false => Ok(Exit::Done),
    }
}

fn print_problems(database: &serde_json::Value) {
    let problems = database["problems"].as_array().into_iter().flatten();
    problems.filter_map(|problem| problem.as_str()).for_each(|problem| message!("warning: {problem}"));
}

fn print_fault(fault: &Fault) {
    match (has_json_messages(), fault.code) {
        (true, _) => {
            let mut object = fault.json();
            object["kind"] = "error".into();
            json_message(&object);
        }
        (false, ErrorCode::Cancelled) => message!("cancelled"),
        (false, _) => drawn_message(&fault.render(has_colors())),
    }
}

fn wrong(why: impl Into<String>) -> Wrong {
    Wrong::Failure(Failure::Other(why.into()))
}

impl Repl {
    /// Prints which database is open, and a hint on how to start. For a script, prints only problems with the games.
    fn greet(&self) -> Result<(), Failure> {
        if !self.has_prompt {
            self.desk.descriptions().first().into_iter().for_each(print_problems);
            return Ok(());
        }
        let mut out = Out::new();
        match self.desk.descriptions().first() {
            Some(database) => self.print_opened(database, &mut out)?,
            None => out.line("no games are open: `:open games.pgn` opens some")?,
        }
        out.line("type a query such as `mate`, or `:help`")?;
        out.finish()
    }

    fn print_opened(&self, database: &serde_json::Value, out: &mut Out) -> Result<(), Failure> {
        let number = |name: &str| database[name].as_u64();
        match number("games").zip(number("positions")) {
            Some((games, positions)) => out.line(format_args!(
                "{}, {} positions, in memory",
                counted(games as usize, "game", "games"),
                grouped(positions)
            )),
            None => {
                out.line("more games than fit into memory: they are read anew for each query (see --memory)")
            }
        }?;
        print_problems(database);
        Ok(())
    }

    /// Executes a line: a command, which begins with a colon, or a query.
    fn take(&mut self, line: &str) -> Result<Done, Wrong> {
        if line.is_empty() {
            return Ok(Done::Next);
        }
        let Some(command) = line.strip_prefix(':') else {
            self.ask(line)?;
            return Ok(Done::Next);
        };
        let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        let rest = rest.trim();
        match name {
            "open" => self.open(rest)?,
            "next" => self.list()?,
            "board" => self.board(rest)?,
            "game" => self.game(rest)?,
            "explain" => self.explain(rest)?,
            "save" => self.save(rest)?,
            "help" => lines(HELP.lines())?,
            "quit" => return Ok(Done::Quit),
            _ => {
                return Err(wrong(format!(
                    "there is no command `:{name}`: the commands are {}",
                    COMMANDS.join(", ")
                )));
            }
        }
        Ok(Done::Next)
    }

    fn ask(&mut self, query: &str) -> Result<(), Wrong> {
        let answered = self.running.run(|cancel| self.desk.ask(&Ask::new(query), cancel, &mut |_| ()))?;
        for remark in &answered.remarks {
            match has_json_messages() {
                true => json_message(&remark.json(query, "query", 1)),
                false => drawn_message(&remark.render(query, "query", has_colors())),
            }
        }
        answered.notes.iter().for_each(|note| message!("note: {note}"));
        let Some(kept) = answered.kept.clone() else { return Ok(()) };
        let line = summary(&answered);
        self.last = Some((answered, kept));
        self.shown = 0;
        lines([line])?;
        self.list_games()
    }

    /// Lists the next games of the last answer.
    fn list(&mut self) -> Result<(), Wrong> {
        let (_, kept) = self.last()?;
        match self.shown < kept.games() {
            true => self.list_games(),
            false => Err(wrong("all games of the last answer are listed: ask another query")),
        }
    }

    fn list_games(&mut self) -> Result<(), Wrong> {
        let (_, kept) = self.last()?;
        let first = self.shown;
        let end = (first + GAMES_SHOWN).min(kept.games());
        let width = end.to_string().len();
        let listed = self.running.run(|_| kept.lines(first..end, has_colors_on_stdout()))?;
        let mut text = Vec::new();
        for (number, game) in (first + 1..).zip(listed) {
            // The lines of a game after the first show the moves and positions of its hits (their spans).
            for (index, line) in game.split_inclusive(|&byte| byte == b'\n').enumerate() {
                let head = if index == 0 { format!("{number:>width$}. ") } else { " ".repeat(width + 2) };
                text.extend_from_slice(head.as_bytes());
                text.extend_from_slice(line);
            }
        }
        let more = kept.games() - end;
        if more > 0 {
            text.extend_from_slice(format!("{}more: :next lists them\n", counted_more(more)).as_bytes());
        }
        self.shown = end;
        Ok(Sink::Stdout(Stdout::with_colors()).write_whole(&text)?)
    }

    fn last(&self) -> Result<(&Answered, Arc<KeptHits>), Wrong> {
        let last = self.last.as_ref().map(|(answered, kept)| (answered, Arc::clone(kept)));
        last.ok_or_else(|| wrong("there is no answer yet: ask a query first, such as `mate`"))
    }

    /// Shows a game from the last answer, at its first hit or at a given position.
    fn shown(&self, rest: &str, show: impl FnOnce(&Shown<'_>) -> Vec<String>) -> Result<(), Wrong> {
        let (_, kept) = self.last()?;
        let mut words = rest.split_whitespace();
        let mut number = |usual: Option<usize>| match words.next() {
            None => usual,
            Some(word) => word.parse::<usize>().ok().filter(|number| *number > 0),
        };
        let numbers = number(None).zip(number(Some(1)));
        let (Some((game, hit)), None) = (numbers, words.next()) else {
            return Err(wrong(
                "say which game of the last answer, by its number in the list: `:board 1`, or `:board 1 2` for \
                              its second hit",
            ));
        };
        let Some((block, index, nodes)) = kept.game(game - 1) else {
            return Err(wrong(format!(
                "the last answer lists {}: there is no {game}",
                counted(kept.games(), "game", "games")
            )));
        };
        let Some(&node) = nodes.get(hit - 1) else {
            let hits = counted(nodes.len(), "hit", "hits");
            return Err(wrong(format!("game {game} of the last answer has {hits}: there is no hit {hit}")));
        };
        let shown = Shown::new(block.game(index), true, Some(node))?;
        Ok(lines(show(&shown))?)
    }

    fn board(&self, rest: &str) -> Result<(), Wrong> {
        self.shown(rest, |shown| shown.position_text())
    }

    fn game(&self, rest: &str) -> Result<(), Wrong> {
        self.shown(rest, |shown| shown.text())
    }

    fn explain(&self, rest: &str) -> Result<(), Wrong> {
        let query = if rest.is_empty() { self.last()?.0.query.clone() } else { rest.to_owned() };
        let explained = Explained::new(&Explain::new(&query))?;
        let query = explained.query();
        let copies = query.copies().len();
        let mut text = vec![
            format!("{}.", explained.sentence),
            format!("value: {}", explained.value),
            format!("engines: {}", explained.engines.join(", ")),
        ];
        text.extend(explained.reason.iter().map(|reason| format!("no plan: {reason}")));
        if copies > 1 {
            text.push(format!("{} copies:", grouped(copies as u64)));
            let all = query.copies().iter().zip(query.transforms()).enumerate().take(COPIES_SHOWN);
            text.extend(all.map(|(index, (copy, from))| format!("{:>5}  {copy:32} {from}", index + 1)));
            if copies > COPIES_SHOWN {
                text.push(format!("{:>5}  ... `orbit explain --copies N` lists more", ""));
            }
        }
        Ok(lines(text)?)
    }

    fn save(&self, rest: &str) -> Result<(), Wrong> {
        let (answered, kept) = self.last()?;
        let [path] = &words(rest)?[..] else {
            return Err(wrong("say into which file: `:save hits.pgn`"));
        };
        let (path, rows) = (Path::new(path), Rows::Hits);
        let format = match ending(path).as_str() {
            "pgn" => return self.save_games(path),
            "csv" => Format::Csv { rows, columns: Columns::with_table_defaults(kept.extras()) },
            "jsonl" | "ndjson" => {
                Format::JsonLines { rows, columns: Columns::with_object_defaults(kept.extras()) }
            }
            "epd" => Format::Epd(rows),
            "fen" => Format::Fen(rows),
            _ => {
                return Err(wrong(format!(
                    "{}: the ending of the name chooses the format: give a name that ends in .pgn, .csv, .jsonl, .epd or .fen",
                    path.display()
                )));
            }
        };
        refuse_clashes(self.desk.files(MAIN), [path]).map_err(Failure::from)?;
        let text = kept.file(format)?;
        Sink::create(path)?.write_whole(&text)?;
        if answered.is_cut {
            message!("warning: only the first hits were kept; `orbit scan -o {}` writes all", path.display());
        }
        let games = counted(kept.games(), "game", "games");
        let hits = counted(kept.rows() as usize, "position", "positions");
        Ok(lines([format!("{}: {games}, {hits}", path.display())])?)
    }

    /// Writes all games with hits, with the text of their sources. The last query is run again, because the kept games have no text.
    fn save_games(&self, path: &Path) -> Result<(), Wrong> {
        let make = Make {
            request: Ask::new(&self.last()?.0.query).request,
            database: String::from(MAIN),
            what: What::File { path: path.to_owned(), title: None },
            progress: false,
        };
        let made = self.running.run(|cancel| self.desk.make(&make, cancel, &mut |_| ()))?;
        let games = made.fields["games"].as_u64().unwrap_or_default();
        Ok(lines([format!("{}: {}", path.display(), counted(games as usize, "game", "games"))])?)
    }

    fn open(&mut self, rest: &str) -> Result<(), Wrong> {
        let paths = words(rest)?;
        if paths.is_empty() {
            return Err(wrong("say which files: `:open games.pgn`"));
        }
        let begun = Instant::now();
        // The current database stays open until the new one has been opened, so a failed `:open` loses nothing.
        let open = Open { database: String::from("next"), ..Open::new(paths) };
        let opened = self.running.run(|cancel| self.desk.open(&open, cancel, &mut |_| ()))?;
        self.desk.rename("next", MAIN);
        (self.last, self.shown) = (None, 0);
        let mut out = Out::new();
        self.print_opened(&opened.fields.into_iter().collect(), &mut out)?;
        if self.has_prompt {
            out.line(format_args!("opened in {:.1} s", begun.elapsed().as_secs_f64()))?;
        }
        Ok(out.finish()?)
    }
}

/// Returns the summary line: `1,234 games and 2,345 positions hit, of ...`.
fn summary(answered: &Answered) -> String {
    let (games, positions) = (answered.hit.games, answered.hit.positions);
    let count = |number: u64, what: &str| counted(number as usize, what, &format!("{what}s"));
    let of = answered.searched.map_or(String::new(), |(games, positions)| {
        format!(" of {} and {}", count(games, "game"), count(positions, "position"))
    });
    let cut = if answered.is_cut { "; only the first were kept" } else { "" };
    format!(
        "{} and {} hit{of}; {:.3} s ({}){cut}",
        count(games, "game"),
        count(positions, "position"),
        answered.time.as_secs_f64(),
        answered.engine
    )
}

fn counted_more(games: usize) -> String {
    format!("{} ", counted(games, "game", "games"))
}

fn lines(text: impl IntoIterator<Item = impl std::fmt::Display>) -> Result<(), Failure> {
    let mut out = Out::new();
    text.into_iter().try_for_each(|line| out.line(line))?;
    out.finish()
}

/// Splits a string into words. A word in quotation marks (`"` or `'`) may contain blanks.
fn words(text: &str) -> Result<Vec<String>, Wrong> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for letter in text.chars() {
        match (letter, quote) {
            (letter, Some(open)) if letter == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (letter, None) if letter.is_whitespace() => words.extend(word.take()),
            (letter, _) => word.get_or_insert_default().push(letter),
        }
    }
    if quote.is_some() {
        return Err(wrong("a quotation mark is not closed"));
    }
    words.extend(word);
    Ok(words)
}
