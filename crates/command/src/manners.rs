//! Builds the short help for `-h`, which fits on a screen. Also determines whether messages must be JSON when the arguments cannot
//! be parsed.

use std::ffi::OsString;

use clap::Command;

/// The arguments that `-h` lists for commands whose arguments do not all fit on a screen. The strings are clap argument ids.
const SHORT: [(&str, &[&str]); 6] = [
    (
        "explore",
        &[
            "words", "since", "until", "ratings", "speeds", "player", "side", "moves", "json", "threads",
            "quiet",
        ],
    ),
    (
        "scan",
        &[
            "words",
            "file",
            "count",
            "copies",
            "heat",
            "board",
            "variations",
            "threads",
            "quiet",
            "conditions",
            "player",
            "unique",
            "first",
            "limit",
            "sort",
            "format",
            "files",
            "columns",
            "stats",
        ],
    ),
    (
        "batch",
        &[
            "themes",
            "paths",
            "only",
            "group",
            "by",
            "conditions",
            "format",
            "output",
            "list",
            "show",
            "quiet",
        ],
    ),
    ("index", &["paths", "output", "append", "no_duplicates", "variations", "problems", "quiet"]),
    ("transform", &["words", "squares", "canonical", "symmetries", "legal", "show", "quiet"]),
    ("bench", &["paths", "queries", "runs", "threads", "json"]),
];

/// The maximum number of example lines that `-h` shows.
const EXAMPLES: usize = 3;

/// Returns the `orbit` command. If `-h` is given, its help is reduced to the common options and a few examples.
pub(super) fn with_help_for(orbit: Command, arguments: &[OsString]) -> Command {
    let is_short = |word: &OsString| {
        word.to_str()
            .is_some_and(|word| word.starts_with('-') && !word.starts_with("--") && word.ends_with('h'))
    };
    if arguments.iter().any(is_short) { with_short_help(orbit) } else { orbit }
}

fn with_short_help(mut orbit: Command) -> Command {
    for (name, shown) in SHORT {
        orbit = orbit.mut_subcommand(name, |command| shortened(command, name, shown));
    }
    orbit
}

fn shortened(command: Command, name: &str, shown: &[&str]) -> Command {
    let whole = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let examples = whole.split_once("Examples:\n").map_or("", |(_, examples)| examples);
    let examples: Vec<&str> = examples.lines().take(EXAMPLES).collect();
    let short =
        format!("`orbit {name} --help` has all options, each in full.\n\nExamples:\n{}", examples.join("\n"));
    let operands = command.get_positionals().filter_map(|arg| arg.get_value_names()?.first()).cloned();
    let usage: Vec<String> = operands.map(|name| format!("{}...", name.as_str())).collect();
    let command =
        command.after_help(short).override_usage(format!("orbit {name} [OPTIONS] {}", usage.join(" ")));
    command.mut_args(|arg| {
        let is_shown = shown.iter().any(|name| arg.get_id() == name);
        let arg = if arg.is_positional() { arg } else { arg.help_heading("Options") };
        let arg = arg.hide_short_help(!is_shown);
        // Flags have no possible values and no defaults to hide.
        if arg.get_action().takes_values() {
            arg.hide_possible_values(true).hide_default_value(true)
        } else {
            arg
        }
    })
}

/// Returns whether arguments that could not be parsed request JSON messages.
pub(super) fn asks_for_json(arguments: &[OsString]) -> bool {
    let mut before = None;
    arguments.iter().take_while(|word| *word != "--").any(|word| {
        let is_value = before.replace(word).is_some_and(|before| before == "--message-format");
        word == "--message-format=json" || is_value && word == "json"
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::Cli;

    #[test]
    fn short_help_fits_a_screen_and_long_help_is_whole() {
        let mut orbit = with_short_help(Cli::command());
        orbit.build();
        let mut long = Cli::command();
        long.build();
        for command in orbit.get_subcommands_mut().filter(|command| command.get_name() != "cql") {
            let short = command.render_help().to_string();
            let name = command.get_name().to_owned();
            assert!(short.lines().count() <= 40, "{name} -h has {} lines", short.lines().count());
            let long =
                long.find_subcommand_mut(&name).expect("the same commands").render_long_help().to_string();
            for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
                let Some(option) = arg.get_long() else { continue };
                assert!(long.contains(&format!("--{option}")), "{name} --help lacks --{option}");
            }
        }
        for (name, shown) in SHORT {
            let command = orbit.find_subcommand(name).expect(name);
            for id in shown {
                assert!(command.get_arguments().any(|arg| arg.get_id() == id), "{name} has no {id}");
            }
        }
    }

    #[test]
    fn json_is_asked_for_before_arguments_are_read() {
        let asks = |words: &[&str]| asks_for_json(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert!(asks(&["orbit", "--message-format", "json", "scan"]));
        assert!(asks(&["orbit", "scan", "--message-format=json"]));
        assert!(!asks(&["orbit", "scan", "--message-format", "text", "json"]));
        assert!(!asks(&["orbit", "scan", "--", "--message-format=json"]));
    }
}
