//! Checks that programs can name every type that they get from the library or must pass to it: the library's root must export
//! each public type that a field, a variant or a signature of another exported item names.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use super::{assert_none, read, sources};

/// An item of a source file, or of the body of a trait or an `impl`.
pub(super) struct Item {
    /// The tokens before the body, without attributes.
    pub(super) head: Vec<TokenTree>,
    /// The content of the braces.
    pub(super) body: TokenStream,
}

impl Item {
    /// Returns the word at index `at` of the head, or an empty string if there is none.
    pub(super) fn word(&self, at: usize) -> String {
        self.head.get(at).filter(|tree| matches!(tree, TokenTree::Ident(_))).map_or(String::new(), word)
    }

    /// Returns the kind and the name of an item that other crates can use.
    fn public(&self) -> Option<(String, String)> {
        let kinds = ["struct", "enum", "trait", "type", "fn"];
        let at = usize::from(self.word(1) == "const") + 1;
        (self.word(0) == "pub" && kinds.contains(&self.word(at).as_str()))
            .then(|| (self.word(at), self.word(at + 1)))
    }

    /// Returns the type of an `impl`, and true if the `impl` is for a trait.
    pub(super) fn implemented(&self) -> Option<(String, bool)> {
        let at = self.head.iter().position(|tree| word(tree) == "impl").filter(|&at| at <= 1)?;
        let head = &self.head[at + 1..];
        let begin = if head.first().is_some_and(|tree| word(tree) == "<") { pieces(head).0 } else { 0 };
        let end = head.iter().position(|tree| word(tree) == "where").unwrap_or(head.len());
        let head = &head[begin..end];
        let ty = head.iter().position(|tree| word(tree) == "for").map_or(0, |at| at + 1);
        Some((head[ty..].iter().map(word).find(|word| is_type(word))?, ty > 0))
    }
}

/// Returns the text of a token tree that is a word or a sign.
fn word(tree: &TokenTree) -> String {
    if matches!(tree, TokenTree::Group(_)) { String::new() } else { tree.to_string() }
}

fn is_type(word: &str) -> bool {
    word.starts_with(char::is_uppercase)
}

fn group(tree: &TokenTree, delimiter: Delimiter) -> Option<&Group> {
    match tree {
        TokenTree::Group(group) if group.delimiter() == delimiter => Some(group),
        _ => None,
    }
}

/// Returns the number of token trees up to the end of the angle brackets that open at the first one, and the pieces between
/// commas outside nested angle brackets.
fn pieces(trees: &[TokenTree]) -> (usize, Vec<&[TokenTree]>) {
    let (mut depth, mut closed, mut begin, mut out) = (0, None, 0, Vec::new());
    for (at, tree) in trees.iter().enumerate() {
        let is_arrow = at > 0 && word(&trees[at - 1]) == "-";
        match word(tree).as_str() {
            "<" => depth += 1,
            ">" if !is_arrow => {
                depth -= 1;
                closed = closed.or((depth == 0).then_some(at + 1));
            }
            "," if depth == 0 => {
                out.push(&trees[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    out.push(&trees[begin..]);
    (closed.unwrap_or(0), out)
}

/// Returns token trees without attributes, and without the fields, variants and items that have an attribute `doc(hidden)` or
/// `cfg(test)`.
fn without_attributes(stream: TokenStream) -> Vec<TokenTree> {
    let (mut out, mut hidden) = (Vec::new(), false);
    let mut trees = stream.into_iter().peekable();
    while let Some(tree) = trees.next() {
        let is_end = matches!(word(&tree).as_str(), "," | ";") || group(&tree, Delimiter::Brace).is_some();
        if word(&tree) == "#" {
            trees.next_if(|tree| word(tree) == "!");
            let attribute = trees.next().map_or(String::new(), |tree| tree.to_string().replace(' ', ""));
            hidden |= ["[doc(hidden)]", "[cfg(test)]"].contains(&attribute.as_str());
        } else if !hidden {
            out.push(tree);
        } else {
            hidden = !is_end;
        }
    }
    out
}

/// Returns the items of a file or body. Inline modules are replaced by their items.
pub(super) fn items(stream: TokenStream) -> Vec<Item> {
    let (mut out, mut head) = (Vec::new(), Vec::new());
    for tree in without_attributes(stream) {
        let body = match group(&tree, Delimiter::Brace) {
            Some(group) => group.stream(),
            None if word(&tree) == ";" => TokenStream::new(),
            None => {
                head.push(tree);
                continue;
            }
        };
        let item = Item { head: std::mem::take(&mut head), body };
        match item.word(0) == "mod" || item.word(1) == "mod" {
            true => out.extend(items(item.body)),
            false => out.push(item),
        }
    }
    out
}

/// Adds the type names in `trees`. `Item` in `Self::Item` and `White` in `Color::White` are not type names.
fn add_types(stream: TokenStream, out: &mut BTreeSet<String>) {
    let trees = without_attributes(stream);
    for (at, tree) in trees.iter().enumerate() {
        let is_inner = at > 2 && word(&trees[at - 1]) == ":" && is_type(&word(&trees[at - 3]));
        match tree {
            TokenTree::Group(group) => add_types(group.stream(), out),
            _ if is_type(&word(tree)) && !is_inner => {
                out.insert(word(tree));
            }
            _ => {}
        }
    }
}

/// Returns the type names in a part of an item.
pub(super) fn types_in(trees: &[TokenTree]) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    add_types(trees.iter().cloned().collect(), &mut out);
    out
}

/// Returns the type names in the public fields of a struct.
fn field_types(fields: TokenStream) -> BTreeSet<String> {
    let fields = without_attributes(fields);
    let is_public = |field: &&[TokenTree]| {
        field.first().is_some_and(|tree| word(tree) == "pub")
            && field.get(1).is_none_or(|tree| {
                group(tree, Delimiter::Parenthesis).is_none_or(|scope| !scope.to_string().contains("crate"))
            })
    };
    pieces(&fields).1.into_iter().filter(is_public).flat_map(types_in).collect()
}

/// Returns the name of a public item, or of the type of an `impl`, and the types that programs get from it or pass to it.
fn met(item: &Item) -> Option<(String, BTreeSet<String>)> {
    let parts = |is_met: fn(&Item) -> bool| {
        let inner = items(item.body.clone()).into_iter().filter(is_met);
        let heads = inner.flat_map(|inner| {
            let is_type = inner.word(0) == "type";
            let end = inner.head.iter().position(|tree| word(tree) == "=" && !is_type);
            types_in(&inner.head[if is_type { 2 } else { 0 }..end.unwrap_or(inner.head.len())])
        });
        heads.collect::<BTreeSet<_>>()
    };
    if let Some((name, of_trait)) = item.implemented() {
        let is_public = |inner: &Item| inner.word(0) == "pub" && !inner.word(1).is_empty();
        return Some((name, parts(if of_trait { |inner| inner.word(0) == "type" } else { is_public })));
    }
    let (kind, name) = item.public()?;
    let types = match kind.as_str() {
        "struct" => {
            let tuple = item.head.iter().filter_map(|tree| group(tree, Delimiter::Parenthesis));
            tuple.map(Group::stream).chain([item.body.clone()]).flat_map(field_types).collect()
        }
        "enum" => {
            let groups = without_attributes(item.body.clone());
            let groups = groups.into_iter().filter(|tree| matches!(tree, TokenTree::Group(_)));
            types_in(&groups.collect::<Vec<_>>())
        }
        "trait" => parts(|_| true),
        "fn" => types_in(&item.head),
        // An alias is ignored, because it may have the name of an exported type.
        _ => BTreeSet::new(),
    };
    Some((name, types))
}

/// Adds the names that a `pub use` exports. For a renamed item, these include the original name.
fn add_exports(trees: &[TokenTree], out: &mut BTreeSet<String>) {
    for (at, tree) in trees.iter().enumerate() {
        match tree {
            TokenTree::Group(group) => add_exports(&group.stream().into_iter().collect::<Vec<_>>(), out),
            TokenTree::Ident(_) if trees.get(at + 1).is_none_or(|next| word(next) != ":") => {
                out.insert(word(tree));
            }
            _ => {}
        }
    }
}

/// Returns the types that users of the library cannot name, with the exported items that name them.
fn unnamed(root: &str, files: &[String]) -> Vec<String> {
    let mut exported = BTreeSet::new();
    for text in root.split(';').filter_map(|text| text.split_once("pub use ")) {
        add_exports(&text.1.parse::<TokenStream>().unwrap().into_iter().collect::<Vec<_>>(), &mut exported);
    }
    let all: Vec<Item> = files.iter().flat_map(|text| items(text.parse().unwrap())).collect();
    let defined: BTreeSet<String> = all.iter().filter_map(|item| Some(item.public()?.1)).collect();
    let mut out = BTreeSet::new();
    for (name, types) in all.iter().filter_map(met).filter(|(name, _)| exported.contains(name)) {
        let missing = types.into_iter().filter(|ty| defined.contains(ty) && !exported.contains(ty));
        out.extend(missing.map(|ty| format!("{ty}: {name} names it")));
    }
    out.into_iter().collect()
}

#[test]
fn the_library_exports_every_type_that_a_program_meets() {
    let crates: Vec<String> = sources().iter().filter(|path| path.starts_with("crates/")).map(read).collect();
    assert_none(unnamed(&read("src/lib.rs"), &crates));
}

#[test]
fn types_that_cannot_be_named_are_found() {
    let defined = "pub struct A(pub B, C); pub struct B; pub struct C; #[doc(hidden)] pub struct H;
        pub enum E { #[x(B)] B, F { a: Vec<D> }, #[doc(hidden)] G(H) } pub struct D; pub trait T { type P: Q; } pub trait Q {}
        impl<'a> E { pub fn new(x: impl Fn(&R) -> E::C) -> Self { C } fn c() -> C {} pub(crate) fn d() -> C {} }
        pub struct R { pub map: BTreeMap<C, Other>, #[doc(hidden)] pub h: H, c: C, } impl Iterator for E { type Item = S; } pub struct S; pub struct Other;";
    let files = [defined.to_owned()];
    let all = |root: &str| unnamed(root, &files);
    assert_eq!(all("pub use x::A;"), ["B: A names it"]);
    let of_e = ["D: E names it", "R: E names it", "S: E names it"];
    assert_eq!(all("/// Text.\npub use x::y::E as B;"), of_e);
    assert_eq!(
        all("pub mod m { pub use x::{y::T, R}; }"),
        ["C: R names it", "Other: R names it", "Q: T names it"]
    );
}
