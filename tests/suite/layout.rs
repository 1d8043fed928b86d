//! Examines kernels with the shader compiler naga: the memory layouts on which Rust and WGSL must agree, and constructs that no
//! kernel may contain.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem::offset_of,
};

use orbit_core::board::{Board, MoveKind, PackedMove, Position};
use orbit_engine::gpu::{Kernel, Variant};
use orbit_plan::{Output, PlanOptions, Planner};
use orbit_reel::{Key, SEGMENT_SLOTS};
use wgpu::naga::{
    self, AddressSpace, Expression, Literal, Module, StorageAccess, TypeInner,
    valid::{Capabilities, ValidationFlags, Validator},
};

use crate::{
    common::{
        data,
        length::{self, least},
    },
    runners::{NONE, without},
};

/// Returns the kernels of a query: the kernel of the first pass, which computes the hits, and the kernels of the second
/// pass, for the values and for the matching copies (transformed patterns).
fn kernels(text: &str, options: PlanOptions, variant: Variant) -> Option<[Kernel; 3]> {
    let query = orbit_query::parse(text).ok()?.query;
    let planner = Planner::new(&query, options).ok()?;
    let (hits, values, copies) = (planner.hits(), planner.values(), planner.each_copy());
    let word = match values.output {
        Output::Set(reg) | Output::Num(reg) => reg,
        Output::Bool => values.hit,
    };
    Some([
        Kernel::hits(&hits.program, &[hits.hit], hits.columns.len(), variant),
        Kernel::words(&values.program, &[word], values.columns.len(), variant),
        Kernel::words(&copies.program, &copies.words, copies.columns.len(), variant),
    ])
}

fn read(kernel: &Kernel) -> Module {
    let found = naga::front::wgsl::parse_str(&kernel.wgsl);
    found.unwrap_or_else(|error| panic!("{}", error.emit_to_string(&kernel.wgsl)))
}

/// Returns the kernels of both passes, parsed by naga, for a query that uses whole positions, columns and tables.
fn modules(variant: Variant) -> [Module; 2] {
    let text = "shift flip flipcolor {Nd4 kf3 mate elo > 1000}";
    let [hits, _, copies] = kernels(text, PlanOptions::default(), variant).expect("it can be planned");
    [read(&hits), read(&copies)]
}

/// Returns the kernel variants that differ from the default in one or two settings, and one that differs in all of them.
fn variants() -> Vec<Variant> {
    let mut out = Variant::every();
    let most = out.iter().map(Variant::changes).max();
    out.retain(|variant| variant.changes() <= 2 || Some(variant.changes()) == most);
    out
}

/// Returns the naga capabilities that a kernel variant needs.
fn capabilities(variant: Variant) -> Capabilities {
    if variant.wide { Capabilities::SHADER_INT64 } else { Capabilities::empty() }
}

/// Returns the size of a struct, and the names and offsets of its members.
fn layout(module: &Module, name: &str) -> (u32, Vec<(String, u32)>) {
    let found = module.types.iter().find(|(_, ty)| ty.name.as_deref() == Some(name));
    let (_, ty) = found.unwrap_or_else(|| panic!("no struct {name}"));
    let TypeInner::Struct { members, span } = &ty.inner else { panic!("{name} is no struct") };
    let members = members.iter().map(|member| (member.name.clone().unwrap_or_default(), member.offset));
    (*span, members.collect())
}

fn named(members: &[(&str, usize)]) -> Vec<(String, u32)> {
    members.iter().map(|&(name, offset)| (name.into(), offset as u32)).collect()
}

#[test]
fn structs_lie_on_the_device_as_in_memory() {
    for variant in variants() {
        let [hits, words] = modules(variant);
        for module in [&hits, &words] {
            let key = named(&[
                ("planes", offset_of!(Key, board) + offset_of!(Board, planes)),
                ("state", offset_of!(Key, state)),
                ("ply", offset_of!(Key, ply)),
                ("first_game", offset_of!(Key, first_game)),
                ("first_start", offset_of!(Key, first_start)),
            ]);
            assert_eq!(layout(module, "Key"), (size_of::<Key>() as u32, key.clone()), "{variant}");
            // The offsets are also compared with constants, so that Rust and WGSL cannot change together unnoticed. The constants
            // also pin down the layout of keys (the positions at which segments begin), which reels (packed games) contain.
            let offsets: Vec<u32> = key.iter().map(|&(_, offset)| offset).collect();
            assert_eq!((offsets.as_slice(), size_of::<Key>()), ([0, 32, 36, 40, 44].as_slice(), 48));
            let start = (40, named(&[("planes", 0), ("state", 32), ("ply", 36)]));
            assert_eq!(layout(module, "Start"), start, "{variant}");
            let params = [("first", 0), ("end", 4), ("segments", 8), ("slots", 12)];
            assert_eq!(layout(module, "Params"), (16, named(&params)), "{variant}");
        }
        let entry = (12, named(&[("segment", 0), ("slots", 4), ("first", 8)]));
        assert_eq!(layout(&words, "Entry"), entry, "{variant}");
    }
}

#[test]
fn bindings_are_those_of_the_engine() {
    for variant in variants() {
        check_bindings(variant);
    }
}

fn check_bindings(variant: Variant) {
    let [hits, words] = modules(variant);
    let (uniform, read) = (AddressSpace::Uniform, AddressSpace::Storage { access: StorageAccess::LOAD });
    let write = AddressSpace::Storage { access: StorageAccess::LOAD | StorageAccess::STORE };
    let shared = [
        ("params", uniform),
        ("keys", read),
        ("moves", read),
        ("starts", read),
        ("columns", read),
        ("tables", read),
        ("carried", read),
    ];
    for (module, own) in [(&hits, vec![("hits", write)]), (&words, vec![("entries", read), ("words", write)])]
    {
        let expected: BTreeMap<u32, (String, AddressSpace)> = (0..)
            .zip(shared.into_iter().chain(own))
            .map(|(binding, (name, space))| (binding, (name.to_string(), space)))
            .collect();
        let mut found = BTreeMap::new();
        for (_, global) in module.global_variables.iter() {
            let Some(at) = &global.binding else {
                assert_eq!(global.space, AddressSpace::WorkGroup, "all other memory is bound");
                continue;
            };
            assert_eq!(at.group, 0);
            found.insert(at.binding, (global.name.clone().unwrap_or_default(), global.space));
        }
        assert_eq!(found, expected, "{variant}");
        let [main] = module.entry_points.as_slice() else { panic!("one entry point") };
        assert_eq!((main.name.as_str(), main.workgroup_size), ("main", [variant.workgroup, 1, 1]));
        // Every adapter provides at least 16 KiB of memory per workgroup.
        let own = module.global_variables.iter().filter(|(_, it)| it.space == AddressSpace::WorkGroup);
        let own: Vec<u32> = own.map(|(_, it)| module.types[it.ty].inner.size(module.to_ctx())).collect();
        let pairs = (variant.lanes == 2 && own_bit(module)).then_some(4 * variant.workgroup / 2);
        assert_eq!(own, Vec::from_iter(pairs), "{variant}");
    }
    // The elements of these buffers are words of eight bytes, or halves of such words.
    for (name, bytes) in [("moves", 8), ("tables", 8), ("carried", 4), ("columns", 4)] {
        assert_eq!(stride(&hits, name), bytes, "{variant}: {name}");
    }
    assert_eq!(stride(&hits, "keys"), if variant.transposed { 8 } else { 48 }, "{variant}: keys");
    assert_eq!((stride(&hits, "hits"), stride(&words, "words")), (4, 8), "{variant}");
}

/// Queries whose stages (the parts of a plan that run first) propagate values in every way: along games, to children and parents,
/// and by automata with few and with many states.
const CARRYING: [&str; 14] = [
    "find Nf3",
    "find <-- count check > 3",
    "initial shift count find Nf3",
    "--(check)",
    "N--=[RBN](ply) > 20",
    "(Q attacks k)[x]p",
    "move from Q capture [qr] promote A",
    "parent:move previous castle",
    "(find check):Nf3",
    "line --> check --> (move from N --> true){2,}",
    "line singlecolor <-- check{40} <-- not check{3,}",
    "path -- check -- (N-- -- *)",
    "line firstmatch 2 40 --> check{2,} --> true*",
    "line nestban --> true{3}",
];

/// Tests the shaders that propagate results along games, with the bindings that `crates/engine/src/gpu/along.rs` uses.
#[test]
fn the_shaders_of_carries_are_what_the_engine_binds() {
    let mut texts = BTreeSet::new();
    for query in CARRYING {
        let kernels = self::kernels(query, PlanOptions::default(), Variant::default());
        let kernels = kernels.unwrap_or_else(|| panic!("{query} cannot be planned"));
        let carriers: Vec<String> = kernels.iter().flat_map(Kernel::carriers).collect();
        assert!(!carriers.is_empty(), "the device carries nothing of {query}");
        texts.extend(carriers);
        for kernel in kernels.iter().flat_map(Kernel::all) {
            let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
            let found = validator.validate(&read(kernel));
            found.unwrap_or_else(|error| panic!("{query}: {}", error.emit_to_string(&kernel.wgsl)));
            check_straightness(query, kernel);
        }
        let [hits, ..] =
            self::kernels(query, PlanOptions::default(), "hostcarry".parse().expect("it is a variant"))
                .expect("it can be planned");
        assert!(hits.carriers().is_empty(), "{query}");
    }
    assert!(texts.len() >= CARRYING.len(), "{} shaders", texts.len());
    for text in texts {
        check_carrier(&text);
    }
}

fn check_carrier(text: &str) {
    let module = naga::front::wgsl::parse_str(text);
    let module = module.unwrap_or_else(|error| panic!("{}", error.emit_to_string(text)));
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
    validator.validate(&module).unwrap_or_else(|error| panic!("{}", error.emit_to_string(text)));
    let words = ["first", "end", "segments", "place", "stride", "low", "high", "unused"];
    let members: Vec<(&str, usize)> = words.into_iter().zip((0..).step_by(4)).collect();
    assert_eq!(layout(&module, "Making"), (32, named(&members)));
    let (read, write) = (StorageAccess::LOAD, StorageAccess::LOAD | StorageAccess::STORE);
    let storage = |access| AddressSpace::Storage { access };
    let globals = module.global_variables.iter();
    let found: BTreeMap<u32, (String, AddressSpace)> = globals
        .map(|(_, it)| (it.binding.expect("all is bound").binding, (it.name.clone().unwrap(), it.space)))
        .collect();
    let expected = [
        ("making", AddressSpace::Uniform),
        ("games", storage(read)),
        ("masks", storage(read)),
        ("words", storage(read)),
        ("column", storage(write)),
    ];
    let expected = (0..).zip(expected.map(|(name, space)| (name.to_string(), space)));
    assert_eq!(found, expected.collect());
    let strides = ["games", "masks", "words", "column"].map(|name| stride(&module, name));
    assert_eq!(strides, [8, 4, 4, 4]);
    assert_eq!(constant(&module, "SEGMENT_SLOTS"), [SEGMENT_SLOTS as u32]);
    let [main] = module.entry_points.as_slice() else { panic!("one entry point") };
    assert_eq!((main.name.as_str(), main.workgroup_size), ("main", [64, 1, 1]));
}

/// Returns true if a kernel writes one bit per position, and false if it writes words.
fn own_bit(module: &Module) -> bool {
    module.global_variables.iter().any(|(_, it)| it.name.as_deref() == Some("hits"))
}

/// Returns the number of bytes between consecutive elements of a buffer.
fn stride(module: &Module, name: &str) -> u32 {
    let found = module.global_variables.iter().find(|(_, it)| it.name.as_deref() == Some(name));
    let (_, global) = found.unwrap_or_else(|| panic!("no buffer {name}"));
    let TypeInner::Array { stride, .. } = module.types[global.ty].inner else { panic!("{name} is no array") };
    stride
}

/// The shaders for adapters with 64-bit integers must have the same functions as the shaders for other adapters.
#[test]
fn both_kinds_of_words_have_the_same_functions() {
    let functions = |wide: bool| {
        let variant = if wide { "u64" } else { "default" }.parse().expect("it is a variant");
        let [hits, ..] = modules(variant);
        let shape = |function: &naga::Function| {
            let types =
                function.arguments.iter().map(|it| it.ty).chain(function.result.iter().map(|it| it.ty));
            let of = |ty| match &hits.types[ty].inner {
                TypeInner::Vector { scalar, .. } if scalar.width == 4 => "word".into(),
                TypeInner::Scalar(scalar) if scalar.width == 8 => "word".into(),
                other => hits.types[ty].name.clone().unwrap_or_else(|| format!("{other:?}")),
            };
            types.map(of).collect::<Vec<String>>()
        };
        let of = hits.functions.iter().map(|(_, it)| (it.name.clone().unwrap_or_default(), shape(it)));
        of.collect::<BTreeMap<String, Vec<String>>>()
    };
    let (pairs, mut wide) = (functions(false), functions(true));
    assert!(pairs.len() > 50, "{} functions", pairs.len());
    // The shaders with 64-bit integers have two additional functions for faster slides.
    assert!(wide.remove("slide_up").is_some() && wide.remove("slide_down").is_some());
    assert_eq!(pairs, wide);
}

/// Returns the value of a constant as words: one for a number, and two for a pair.
fn constant(module: &Module, name: &str) -> Vec<u32> {
    let found = module.constants.iter().find(|(_, constant)| constant.name.as_deref() == Some(name));
    let (_, constant) = found.unwrap_or_else(|| panic!("no constant {name}"));
    words_of(module, constant.init)
}

fn words_of(module: &Module, expression: naga::Handle<Expression>) -> Vec<u32> {
    match &module.global_expressions[expression] {
        Expression::Literal(Literal::U32(word)) => vec![*word],
        Expression::Literal(Literal::U64(word)) => vec![*word as u32, (*word >> 32) as u32],
        Expression::Literal(Literal::Bool(holds)) => vec![u32::from(*holds)],
        Expression::Compose { components, .. } => {
            components.iter().flat_map(|&part| words_of(module, part)).collect()
        }
        Expression::Constant(constant) => words_of(module, module.constants[*constant].init),
        other => panic!("{other:?}"),
    }
}

#[test]
fn constants_are_those_of_the_reel() {
    for (variant, module) in variants().into_iter().flat_map(|it| modules(it).map(|module| (it, module))) {
        assert_eq!(constant(&module, "SEGMENT_SLOTS"), [SEGMENT_SLOTS as u32]);
        let Variant { workgroup, lanes, segments, .. } = variant;
        for (name, number) in [("WORKGROUP", workgroup), ("LANES", lanes), ("SEGMENTS", segments)] {
            assert_eq!(constant(&module, name), [number], "{variant}");
        }
        let codes = [
            ("CASTLE", MoveKind::Castle),
            ("EN_PASSANT", MoveKind::EnPassant),
            ("NULL_MOVE", MoveKind::Null),
            ("START", MoveKind::Start),
        ];
        for (name, kind) in codes {
            let [code] = constant(&module, name)[..] else { panic!("{name} is one word") };
            assert_eq!(PackedMove((code as u16) << 12).kind(), kind, "{name}");
        }
        let Position { board, state } = Position::STANDARD;
        for (k, plane) in board.planes.into_iter().enumerate() {
            let words = [plane as u32, (plane >> 32) as u32];
            assert_eq!(constant(&module, &format!("STANDARD_{k}")), words);
        }
        assert_eq!(constant(&module, "STANDARD_STATE"), [state.0]);
        assert_eq!(constant(&module, "WHOLE_POSITIONS"), [1]);
    }
    let [hits, ..] = kernels("Ra1", PlanOptions::default(), Variant::default()).expect("it can be planned");
    assert_eq!(constant(&read(&hits), "WHOLE_POSITIONS"), [0]);
    let pieces = format!("let is_piece = (({:#x}u >> code) & 1u) != 0u;", PackedMove::PIECE_CODES);
    assert!(hits.wgsl.contains(&pieces), "the codes that are pieces are not {pieces}");
    for code in 0..16u16 {
        let is_piece = matches!(PackedMove(code << 12).kind(), MoveKind::Piece(_));
        assert_eq!(PackedMove::PIECE_CODES >> code & 1 != 0, is_piece, "code {code}");
    }
}

/// Returns the body of the function that evaluates the query.
fn evaluate(kernel: &Kernel) -> &str {
    let from = kernel.wgsl.find("\nfn evaluate(").expect("every kernel has one") + 1;
    let len = kernel.wgsl[from..].find("\n}\n").expect("it ends");
    let text = &kernel.wgsl[from..from + len];
    &text[text.find('{').expect("it begins") + 1..]
}

/// The function that evaluates the query must not branch. If it branched on results of the query, neighbouring invocations would
/// have to wait for each other. A `return` in a branch would end the replay of the segment (32 positions).
fn check_straightness(text: &str, kernel: &Kernel) {
    let body = evaluate(kernel);
    let words: Vec<&str> = body.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    for word in ["if", "else", "switch", "while", "loop", "break", "continue", "discard"] {
        assert!(!words.contains(&word), "{text}: `{word}` in\n{body}");
    }
    let last = body.lines().last().unwrap_or_default().trim();
    let returns = words.iter().filter(|word| **word == "return").count();
    let allowed = usize::from(last.starts_with("return "));
    assert_eq!(returns, allowed, "{text}: a return that is not the last line of\n{body}");
}

#[test(part = 2)]
fn kernels_of_all_vectors_are_valid_and_straight() {
    let text = data("vectors.tsv");
    let rows = text.lines().filter(|line| !line.starts_with("# "));
    let texts: BTreeSet<&str> = rows.filter_map(|line| line.split('\t').next()).collect();
    let mut planned = 0;
    // Together, these two variants change every part of the code that depends on the variant: unrolled loops, words, layouts and
    // lanes.
    let others =
        ["looped", "lanes2,transposed,u64,segments4"].map(|name| name.parse::<Variant>().expect("a variant"));
    for text in length::stride(1, 5).of(texts.into_iter()) {
        let plain = [without(0), without(NONE)].map(|options| (options, Variant::default()));
        let others = others.iter().map(|&variant| (without(0), variant));
        for (options, variant) in plain.into_iter().chain(others) {
            let Some(kernels) = kernels(text, options, variant) else { continue };
            planned += 1;
            for kernel in &kernels {
                let module = read(kernel);
                let mut validator = Validator::new(ValidationFlags::all(), capabilities(variant));
                validator.validate(&module).unwrap_or_else(|error| {
                    panic!("{text}, {variant}: {}", error.emit_to_string(&kernel.wgsl))
                });
                check_straightness(text, kernel);
            }
        }
    }
    assert!(planned > least(1000, 200), "{planned} plans");
}

/// Drivers are slow at compiling long kernels. So plans with many copies (transformed patterns) must be compiled to loops and
/// shared words.
#[test]
fn kernels_of_many_copies_are_short() {
    const SMALL: &str = "shift flip flipcolor {Nd4 kf3}";
    const LARGE: &str = "shift flip flipcolor {N[a-c1-3] k[d-f3-5] P[a-h2-3] p[a-h6-7] R[a-b1] not q[c-d4-5] \
                         B[c1,f1] not n[b8,g8]}";
    for text in [SMALL, LARGE] {
        let kernels = kernels(text, PlanOptions::default(), Variant::default())
            .unwrap_or_else(|| panic!("{text} cannot be planned"));
        let bytes = kernels.map(|kernel| kernel.wgsl.len());
        eprintln!("{text}: {bytes:?} bytes");
        assert!(bytes.iter().all(|&bytes| bytes < 65_536), "{text}: {bytes:?} bytes");
    }
}

/// The engine compiles shaders without the checks that limit loop iterations. So each `for` must count up to a constant, and each
/// `while` must remove a square from a set.
#[test]
fn every_loop_of_a_shader_ends() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
    let files = std::fs::read_dir(folder)
        .expect("there are shaders")
        .map(|entry| entry.expect("it can be listed").path());
    let files = files.filter(|path| path.extension().is_some_and(|end| end == "wgsl"));
    let mut queries: Vec<String> =
        files.map(|path| std::fs::read_to_string(path).expect("it can be read")).collect();
    let looped = "looped".parse().expect("it is one");
    let kernels =
        kernels("shift flip {Nd4 kf3 ke5}", PlanOptions::default(), looped).expect("it can be planned");
    queries.extend(kernels.iter().map(|kernel| kernel.evaluate().to_string()));
    let mut found = 0;
    for text in &queries {
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
            let line = line.trim();
            let ends = match line.split_once(' ').map(|(word, _)| word) {
                Some("for") => counts_up(line, text, at),
                Some("while") => takes_out(line, text, at),
                Some("loop") => false,
                _ => continue,
            };
            assert!(ends, "does this loop end? {line}");
            found += 1;
        }
    }
    assert!(found > 20, "{found} loops");
    let planted = "    for (var k = 0u; k < 8u; k++) {\n        k = 0u;\n}\nwhile (!is_empty(some)) {\n}\n";
    assert!(
        !counts_up("for (var k = 0u; k < 8u; k++) {", planted, 0)
            && !takes_out("while (!is_empty(some)) {", planted, 3)
    );
}

/// Returns the lines of the code block that begins at line `at`.
fn block_of(text: &str, at: usize) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().skip(at).collect();
    let indent = lines[0].len() - lines[0].trim_start().len();
    let close = format!("{:indent$}}}", "");
    lines.iter().skip(1).take_while(|line| **line != close).copied().collect()
}

/// Returns true if the body of a `for` changes neither the counter nor the limit.
fn counts_up(line: &str, text: &str, at: usize) -> bool {
    let Some(inside) = line.strip_prefix("for (var ").and_then(|line| line.strip_suffix(") {")) else {
        return false;
    };
    let [start, condition, step] = inside.split("; ").collect::<Vec<_>>()[..] else { return false };
    let Some((counter, _)) = start.split_once(" = ") else { return false };
    let Some(end) = condition.strip_prefix(&format!("{counter} < ")) else { return false };
    let names: Vec<&str> = end.split(|letter: char| !letter.is_alphanumeric() && letter != '_').collect();
    let is_changed = |name: &str| {
        let changes =
            [" = ", " += ", " -= ", "++", "--", " |= ", " &= ", " >>= "].map(|sign| format!("{name}{sign}"));
        block_of(text, at)
            .iter()
            .any(|line| changes.iter().any(|change| line.trim_start().starts_with(change)))
    };
    step == format!("{counter}++")
        && !is_changed(counter)
        && !names.iter().any(|name| !name.is_empty() && is_changed(name))
}

/// Returns true if the body of a `while` removes a square from the set in its condition.
fn takes_out(line: &str, text: &str, at: usize) -> bool {
    let Some((_, set)) = line.split_once("!is_empty(") else { return false };
    let Some((set, _)) = set.split_once(')') else { return false };
    let taken = format!("{set} = rest({set});");
    block_of(text, at).iter().any(|line| line.trim() == taken)
}
