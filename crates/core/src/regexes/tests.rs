use proptest::prelude::*;
use regress::Regex;

use super::{CompiledPattern, ProgramTooLarge, TooLong};
use crate::interrupt::Interrupt;

/// Returns the capture groups of the match found by `regress`, a crate that also implements ECMAScript regular expressions. Each
/// byte of the pattern and of the text is one character.
fn expected(pattern: &str, text: &[u8]) -> Vec<Option<(usize, usize)>> {
    let characters = |bytes: &[u8]| bytes.iter().map(|&byte| char::from(byte)).collect::<String>();
    let searched = characters(text);
    let byte = |at: usize| searched[..at].chars().count();
    let found = Regex::new(&characters(pattern.as_bytes())).unwrap().find(&searched);
    let groups = found.map(|found| found.groups().collect::<Vec<_>>()).unwrap_or_default();
    groups.into_iter().map(|group| group.map(|range| (byte(range.start), byte(range.end)))).collect()
}

fn compiled(pattern: &str) -> CompiledPattern {
    CompiledPattern::new(pattern).unwrap()
}

fn found(pattern: &str, text: &[u8]) -> Vec<Option<(usize, usize)>> {
    compiled(pattern).find(text, 0, &mut 0, &Interrupt::default()).unwrap().unwrap_or_default()
}

const PATTERNS: [&str; 62] = [
    "",
    "a",
    "^a",
    "a$",
    "^$",
    "a|b|",
    "(a)|b",
    "(?:(a)|b)*",
    "(a*)*",
    "(a*)+",
    "(a|ab)(c|bcd)(d*)",
    "a{2}",
    "a{2,}b",
    "a{1,2}?b",
    "a{",
    "a{,2}",
    "x{1",
    "]",
    "}",
    "[a-c]+",
    "[^a-c]+",
    "[]a",
    "[^]",
    "[\\d-x]+",
    "[a-]",
    "[\\b]",
    "\\bab\\b",
    "\\Ba",
    "(?=(a+))a*b\\1",
    "(?!b)a",
    "(?<=a)b",
    "(?<!a)b",
    "(?<=(a)(b))c",
    "(?<=([ab]+)([bc]+))$",
    "(a)\\1",
    "\\1(a)",
    "(?<x>a)\\k<x>",
    "\\k",
    "(?i:aB)c",
    "(?i:[^b])",
    "(?s:.)",
    ".",
    "(?m:^b$)",
    "\\x61",
    "\\u0062",
    "\\x6",
    "\\u00",
    "\\cA",
    "\\c",
    "\\0",
    "\\141",
    "\\8",
    "\\s\\S",
    "\\w\\W",
    "\\d+|\\D+",
    "(a?)*?b",
    "(?:a?){3}b",
    "(z)((a+)?(b+)?(c))*",
    "(?=a)*b",
    "(a(?!c))+",
    "\\u00e9",
    "é",
];

const TEXTS: [&str; 22] = [
    "",
    "a",
    "b",
    "ab",
    "aab",
    "abcd",
    "aabb",
    "abab",
    "zaacbbbcac",
    "a\nb\nc",
    "x{1",
    "a{,2}",
    "a1-x\\",
    "aBc",
    "ABc",
    "]}",
    "\u{8}\u{1}\0",
    "ab ba",
    "k8",
    "cab",
    "é",
    "aaaaabaaab",
];

#[test]
fn another_implementation_finds_the_same() {
    for pattern in PATTERNS {
        for text in TEXTS {
            let text = text.as_bytes();
            assert_eq!(found(pattern, text), expected(pattern, text), "{pattern:?} in {text:?}");
        }
    }
}

/// Generates patterns with a few letters, groups, repetitions, lookaheads and lookbehinds.
fn patterns() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "a", "b", "c", ".", "[ab]", "[^a]", "\\\\w", "\\\\b", "^", "$", "\\\\1", "é",
    ]);
    let leaf = leaf.prop_map(|leaf| leaf.replace("\\\\", "\\"));
    leaf.prop_recursive(4, 24, 3, |inner| {
        let repeats = prop::sample::select(vec!["*", "+", "?", "*?", "+?", "{2}", "{1,3}", "{0,2}?"]);
        let groups = prop::sample::select(vec!["(", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?i:"]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(|all| all.concat()),
            prop::collection::vec(inner.clone(), 2..4).prop_map(|all| format!("(?:{})", all.join("|"))),
            (groups, inner.clone()).prop_map(|(group, of)| format!("{group}{of})")),
            (inner, repeats).prop_map(|(of, repeat)| format!("({of}){repeat}")),
        ]
    })
}

proptest! {
    #[test]
    fn another_implementation_finds_the_same_of_any(pattern in patterns(), text in "[abcé ]{0,9}") {
        let text = text.as_bytes();
        if Regex::new(&pattern).is_ok()
            && let Ok(mine) = compiled(&pattern).find(text, 0, &mut 0, &Interrupt::default())
        {
            prop_assert_eq!(mine.unwrap_or_default(), expected(&pattern, text), "{} in {:?}", pattern, text);
        }
    }
}

#[test]
fn long_and_empty_repetitions_keep_their_counts() {
    let text = [b"a".repeat(1_500), b"b".to_vec()].concat();
    for pattern in [
        "^a{0,2000}b",
        "^a{2,2000}b",
        "^a{0,1499}b",
        "a{0,1200}b",
        "^a{0,2000}?b",
        "^a{0}b",
        "^a{0,1000}c",
        "^a{0,9}b",
        "(?<=^a{0,2000})b",
    ] {
        for text in [&text[..], b"ab", b"aaaaaaab"] {
            assert_eq!(found(pattern, text), expected(pattern, text), "{pattern}");
        }
    }
}

#[test]
fn a_search_ends() {
    let text = [b"a".repeat(60), b"b".to_vec()].concat();
    for pattern in ["(a+)+$", "(a|aa)+$", "(?:a*)*c", "(a*)*\\1c", "(?=(a+)+c)"] {
        assert_eq!(
            compiled(pattern).find(&text, 0, &mut 0, &Interrupt::default()),
            Err(TooLong),
            "{pattern}"
        );
    }
    let long = b"ab ".repeat(40_000);
    let found = compiled("^(?:\\w+ )+$").find(&long, 0, &mut 0, &Interrupt::default()).unwrap().unwrap();
    assert_eq!(found[0], Some((0, long.len())));
}

/// Loops that are written out make programs large. Programs that would have more than `OPS_MAX` operations are refused.
#[test]
fn programs_are_no_larger_than_they_may_be() {
    let repeated = |pattern: &str, count: usize| CompiledPattern::new(&pattern.repeat(count)).err();
    assert_eq!(repeated("x{0,1000}", 65), None);
    for (pattern, count) in [("x{0,1000}", 66), ("x{0,1000}", 2_222), ("(?:x{0,1000})*", 100)] {
        assert_eq!(repeated(pattern, count), Some(ProgramTooLarge), "{count} times {pattern}");
    }
    // Other patterns of at most 20,000 bytes are small enough.
    for pattern in ["x+", "x?", "()+", "x{1001}", "(?:|)", "[^x]+?", "x{0,1001}"] {
        assert_eq!(repeated(pattern, 20_000 / pattern.len()), None, "{pattern}");
    }
}

/// All references to a name share the list of its groups.
#[test]
fn references_to_a_name_share_its_groups() {
    let pattern = vec!["(?<a>x)"; 1_001].join("|") + &"\\k<a>".repeat(2_000);
    assert_eq!(found(&pattern, b"xx")[..2], [Some((0, 1)), Some((0, 1))]);
}

/// The depth of groups bounds the recursion. Compiling a pattern and searching with it need little stack even at the greatest depth
/// that the parser of queries allows.
#[test]
fn deep_patterns_need_little_stack() {
    let deep = || {
        for open in ["(", "(?:", "(?=", "(?!", "(?<=", "(|", "(?:x*|"] {
            let pattern = open.repeat(100) + "x" + &")*".repeat(99) + ")";
            _ = compiled(&pattern).find(b"xx", 0, &mut 0, &Interrupt::default());
        }
    };
    std::thread::Builder::new().stack_size(256 << 10).spawn(deep).unwrap().join().unwrap();
}
