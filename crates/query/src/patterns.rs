//! Checks the syntax and the size of the regular expressions in a query, and replaces named classes such as `[[:alpha:]]` with
//! ranges. A pattern is an ECMAScript regular expression, applied to bytes; the named classes are those of `std::regex` in C++.

use std::{collections::BTreeSet, rc::Rc};

use regress::{Flags, Regex};

use orbit_core::{
    diagnostic::{Diagnostic, Span},
    regexes::{CompiledPattern, OPS_MAX},
};

/// The limits of a pattern: its length in bytes, the depth of nested groups, and the number of alternatives. A pattern beyond these
/// limits could take minutes to parse, or overflow the stack.
const BYTES_MAX: usize = 20_000;
const NESTED_MAX: usize = 100;
const ALTERNATIVES_MAX: usize = 1_000;

/// The names of character classes, as in `[[:alpha:]_]`, with the character ranges that replace them.
const CLASSES: [(&str, &str); 15] = [
    ("alnum", "0-9A-Za-z"),
    ("alpha", "A-Za-z"),
    ("blank", r" \t"),
    ("cntrl", r"\x00-\x1f\x7f"),
    ("d", "0-9"),
    ("digit", "0-9"),
    ("graph", "!-~"),
    ("lower", "a-z"),
    ("print", " -~"),
    ("punct", r"!-\/:-@\[-\x60{-~"),
    ("s", r"\s"),
    ("space", r"\s"),
    ("upper", "A-Z"),
    ("w", r"\w"),
    ("xdigit", "0-9A-Fa-f"),
];

/// The patterns of a query that have been read so far.
#[derive(Clone, Default)]
pub(super) struct QueryPatterns {
    known: BTreeSet<Rc<str>>,
    /// The number of operations of all patterns together.
    operations: usize,
}

impl QueryPatterns {
    /// Checks a pattern, and returns it in the form that the engines read. `at` is the span of the pattern in the query.
    ///
    /// # Errors
    ///
    /// Fails if the pattern is not a regular expression, if it is too large, or if all patterns of the query together are too
    /// large.
    pub(super) fn read(&mut self, pattern: &str, at: Span) -> Result<String, Diagnostic> {
        let fault = |message: String, label: String| Err(Diagnostic::error(at, message, label));
        if let Some((most, what)) = too_large(pattern) {
            return fault("this regular expression is too large".into(), format!("at most {most} {what}"));
        }
        let pattern = with_ranges(pattern);
        if self.known.contains(&*pattern) {
            return Ok(pattern);
        }
        // The pattern applies to bytes, so each of its bytes becomes one character here.
        let characters: String = pattern.bytes().map(char::from).collect();
        if let Err(wrong) = Regex::with_flags(&characters, Flags { no_opt: true, ..Flags::default() }) {
            return fault(format!("`{pattern}` is no regular expression"), wrong.text)
                .map_err(|fault| fault.help("regular expressions are those of ECMAScript"));
        }
        let compiled = CompiledPattern::new(&pattern).map(|compiled| self.operations + compiled.len());
        let Some(operations) = compiled.ok().filter(|&operations| operations <= OPS_MAX) else {
            let label = "with this one, the query's regular expressions take more than 10 MB";
            return fault("this regular expression is too large".into(), label.into()).map_err(|fault| {
                fault.help("`x{0,1000}` takes as much as a thousand `x?`; `x*` takes as much as one")
            });
        };
        self.operations = operations;
        self.known.insert(pattern.as_str().into());
        Ok(pattern)
    }
}

fn too_large(pattern: &str) -> Option<(usize, &'static str)> {
    let (mut nested, mut deepest, mut alternatives) = (0usize, 0, 0);
    outside_of_escapes(pattern, |byte, in_class| match byte {
        b'(' if !in_class => {
            nested += 1;
            deepest = deepest.max(nested);
        }
        b')' if !in_class => nested = nested.saturating_sub(1),
        b'|' if !in_class => alternatives += 1,
        _ => {}
    });
    [
        (pattern.len(), BYTES_MAX, "bytes"),
        (deepest, NESTED_MAX, "groups within one another"),
        (alternatives, ALTERNATIVES_MAX, "`|`"),
    ]
    .into_iter()
    .find(|(found, most, _)| found > most)
    .map(|(_, most, what)| (most, what))
}

/// Calls `visit` with each byte that is not escaped by a backslash. The second argument is true if the byte is inside a character
/// class.
fn outside_of_escapes(pattern: &str, mut visit: impl FnMut(u8, bool)) {
    let (mut in_class, mut escaped) = (false, false);
    for byte in pattern.bytes() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        visit(byte, in_class);
        match byte {
            b'\\' => escaped = true,
            b'[' => in_class = true,
            b']' => in_class = false,
            _ => {}
        }
    }
}

/// Replaces named classes in a pattern, such as `[:alpha:]`, with character ranges.
fn with_ranges(pattern: &str) -> String {
    let (mut out, mut rest, mut in_class) = (String::new(), pattern, false);
    while let Some(first) = rest.chars().next() {
        let named = CLASSES.iter().find_map(|(name, ranges)| {
            let behind = rest.strip_prefix("[:")?.strip_prefix(name)?.strip_prefix(":]")?;
            in_class.then_some((ranges, behind))
        });
        if let Some((ranges, behind)) = named {
            out += ranges;
            rest = behind;
            continue;
        }
        let length = match (first, rest[first.len_utf8()..].chars().next()) {
            ('\\', Some(escaped)) => 1 + escaped.len_utf8(),
            _ => first.len_utf8(),
        };
        match first {
            '[' => in_class = true,
            ']' => in_class = false,
            _ => {}
        }
        out += &rest[..length];
        rest = &rest[length..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_names() {
        for (pattern, read_as) in [
            ("[[:alpha:]]+", "[A-Za-z]+"),
            ("[^[:digit:]_]", "[^0-9_]"),
            (r"\[[:alpha:]]", r"\[[:alpha:]]"),
            ("[:alpha:]", "[:alpha:]"),
            ("é[é[:upper:]]", "é[éA-Z]"),
        ] {
            assert_eq!(QueryPatterns::default().read(pattern, Span::default()).unwrap(), read_as);
        }
    }

    /// Patterns that are too large are rejected immediately. All other patterns can be parsed on a small stack.
    #[test]
    fn patterns_are_no_larger_than_they_may_be() {
        let check = || {
            let alternatives = |count: usize| vec!["a"; count + 1].join("|");
            let nested = |count: usize| "(".repeat(count) + "a" + &")".repeat(count);
            for (pattern, is_read) in [
                (alternatives(ALTERNATIVES_MAX), true),
                (alternatives(ALTERNATIVES_MAX + 1), false),
                (alternatives(100_000), false),
                (nested(NESTED_MAX), true),
                (nested(NESTED_MAX + 1), false),
                (nested(30_000), false),
                ("a".repeat(BYTES_MAX), true),
                ("a".repeat(BYTES_MAX + 1), false),
                ("(a{1000}){1000}".repeat(10), true),
                ("[(|]".repeat(2_000), true),
                ("x{0,1000}".repeat(65), true),
                ("x{0,1000}".repeat(66), false),
                ("x{0,1000}".repeat(2_222), false),
            ] {
                let read = QueryPatterns::default().read(&pattern, Span::default());
                assert_eq!(read.is_ok(), is_read, "{}", &pattern[..10]);
            }
        };
        std::thread::Builder::new().stack_size(512 << 10).spawn(check).unwrap().join().unwrap();
    }

    /// The error marks the pattern with which all patterns of the query together become too large. A pattern that occurs twice
    /// counts once.
    #[test]
    fn a_refusal_has_the_place_of_the_pattern() {
        let half = "x{0,1000}".repeat(33);
        let query = |second: &str| format!(r#"event ~~ "{half}" and site ~~ "{second}""#);
        assert!(crate::parse(&query(&half)).is_ok());
        for second in [format!("{half}y"), "(".repeat(200), "x{0,1000}".repeat(2_222), "(".into()] {
            let text = query(&second);
            let fault = crate::parse(&text).unwrap_err();
            assert_eq!(text[fault.span.start..fault.span.end], format!("\"{second}\""), "{}", fault.message);
        }
    }
}
