//! The attributes of the integration tests: `#[test]` in place of the one of the compiler, and `#[table]`.
//!
//! The compiler's own harness knows passed and failed alone, and what is ignored when a test is compiled. These tests
//! find out what is missing while they run (a corpus, an adapter, a browser), so they have a harness of their own,
//! `tests/common/harness.rs`, which this attribute tells of each test.

use proc_macro::{TokenStream, TokenTree};

/// Registers a function without arguments as a test.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, function: TokenStream) -> TokenStream {
    registered(arguments, function, "Test", "run")
}

/// Registers a function that returns rows, each of which is a test.
#[proc_macro_attribute]
pub fn table(arguments: TokenStream, function: TokenStream) -> TokenStream {
    registered(arguments, function, "Table", "rows")
}

fn registered(arguments: TokenStream, function: TokenStream, kind: &str, field: &str) -> TokenStream {
    let mut words = function.clone().into_iter().skip_while(|word| word.to_string() != "fn").skip(1);
    let Some(TokenTree::Ident(name)) = words.next().filter(|_| arguments.is_empty()) else {
        return fault("the attribute has no arguments and stands before a function");
    };
    let register = format!(
        "::inventory::submit! {{
            crate::common::harness::{kind} {{ module: module_path!(), name: \"{name}\", {field}: {name} }}
        }}"
    );
    let register: TokenStream = register.parse().expect("it is Rust");
    function.into_iter().chain(register).collect()
}

fn fault(message: &str) -> TokenStream {
    format!("compile_error!({message:?});").parse().expect("it is Rust")
}
