//! Tests all kinds of inputs: files, folders, and unreadable inputs.

use std::fs;

use orbit_pgn::{PgnError, Stamp};

use super::*;

#[test]
fn folders_are_read_in_byte_order_of_path() {
    let folder = tempfile::tempdir().unwrap();
    for (name, white) in
        [("b.pgn", "3"), ("a/z.PGN", "1"), ("a.pgn", "2"), ("readme.txt", "no"), ("c.pgn.gz", "4")]
    {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("[White \"{white}\"]\n\n1. e4 *\n")).unwrap();
    }
    let sources = Sources::open(&[folder.path().to_owned()], Options::default()).unwrap();
    let names: Vec<String> = sources
        .sources()
        .iter()
        .map(|source| {
            source.path.as_ref().unwrap().strip_prefix(folder.path()).unwrap().display().to_string()
        })
        .collect();
    assert_eq!(names, ["a.pgn", "a/z.PGN", "b.pgn", "c.pgn.gz"]);
    let total: u64 = sources.sources().iter().map(|source| source.bytes.unwrap()).sum();
    let mut found = Vec::new();
    let sources = each_game(sources, &mut |source, game| {
        found.push((source, game.number, String::from_utf8(game.tags[0].value.clone()).unwrap()));
    });
    let wanted =
        [(0, "2"), (1, "1"), (2, "3"), (3, "4")].map(|(source, white)| (source, 1, white.to_owned()));
    assert_eq!(found, wanted);
    assert_eq!(sources.bytes_read(), total);
}

#[test]
fn content_is_hashed_where_that_is_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pgn");
    fs::write(&path, "1. e4 *").unwrap();
    let of_file = Stamp::from_metadata(&fs::metadata(&path).unwrap());
    let hash = Some(orbit_pgn::hash_file(&path).unwrap());
    let mut options = Options::default();
    for wanted in [false, true] {
        options.hash = wanted;
        let file = Sources::open(std::slice::from_ref(&path), options.clone()).unwrap();
        let memory = Sources::from_bytes_with("memory", b"1. e4 *".to_vec(), options.clone());
        let stamps = [file, memory].map(|sources| each_game(sources, &mut |_, _| {}).sources()[0].stamp);
        let expected = match wanted {
            true => [Stamp { hash, ..of_file }, Stamp { hash, bytes: Some(7), modified_ns: None }],
            false => [of_file, Stamp::default()],
        };
        assert_eq!(stamps, expected);
    }
}

#[test]
fn small_files_share_a_chunk() {
    let folder = tempfile::tempdir().unwrap();
    for k in 0..20 {
        fs::write(folder.path().join(format!("{k}.pgn")), "1. e4 *").unwrap();
    }
    let mut sources = Sources::open(&[folder.path().to_owned()], Options::default()).unwrap();
    assert_eq!(sources.next_chunk().map(|chunk| chunk.texts.len()), Some(20));
    assert!(sources.next_chunk().is_none());
}

#[test]
fn wrong_paths_are_errors_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let open = |path: &Path| Sources::open(&[path.to_owned()], Options::default()).err().unwrap();
    let missing = open(&folder.path().join("nothing.pgn"));
    assert!(matches!(missing, PgnError::Missing { .. }));
    assert!(missing.to_string().contains("nothing.pgn does not exist: check the path"));
    assert!(matches!(open(Path::new("")), PgnError::Empty));
    assert!(matches!(open(folder.path()), PgnError::EmptyFolder { .. }));
    let twice = Sources::open(&["-".into(), "-".into()], Options::default()).err().unwrap();
    assert!(matches!(twice, PgnError::StdinTwice));
}

#[test]
fn what_is_no_text_is_a_failure_with_a_remedy() {
    for (bytes, remedy) in [
        (&b"\xff\xfe[\0E\0"[..], "iconv"),
        (b"[\0E\0v\0e\0n\0t\0", "iconv"),
        (b"PK\x03\x04 and so on", "ordinary file"),
        (b"\x89REEL\r\n\x1a and so on", "give it by its name"),
        (b"\x1f\x8b and then nothing of the kind", "gz file"),
    ] {
        let sources = Sources::from_bytes("bad", bytes.to_vec());
        let sources = each_game(sources, &mut |_, game| panic!("{game:?}"));
        let [failure] = sources.failures() else { panic!("{bytes:?}: {:?}", sources.failures()) };
        assert!(failure.reason.contains(remedy), "{failure:?}");
    }
}

#[test]
fn a_comment_may_begin_with_nul() {
    for text in [&b"{\0 \0\x80\x81} *\n"[..], b";\0 \0\x80\n*\n"] {
        let mut games = 0;
        let sources = each_game(Sources::from_bytes("nul", text.to_vec()), &mut |_, _| games += 1);
        assert!(games == 1 && sources.failures().is_empty(), "{:?}", sources.failures());
    }
}

#[test]
fn a_file_that_vanishes_is_a_failure_and_the_next_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let paths = [folder.path().join("a.pgn"), folder.path().join("b.pgn")];
    for path in &paths {
        fs::write(path, "1. e4 *").unwrap();
    }
    let sources = Sources::open(&paths, Options::default()).unwrap();
    fs::remove_file(&paths[0]).unwrap();
    let mut found = Vec::new();
    let sources = each_game(sources, &mut |source, _| found.push(source));
    assert_eq!(found, [1]);
    assert_eq!(sources.failures().len(), 1);
}

#[test]
fn sources_and_chunks_go_to_other_threads() {
    fn check<T: Send>() {}
    check::<Sources>();
    check::<orbit_pgn::Chunk>();
}
