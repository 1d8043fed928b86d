use orbit_chess::internals::pgn::{ParseOptions, Sources};
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let bytes = std::fs::read(path).unwrap();
    let mut sources = Sources::from_bytes("example", bytes);
    let mut options = ParseOptions::default();
    options.variations = true;
    while let Some(chunk) = sources.next_chunk() {
        let lost = chunk.parse(&options, &mut |_source, game| {
            let ms = |m: &Vec<orbit_chess::internals::board::PackedMove>| m.iter().map(|m| format!("{}{}", m.from(), m.to())).collect::<Vec<_>>().join(" ");
            println!("game {} main {} nodes: {}", game.number, game.moves.len(), ms(&game.moves));
            let mut id = game.moves.len() + 1;
            for l in &game.lines { println!("  {} from {} sibling {}: {}", id, l.parent, l.sibling, ms(&l.moves)); id += l.moves.len(); }
            for a in &game.annotations { println!("  {} {:?}", a.node, match &a.kind { orbit_chess::internals::pgn::AnnotationKind::Comment(c) => String::from_utf8_lossy(c).into_owned(), k => format!("{k:?}") }); }
            for n in &game.notes { println!("  note {n:?}"); }
        });
        println!("lost {lost}");
    }
}
