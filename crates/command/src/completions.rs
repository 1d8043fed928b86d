//! Implements `orbit completions`, which prints a completion script for a shell.
//!
//! clap writes the scripts. This module adds completions for the words of the query language. If an argument begins with a
//! quotation mark, its last word is completed as a word of a query.

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::failure::{Exit, Failure};
use super::sink::Sink;
use super::{Cli, help};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  orbit completions bash > ~/.local/share/bash-completion/completions/orbit
  orbit completions zsh > ~/.zfunc/_orbit
  orbit completions fish > ~/.config/fish/completions/orbit.fish

Words of the language are completed inside a query that begins with a quotation mark.")]
pub(super) struct Args {
    /// The shell whose completion script is printed.
    shell: Shell,
}

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    // The script is written to memory first, because clap_complete panics if stdout is closed.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut help::with_commands(Cli::command()), "orbit", &mut script);
    let mut script = String::from_utf8(script).expect("scripts are written as UTF-8");
    let words = || help::plain_spellings().into_iter().collect::<Vec<_>>().join(" ");
    match args.shell {
        Shell::Bash => script.push_str(&IN_BASH.replace("@WORDS@", &words())),
        Shell::Zsh => script = for_zsh(&script, &words()),
        Shell::Fish => {
            script.push_str(&help::for_fish());
            script.push_str(&IN_FISH.replace("@WORDS@", &words()));
        }
        _ => {}
    }
    Sink::open(None)?.write_whole(script.as_bytes())?;
    Ok(Exit::Done)
}

/// The bash function that completes the arguments of `orbit`. If the current word begins with a quotation mark and may be a query,
/// the function completes words of the query language; otherwise it calls the function that clap generated. If only one completion
/// is left, bash closes the quotation marks; `nospace` keeps it from adding a blank.
const IN_BASH: &str = r#"
_orbit_in_query() {
    local current="${COMP_WORDS[COMP_CWORD]}"
    case "${COMP_WORDS[1]},$3,$current" in
        scan,-e,[\'\"]* | scan,--query,[\'\"]* | explain,-e,[\'\"]* | explain,--query,[\'\"]* | \
            scan,[!-]*,[\'\"]* | explain,[!-]*,[\'\"]* | convert,[!-]*,[\'\"]*) ;;
        *)
            _orbit "$@"
            return
            ;;
    esac
    local text="${current:1}"
    local word="${text##*[!A-Za-z0-9_]}"
    COMPREPLY=()
    [[ -n "$word" ]] || return 0
    local found
    for found in $(compgen -W "@WORDS@" -- "$word"); do
        COMPREPLY+=("${text%"$word"}$found")
    done
    compopt -o nospace 2>/dev/null
    return 0
}

if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -F _orbit_in_query -o nosort -o bashdefault -o default orbit
else
    complete -F _orbit_in_query -o bashdefault -o default orbit
fi
"#;

/// Returns the script for zsh, changed so that query arguments are completed by [`IN_ZSH`].
fn for_zsh(script: &str, words: &str) -> String {
    let is_query = |line: &str| {
        line.starts_with("'*::words -- ")
            || line.starts_with("'::query -- ")
            || line.contains(":QUERY:_default'")
    };
    let mut lines = script.lines();
    let mut made = String::new();
    // `#compdef` is the first line.
    for line in lines.by_ref().take(1) {
        made.push_str(line);
        made.push_str(&IN_ZSH.replace("@WORDS@", words));
    }
    for line in lines {
        match is_query(line) {
            true => made.push_str(&line.replace(":_default'", ":_orbit_in_query'")),
            false => made.push_str(line),
        }
        made.push('\n');
    }
    made
}

/// The zsh function that completes queries. `compset -P` makes zsh ignore the text before the last word.
const IN_ZSH: &str = "

_orbit_in_query() {
    if [[ $compstate[quote] == [\\'\\\"] ]]; then
        compset -P '*[^A-Za-z0-9_]'
        [[ -n $PREFIX ]] && compadd -S '' -- @WORDS@
    else
        _default
    fi
}
";

/// The fish function that completes queries. In fish, a completion replaces the whole argument, so each completion includes the
/// text before the last word.
const IN_FISH: &str = r#"function __orbit_in_query
    set -l text (string match -r '^[\'"](.*)$' -- (commandline -ct))[2]
    set -l before (string replace -r '[A-Za-z0-9_]*$' '' -- "$text")
    test "$before" != "$text"; or return
    for word in @WORDS@
        echo "$before$word"
    end
end
complete -c orbit -n "__fish_orbit_using_subcommand scan; or __fish_orbit_using_subcommand explain; or __fish_orbit_using_subcommand convert" -a "(__orbit_in_query)"
complete -c orbit -n "__fish_orbit_using_subcommand scan; or __fish_orbit_using_subcommand explain" -s e -l query -r -a "(__orbit_in_query)"
"#;
