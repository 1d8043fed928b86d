//! The attribute `#[test]` of the integration tests, in place of the one of the compiler.
//!
//! The compiler's own harness knows passed and failed alone, and what is ignored when a test is compiled. These tests
//! find out what is missing while they run (a corpus, an adapter, a browser), so they have a harness of their own,
//! `tests/common/harness.rs`, which this attribute tells of each test.

use proc_macro::{TokenStream, TokenTree};

/// Registers a function without arguments as a test.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, function: TokenStream) -> TokenStream {
    let mut words = function.clone().into_iter().skip_while(|word| word.to_string() != "fn").skip(1);
    let Some(TokenTree::Ident(name)) = words.next().filter(|_| arguments.is_empty()) else {
        return fault("`#[test]` without arguments stands before a function");
    };
    let register = format!(
        "::inventory::submit! {{
            crate::common::harness::Test {{ module: module_path!(), name: \"{name}\", run: {name} }}
        }}"
    );
    let register: TokenStream = register.parse().expect("it is Rust");
    function.into_iter().chain(register).collect()
}

fn fault(message: &str) -> TokenStream {
    format!("compile_error!({message:?});").parse().expect("it is Rust")
}
