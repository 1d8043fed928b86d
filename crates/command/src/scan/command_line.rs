//! Writes a command line in canonical form. It makes the same request as the original command line.

use orbit_search::Request;
use orbit_search::run::without_folders;

use super::Args;
use crate::common::shown;
use crate::query_text::QueryText;

impl Args {
    /// Returns the command line that a report shows. It is empty if no command line can express the request.
    pub(super) fn command_line(&self, request: Request, query: &QueryText) -> String {
        let files: Vec<String> = query.paths.iter().map(|path| shown(path)).collect();
        self.question(request, &query.text).command_line(&without_folders(&files)).unwrap_or_default()
    }

    /// Adds the theme and the board to a request, and adds the query only if there is no theme, board or position.
    fn question(&self, mut request: Request, query: &str) -> Request {
        request.theme.clone_from(&self.theme);
        self.board.put(&mut request);
        if [&request.theme, &request.board, &request.similar, &request.at].into_iter().all(Option::is_none) {
            request.query = vec![query.trim().to_owned()];
        }
        request
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::collections::BTreeSet;
    use std::ffi::OsString;
    use std::num::NonZeroU64;
    use std::path::PathBuf;
    use std::process::Command as Process;

    use clap::Parser as _;
    use orbit_search::choice::{Side, SortKey};
    use orbit_search::{Alike, Dialect, EngineChoice, Sample};

    use super::*;
    use crate::{Cli, Command, dashes};

    const LINES: &str =
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/command-lines.tsv"));

    /// Returns the words into which a shell splits a command line.
    fn words(line: &str) -> Vec<String> {
        let script = format!("set -- {line}\nfor word do printf '%s\\0' \"$word\"; done");
        let run = Process::new("sh").args(["-c", &script]).output().expect("there is a shell");
        assert!(run.status.success(), "{line}");
        let words = String::from_utf8(run.stdout).expect("the lines are UTF-8");
        words.split_terminator('\0').map(str::to_owned).collect()
    }

    /// Returns the request of a command line, or `None` if the command line is invalid. The games need not exist.
    fn question(words: &[String]) -> Option<Request> {
        let words = dashes::guarded(words.iter().map(OsString::from).collect());
        let Command::Scan(args) = Cli::try_parse_from(words).ok()?.command else { return None };
        let request = args.request().ok()?;
        request.check().ok()?;
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/command-lines");
        let mut file = args.file.iter().map(|file| match file.strip_prefix("in") {
            Ok(name) => PathBuf::from(folder).join(name),
            Err(_) => file.clone(),
        });
        let (file, board) = (file.next_back(), args.board().ok()?);
        let is_named = args.query.is_some() || file.is_some() || args.theme.is_some() || board.is_some();
        let mut words: Vec<OsString> = args.words.iter().take(usize::from(!is_named)).cloned().collect();
        words.push("-".into());
        let query = match &args.theme {
            Some(name) => QueryText::from_theme(name, &words).ok()?,
            None => QueryText::take(args.query.as_deref(), file.as_deref(), board, &words).ok()?,
        };
        Some(args.question(request, &query.text))
    }

    /// Checks that the command line for a request parses to the same request, and returns the command line.
    fn check(request: &Request) -> String {
        let line = request.command_line(&["-".to_owned()]).unwrap_or_else(|| panic!("{request:?}"));
        assert_eq!(question(&words(&line)).as_ref(), Some(request), "{line}");
        line
    }

    #[test]
    fn lines_of_the_tests_are_read_as_the_question_they_ask() {
        let mut seen = BTreeSet::new();
        for line in LINES.lines().filter_map(|row| row.split_once('\t')).map(|(_, line)| line) {
            // Outside quotation marks, these characters have a special meaning to a shell.
            let bare: String = line.split('\'').step_by(2).collect();
            if !line.starts_with("orbit scan ")
                || bare.contains(['|', ';', '&', '<', '>', '$', '`', '(', '*'])
            {
                continue;
            }
            if let Some(request) = question(&words(line)).filter(|request| request.query != [""]) {
                seen.insert(check(&request));
            }
        }
        assert!(seen.len() > 100, "{}", seen.len());
        for option in
            ["--theme", "--board", "--similar", "--at", "--where", "--player", "--sort", "--first", "--limit"]
        {
            assert!(seen.iter().any(|line| line.contains(&format!(" {option}"))), "{option}");
        }
    }

    #[test]
    fn requests_of_all_kinds_are_read_as_they_are_written() {
        let texts = [
            "mate",
            "--(o-o)",
            "-1 < power A",
            "--limit",
            "player \"O'Kelly\"",
            "a\nb // c\n{d}",
            "$HOME `ls` \\ \\' !x ~",
            "''",
            "--",
            "-",
            "white \u{202e}Čigorin",
            "#A > 8",
            "\"*?[a-h]\"",
            "a\tb",
        ];
        let names = ["Tal", "O'Kelly de Galway, A", "Čigorin", "-x", "$a `b`"];
        let mut state = 7_u64;
        let mut next = |most: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % most
        };
        for _ in 0..300 {
            let mut request = Request { engine: Some(EngineChoice::default()), ..Request::default() };
            let board = "8/8/8/8/3N4/5k2/8/8 w".to_owned();
            match next(8) {
                0 => request.theme = Some("greek-gift".into()),
                1 => request.at = Some("e4 c5".into()),
                2 => {
                    (request.board, request.transforms) =
                        (Some(board), vec!["shift".into(), "flipcolor".into()])
                }
                3 => {
                    (request.similar, request.transforms) = (Some(board), vec!["rotate90".into()]);
                    (request.best, request.sort) = (true, Some(SortKey::Value));
                    request.limit = NonZeroU64::new([50, 51][next(2)]);
                }
                _ => {
                    request.query = vec![texts[next(texts.len())].to_owned()];
                    request.dialect = [None, Some(Dialect::Cql6)][next(2)];
                    (request.first, request.sort) =
                        ([true, false][next(2)], [None, Some(SortKey::Date)][next(2)]);
                    request.reverse = request.sort.is_some() && next(2) == 0;
                    request.limit = NonZeroU64::new([0, 9][next(2)]);
                }
            }
            request.variations = next(2) == 0;
            request.unique = [None, Some(Alike::Tags), Some(Alike::Moves)][next(3)];
            request.engine =
                Some([EngineChoice::default(), EngineChoice::Reference, EngineChoice::Cpu][next(3)]);
            request.verify = [None, Some(Sample::All), Some(Sample::Segments(5))][next(3)];
            let conditions = ["elo>=2600", "white~\"a 'b' $c\"", "event~\"now or never\""];
            request.conditions = (0..next(3)).map(|_| conditions[next(3)].to_owned()).collect();
            if next(2) == 0 {
                request.player_exact = Some(names[next(names.len())].to_owned());
                request.side = [None, Some(Side::White), Some(Side::Black)][next(3)];
                request.rating = [None, Some("-2700".to_owned()), Some("2600-".to_owned())][next(3)].clone();
                request.opponent = [None, Some("Anand".to_owned())][next(2)].clone();
                request.opponent_rating = [None, Some("2600-2700".to_owned())][next(2)].clone();
            }
            if request.sort.is_none() && request.limit.is_none() && next(2) == 0 {
                request.sample = NonZeroU64::new(3);
            } else {
                request.skip = [0, 4][next(2)];
            }
            request.seed = [0, 11][next(2)];
            check(&request);
        }
    }
}
