//! The attribute macros for integration tests: `#[table]`, and a `#[test]` that replaces the built-in one.
//!
//! The built-in test harness can ignore a test only if the test is marked at compile time. Tests of this project discover at run
//! time that something they need is missing (a corpus, a graphics adapter, a browser) and that they must be ignored. So they have
//! their own harness, `tests/common/harness.rs`, and `#[test]` registers each test with it.

use proc_macro::{TokenStream, TokenTree};

/// Registers a function without arguments as a test. `#[test(part = 3)]` marks an expensive test: in a long run, which is divided
/// into four parts (0 to 3), only part 3 runs it.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, function: TokenStream) -> TokenStream {
    let arguments = arguments.to_string();
    let part = match arguments.strip_prefix("part = ") {
        Some(part) if matches!(part, "0" | "1" | "2" | "3") => format!("Some({part})"),
        None if arguments.is_empty() => "None".to_string(),
        _ => return fault("the attribute has no argument but `part = 0`, 1, 2 or 3"),
    };
    registered(function, "Test", &format!("part: {part}, run"))
}

/// Registers a function that returns the rows of a table, each of which becomes a test. With `#[table(in_parts)]`, which is for
/// expensive tables, each of the four parts of a long run executes a quarter of the rows.
#[proc_macro_attribute]
pub fn table(arguments: TokenStream, function: TokenStream) -> TokenStream {
    let in_parts = match arguments.to_string().as_str() {
        "" => false,
        "in_parts" => true,
        _ => return fault("the attribute has no argument but `in_parts`"),
    };
    registered(function, "Table", &format!("in_parts: {in_parts}, rows"))
}

fn registered(function: TokenStream, kind: &str, fields: &str) -> TokenStream {
    let mut words = function.clone().into_iter().skip_while(|word| word.to_string() != "fn").skip(1);
    let Some(TokenTree::Ident(name)) = words.next() else {
        return fault("the attribute stands before a function");
    };
    let register = format!(
        "::inventory::submit! {{
            crate::common::harness::{kind} {{ module: module_path!(), name: \"{name}\", {fields}: {name} }}
        }}"
    );
    let register: TokenStream = register.parse().expect("it is Rust");
    function.into_iter().chain(register).collect()
}

fn fault(message: &str) -> TokenStream {
    format!("compile_error!({message:?});").parse().expect("it is Rust")
}
