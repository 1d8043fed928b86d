//! Tests zip and 7z archives: members as sources, names, damage, and archives that claim to contain too much data.

use std::fs;

use orbit_pgn::{Freshness, PgnError, Stamp};

use super::*;
use crate::common::archives::{Member, SIZES_BEHIND, UTF_8, zip, zip64};

fn game(event: &str) -> String {
    format!("[Event \"{event}\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 1-0\n\n")
}

/// The result of reading some inputs. Names are relative to the folder that contains the inputs.
#[derive(Debug, Default, PartialEq)]
struct Read {
    /// The name of each source, with the events of its games. If there are many games, the list contains only the first event and
    /// the number of games.
    sources: Vec<(String, Vec<String>)>,
    /// The sources that were not read to their ends, each with the reason.
    failures: Vec<(String, String)>,
    skipped: Vec<String>,
    notes: Vec<String>,
}

fn read_all(folder: &Path, paths: &[&str]) -> Result<Read, PgnError> {
    let paths: Vec<PathBuf> = paths.iter().map(|path| folder.join(path)).collect();
    let sources = Sources::open(&paths, Options::default())?;
    let root = format!("{}/", folder.display());
    let within = |name: &str| name.replace(&root, "");
    let names: Vec<String> = sources.sources().iter().map(|source| within(&source.name)).collect();
    let mut read =
        Read { notes: sources.notes().iter().map(|note| within(note)).collect(), ..Read::default() };
    read.sources = names.iter().map(|name| (name.clone(), Vec::new())).collect();
    let sources = each_game(sources, &mut |source, game| {
        let event = game.tags.iter().find(|tag| tag.name == b"Event");
        let event = event.map_or(String::new(), |tag| String::from_utf8(tag.value.clone()).unwrap());
        read.sources[source as usize].1.push(event);
    });
    for (_, events) in read.sources.iter_mut().filter(|(_, events)| events.len() > 5) {
        *events = vec![format!("{} and more: {}", events[0], events.len())];
    }
    let name = |source: u32| names[source as usize].clone();
    let failures = sources.failures().iter();
    read.failures = failures.map(|failure| (name(failure.source), failure.reason.clone())).collect();
    read.skipped = sources.skipped().iter().map(|failure| name(failure.source)).collect();
    if read.failures.is_empty() && read.skipped.is_empty() {
        let bytes: u64 = sources.sources().iter().map(|source| source.bytes.unwrap()).sum();
        assert_eq!(sources.bytes_read(), bytes);
    }
    Ok(read)
}

/// Reads one archive.
fn read(bytes: &[u8]) -> Read {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x.zip"), bytes).unwrap();
    read_all(folder.path(), &["x.zip"]).unwrap()
}

fn owned(rows: &[(&str, &[&str])]) -> Vec<(String, Vec<String>)> {
    rows.iter()
        .map(|(name, events)| (name.to_string(), events.iter().map(ToString::to_string).collect()))
        .collect()
}

#[test]
fn members_are_sources_in_their_order() {
    let many: String = (0..5000).map(|number| game(&format!("many {number}"))).collect();
    let (b, c, d, e) = (game("b"), game("c"), game("d"), game("e"));
    let members = [
        Member::deflated("twic1600.pgn", many.as_bytes()),
        Member::stored("sub/b.pgn", b.as_bytes()),
        Member::stored("empty.pgn", b""),
        Member::packed("a.pgn", c.as_bytes(), 12, bzip(c.as_bytes())),
        Member::packed("sub/deep/D.PGN", d.as_bytes(), 93, zst(d.as_bytes())),
        Member::stored("sub/", b""),
        Member::deflated("e.pgn.gz", &gzip(e.as_bytes())),
        Member::deflated("f.epd", b"4k3/8/8/8/8/8/4P3/4K3 w - - id \"f\";\n"),
    ];
    let behind = members.clone().map(|member| Member { flags: SIZES_BEHIND, ..member });
    let expected = owned(&[
        ("x.zip/twic1600.pgn", &["many 0 and more: 5000"]),
        ("x.zip/sub/b.pgn", &["b"]),
        ("x.zip/empty.pgn", &[]),
        ("x.zip/a.pgn", &["c"]),
        ("x.zip/sub/deep/D.PGN", &["d"]),
        ("x.zip/e.pgn.gz", &["e"]),
        ("x.zip/f.epd", &["f"]),
    ]);
    let comment = |bytes: Vec<u8>| [&bytes[..bytes.len() - 2], &[5, 0][..], b"hello"].concat();
    for (what, bytes) in [
        ("plain", zip(&members)),
        ("sizes behind", zip(&behind)),
        ("zip64", zip64(&members)),
        ("behind a program", [b"MZ and a program", &zip(&members)[..]].concat()),
        ("behind anything", [b"no program", &zip(&members)[..]].concat()),
        ("with a comment", comment(zip(&members))),
    ] {
        assert_eq!(read(&bytes), Read { sources: expected.clone(), ..Read::default() }, "{what}");
    }
}

#[test]
fn one_member_or_one_folder_of_an_archive_can_be_given() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let [a, b, c] = ["a", "b", "c"].map(game);
    let members = [
        Member::deflated("a.pgn", a.as_bytes()),
        Member::deflated("sub/b.pgn", b.as_bytes()),
        Member::deflated("sub/readme.txt", c.as_bytes()),
        Member::deflated("substitute.pgn", c.as_bytes()),
    ];
    fs::write(path("x.zip"), zip(&members)).unwrap();
    for (given, expected) in [
        ("x.zip/a.pgn", &[("x.zip/a.pgn", &["a"][..])][..]),
        ("x.zip/sub", &[("x.zip/sub/b.pgn", &["b"])]),
        ("x.zip/sub/", &[("x.zip/sub/b.pgn", &["b"])]),
        // A member that the user names is read whatever its extension is.
        ("x.zip/sub/readme.txt", &[("x.zip/sub/readme.txt", &["c"])]),
    ] {
        let read = read_all(folder.path(), &[given]).unwrap();
        assert_eq!(read, Read { sources: owned(expected), ..Read::default() }, "{given}");
    }
    for (given, expected) in [
        (
            "x.zip/A.pgn",
            "x.zip/A.pgn is not in the archive, which holds a.pgn, sub/b.pgn, sub/readme.txt and 1 more: check",
        ),
        ("x.zip/a.pgn/b", "x.zip/a.pgn/b is not in the archive"),
        ("y.zip/a.pgn", "y.zip/a.pgn does not exist: check the path"),
    ] {
        let error = read_all(folder.path(), &[given]).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    // If a folder has the name of the archive, the folder is read instead.
    fs::create_dir_all(path("x")).unwrap();
    fs::rename(path("x.zip"), path("y.zip")).unwrap();
    fs::create_dir(path("x.zip")).unwrap();
    fs::write(path("x.zip/a.pgn"), game("folder")).unwrap();
    let read = read_all(folder.path(), &["x.zip/a.pgn", "y.zip/a.pgn"]).unwrap();
    assert_eq!(read.sources, owned(&[("x.zip/a.pgn", &["folder"]), ("y.zip/a.pgn", &["a"])]));
}

#[test]
fn a_member_is_known_as_the_file_that_it_would_be() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let [a, b] = ["a", "b"].map(game);
    let members = [Member::deflated("a.pgn", a.as_bytes()), Member::deflated("b.pgn", b.as_bytes())];
    fs::write(path("x.zip"), zip(&members)).unwrap();
    fs::write(path("a.pgn"), &a).unwrap();
    let mut options = Options::default();
    options.hash = true;
    let sources = each_game(Sources::open(&[path("x.zip")], options).unwrap(), &mut |_, _| {});
    let stamp = sources.sources()[0].stamp;
    assert_eq!(
        (stamp.bytes, stamp.hash),
        (Some(a.len() as u64), Some(orbit_pgn::hash_file(&path("a.pgn")).unwrap()))
    );
    assert_eq!(stamp.modified_ns, Stamp::from_metadata(&fs::metadata(path("x.zip")).unwrap()).modified_ns);
    assert_eq!(stamp.hash, Some(orbit_pgn::hash_file(&path("x.zip/a.pgn")).unwrap()));
    assert_eq!(Stamp::at(&path("x.zip/a.pgn")).unwrap(), Stamp { hash: None, ..stamp });
    assert_eq!(
        orbit_pgn::canonical(&path("./x.zip/a.pgn")),
        Some(path("x.zip").canonicalize().unwrap().join("a.pgn"))
    );
    let freshness = |name: &str| stamp.compare(&path(name)).unwrap();
    assert_eq!(freshness("x.zip/a.pgn"), Freshness::Fresh);
    assert_eq!(freshness("x.zip/b.pgn"), Freshness::Fresh);
    assert_eq!(freshness("x.zip/c.pgn"), Freshness::Missing);
    // The archive is written again.
    let touch = |bytes: Vec<u8>, seconds: u64| {
        fs::write(path("x.zip"), bytes).unwrap();
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000 + seconds);
        fs::File::options().append(true).open(path("x.zip")).unwrap().set_modified(time).unwrap();
    };
    touch(zip(&[Member::stored("a.pgn", a.as_bytes())]), 1);
    assert_eq!(freshness("x.zip/a.pgn"), Freshness::Touched);
    touch(zip(&[Member::stored("a.pgn", b.as_bytes())]), 2);
    assert_eq!(freshness("x.zip/a.pgn"), Freshness::Changed);
}

#[test]
fn names_are_paths_below_the_archive() {
    let text = game("a");
    let with_name = |name: &[u8]| Member { name: name.to_vec(), ..Member::deflated("", text.as_bytes()) };
    let names: [&[u8]; 10] = [
        b"a.pgn",
        b"../../etc/a.pgn",
        b"/etc/b.pgn",
        b"sub\\c.pgn",
        b"a.pgn",
        b"a.pgn",
        b"caf\x82.pgn",
        b"..",
        b"__MACOSX/._a.pgn",
        b"./d.pgn",
    ];
    let found = read(&zip(&names.map(with_name)));
    let expected = [
        "x.zip/a.pgn",
        "x.zip/etc/a.pgn",
        "x.zip/etc/b.pgn",
        "x.zip/sub/c.pgn",
        "x.zip/a (2).pgn",
        "x.zip/a (3).pgn",
        "x.zip/café.pgn",
        "x.zip/d.pgn",
    ];
    assert_eq!(found.sources, expected.map(|name| (name.to_owned(), vec![String::from("a")])));
    assert_eq!(found.notes.len(), 2);
    assert_eq!(
        found.notes[1],
        "x.zip: 4 members are read under other names, because their own lead out of the archive or are given twice: \
         etc/a.pgn, etc/b.pgn, a (2).pgn and 1 more"
    );
}

#[test]
fn names_of_zip_are_utf_8_or_code_page_437() {
    let text = game("a");
    let member = |name: &[u8], flags: u16, extra: &[u8]| Member {
        name: name.to_vec(),
        flags,
        extra: extra.to_vec(),
        ..Member::deflated("", text.as_bytes())
    };
    // An extra field of Info-ZIP, which contains the name in UTF-8 and the checksum of the name in the directory.
    let unicode = |of: &[u8], name: &str| {
        let head = [0x75, 0x70, 5 + name.len() as u8, 0, 1];
        [&head, &crc32fast::hash(of).to_le_bytes()[..], name.as_bytes()].concat()
    };
    let every: Vec<u8> = (0x80..=0xff).chain(*b".pgn").collect();
    let members = [
        member(b"M\x81nchen.pgn", 0, b""),
        member("Zürich.pgn".as_bytes(), UTF_8, b""),
        // Programs on macOS write UTF-8 names without setting the UTF-8 flag.
        member("Málaga.pgn".as_bytes(), 0, b""),
        member(b"\x81\xff.pgn", UTF_8, b""),
        member(b"?.pgn", 0, &unicode(b"?.pgn", "Łódź.pgn")),
        // Another program has renamed the member but kept the old extra field, so the field must be ignored.
        member(b"new.pgn", 0, &unicode(b"old.pgn", "Óld.pgn")),
        member(&every, 0, b""),
    ];
    let expected = [
        "München",
        "Zürich",
        "Málaga",
        "\u{fffd}\u{fffd}",
        "Łódź",
        "new",
        "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}",
    ];
    for bytes in [zip(&members), zip64(&members)] {
        let found = read(&bytes);
        let expected = expected.map(|name| (format!("x.zip/{name}.pgn"), vec![String::from("a")]));
        assert_eq!(found, Read { sources: expected.to_vec(), ..Read::default() });
    }
    // The user selects a member by its decoded name.
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x.zip"), zip(&members)).unwrap();
    let found = read_all(folder.path(), &["x.zip/München.pgn"]).unwrap();
    assert_eq!(found.sources, owned(&[("x.zip/München.pgn", &["a"])]));
}

#[test]
fn members_that_hold_no_games_are_told_once() {
    let text = game("a");
    let members = [
        Member::deflated("a.pgn", text.as_bytes()),
        Member::deflated("readme.txt", b"no games"),
        Member::deflated("old.zip", &zip(&[])),
        Member::deflated("prose.pgn", b"These games are by courtesy of their authors.\n"),
        Member::deflated("photo.jpg", b"\xff\xd8"),
    ];
    let found = read(&zip(&members));
    assert_eq!(found.sources, owned(&[("x.zip/a.pgn", &["a"]), ("x.zip/prose.pgn", &[])]));
    assert_eq!(found.skipped, ["x.zip/prose.pgn"]);
    assert_eq!(
        found.notes,
        [
            "x.zip: 2 members are no .pgn, .epd or .fen and were left out: readme.txt, photo.jpg",
            "x.zip: 1 member is an archive itself and was left out; unpack the outer one to read it: old.zip",
        ]
    );
    let folder = tempfile::tempdir().unwrap();
    for (bytes, holds) in [(zip(&members[1..3]), "but readme.txt, old.zip:"), (zip(&[]), "but nothing:")] {
        fs::write(folder.path().join("x.zip"), bytes).unwrap();
        let error = read_all(folder.path(), &["x.zip"]).unwrap_err().to_string();
        assert!(error.contains("holds no .pgn, .epd or .fen file") && error.contains(holds), "{error}");
        // An archive without games is not an error if there are other files to read.
        fs::write(folder.path().join("y.pgn"), &text).unwrap();
        let found = read_all(folder.path(), &["."]).unwrap();
        assert_eq!(found.sources.len(), 1, "{found:?}");
    }
}

#[test]
fn a_folder_tells_which_collections_are_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("a.RAR"), "Rar!").unwrap();
    let error = read_all(folder.path(), &["."]).unwrap_err().to_string();
    assert!(
        error.contains("no archive: give the files by name") && error.contains("a.RAR is not read"),
        "{error}"
    );
    fs::write(path("b.zip"), zip(&[Member::stored("b.pgn", game("b").as_bytes())])).unwrap();
    for name in ["base.cbh", "base.cbg", "old.si4", "c.pgn.xz", "notes.txt"] {
        fs::write(path(name), "no PGN").unwrap();
    }
    let found = read_all(folder.path(), &["."]).unwrap();
    assert_eq!(found.sources.len(), 1);
    let [note] = &found.notes[..] else { panic!("{:?}", found.notes) };
    assert!(
        note.contains("a.RAR") && note.contains("and 1 more are not read: archives or databases"),
        "{note}"
    );
}

#[test]
fn damage_is_a_failure_and_games_before_it_stay() {
    let many: String = (0..20_000).map(|number| game(&format!("many {number}"))).collect();
    let (first, second) =
        (Member::deflated("a.pgn", many.as_bytes()), Member::stored("b.pgn", game("b").as_bytes()));
    let both = |first: Member| zip(&[first, second.clone()]);
    let cut = first.packed.len() / 2;
    let mut flipped = first.clone();
    flipped.packed[cut] ^= 0x55;
    let changed = |change: fn(&mut Member)| {
        let mut member = first.clone();
        change(&mut member);
        both(member)
    };
    let half = Member { packed: first.packed[..cut].to_vec(), ..first.clone() };
    // A row contains the fault, the archive, the expected reason, and true if games precede the fault.
    for (what, bytes, reason, has_games) in [
        ("a bit", both(flipped), "it is damaged", true),
        ("cut", both(half), "it ends too early: get the archive anew", true),
        (
            "checksum",
            changed(|member| member.crc ^= 1),
            "it is damaged (its checksum is wrong): get the archive anew",
            true,
        ),
        (
            "longer",
            changed(|member| member.bytes -= 1),
            "it is damaged (it is longer than the archive says)",
            true,
        ),
        ("shorter", changed(|member| member.bytes += 1), "it ends too early", true),
        (
            "encrypted",
            changed(|member| member.flags = 1),
            "it is encrypted: unpack it with its password first",
            false,
        ),
        (
            "lzma",
            changed(|member| member.method = 14),
            "by the method lzma of zip, which is not read: unpack it",
            false,
        ),
        ("unknown", changed(|member| member.method = 1234), "by the method 1234 of zip", false),
        ("bomb", changed(|member| member.bytes = 4_000_000_000), "more than 1000 times as many", false),
    ] {
        let found = read(&bytes);
        let [(name, told)] = &found.failures[..] else { panic!("{what}: {:?}", found.failures) };
        assert_eq!(name, "x.zip/a.pgn");
        assert!(told.contains(reason), "{what}: {told}");
        assert_eq!(!found.sources[0].1.is_empty(), has_games, "{what}");
        assert_eq!(found.sources[1].1, ["b"], "{what}");
    }
    // From here on, the archive itself is damaged, not just a member.
    let whole = both(first.clone());
    let mut elsewhere = whole.clone();
    elsewhere[0] = 0;
    assert!(read(&elsewhere).failures[0].1.contains("it does not begin where the archive says"));
    let mut overlapping = zip(&[second.clone(), Member { name: b"c.pgn".to_vec(), ..second.clone() }]);
    let directory = overlapping.windows(4).rposition(|bytes| bytes == b"PK\x01\x02").unwrap();
    overlapping[directory + 42..directory + 46].fill(0);
    let mut count = whole.clone();
    let end = count.len() - 22;
    count[end + 8..end + 12].copy_from_slice(&[3, 0, 3, 0]);
    for (what, bytes, reason) in [
        (
            "end",
            &whole[..whole.len() - 30],
            "the zip archive was cut (its directory is missing): get it anew",
        ),
        ("half", &whole[..whole.len() / 2], "the zip archive was cut"),
        ("overlap", &overlapping, "the zip archive is damaged (its members overlap)"),
        ("count", &count, "its directory has 2 members and should have 3"),
        ("head alone", b"PK\x03\x04 and so on", "the zip archive was cut"),
    ] {
        let found = read(bytes);
        assert_eq!(found.failures.len(), 1, "{what}: {found:?}");
        assert!(found.failures[0].1.contains(reason), "{what}: {found:?}");
    }
}

#[test]
fn an_archive_that_changes_while_it_is_read_is_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zip");
    let members = ["a", "b"].map(|name| Member::deflated(&format!("{name}.pgn"), game(name).as_bytes()));
    fs::write(&path, zip(&members)).unwrap();
    let sources = Sources::open(std::slice::from_ref(&path), Options::default()).unwrap();
    fs::write(&path, zip(&members[..1])).unwrap();
    let sources = each_game(sources, &mut |_, game| panic!("{game:?}"));
    assert_eq!(sources.failures().len(), 2);
    assert!(
        sources.failures()[0].reason.contains("the archive was replaced or written to"),
        "{:?}",
        sources.failures()
    );
}

#[test]
fn what_is_no_file_has_no_members() {
    let bytes = zip(&[Member::stored("a.pgn", game("a").as_bytes())]);
    let reason = |bytes: Vec<u8>| {
        let sources = each_game(Sources::from_bytes("stream", bytes), &mut |_, game| panic!("{game:?}"));
        sources.failures()[0].reason.clone()
    };
    let expected =
        "it is an archive, which is read from its end: give it as an ordinary file that is not packed";
    assert_eq!(reason(bytes.clone()), expected);
    assert_eq!(reason(gzip(&bytes)), expected);
}

/// Reads randomly altered archives. Nothing may panic, and no member may be longer than announced. Returns the number of altered
/// archives in which games were found.
fn read_altered(name: &str, bytes: &[u8], trials: u64) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let mut with_games = 0;
    for trial in 0..trials {
        let mut random = fastrand::Rng::with_seed(trial);
        let mut altered = bytes.to_vec();
        for _ in 0..random.usize(1..4) {
            let at = random.usize(..altered.len());
            match random.usize(..4) {
                0 => altered.truncate(at.max(8)),
                1 => altered[at] = random.u8(..),
                2 => altered[at] ^= 1 << random.usize(..8),
                _ => drop(altered.drain(at..(at + random.usize(..9)).min(altered.len()))),
            }
            altered.resize(altered.len().max(8), 0);
        }
        fs::write(&path, &altered).unwrap();
        let Ok(sources) = Sources::open(std::slice::from_ref(&path), Options::default()) else { continue };
        let mut games = 0;
        each_game(sources, &mut |_, _| games += 1);
        with_games += usize::from(games > 0);
    }
    with_games
}

#[test]
fn any_bytes_are_an_archive_or_a_failure() {
    let text: String = (0..40).map(|number| game(&format!("many {number}"))).collect();
    let members = [
        Member::deflated("a.pgn", text.as_bytes()),
        Member::packed("b.pgn", text.as_bytes(), 12, bzip(text.as_bytes())),
        Member::packed("c.pgn", text.as_bytes(), 93, zst(text.as_bytes())),
    ];
    for bytes in [zip(&members), zip64(&members)] {
        let with_games = read_altered("x.zip", &bytes, 500);
        assert!(with_games > 100, "only {with_games} had games");
    }
}

#[cfg(feature = "sevenz")]
mod sevenz {
    use super::*;

    fn archive(name: &str) -> Vec<u8> {
        fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/archives").join(name)).unwrap()
    }

    fn read(bytes: &[u8]) -> Read {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("x.7z"), bytes).unwrap();
        read_all(folder.path(), &["x.7z"]).unwrap()
    }

    #[test]
    fn members_are_sources_in_their_order() {
        let expected = owned(&[
            ("x.7z/a.pgn", &["a0 and more: 50"]),
            ("x.7z/sub/b.pgn", &["b"]),
            ("x.7z/empty.pgn", &[]),
            ("x.7z/c.epd", &[""]),
        ]);
        let notes =
            vec![String::from("x.7z: 1 member is no .pgn, .epd or .fen and was left out: readme.txt")];
        assert_eq!(
            read(&archive("solid.7z")),
            Read { sources: expected.clone(), notes: notes.clone(), ..Read::default() }
        );
        assert_eq!(
            read(&archive("ppmd.7z")),
            Read { sources: expected[..2].to_vec(), notes, ..Read::default() }
        );
    }

    /// Returns the archive `encrypted.7z` with another letter in place of the `b` in the member name `sub/b.pgn`. The list of
    /// names in this archive is not compressed, so it can be changed directly.
    fn with_letter(letter: u16) -> Vec<u8> {
        let mut bytes = archive("encrypted.7z");
        let name: Vec<u8> = "b.pgn".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let at = bytes.windows(name.len()).position(|bytes| bytes == name).unwrap();
        bytes[at..at + 2].copy_from_slice(&letter.to_le_bytes());
        bytes
    }

    #[test]
    fn names_of_7z_are_utf_16() {
        for (letter, name) in [(0xf8, "sub/ø.pgn"), (0x160, "sub/Š.pgn"), (0x68cb, "sub/棋.pgn")] {
            assert_eq!(read(&with_letter(letter)).failures[0].0, format!("x.7z/{name}"));
        }
        // This letter is half of a surrogate pair, so the name is invalid.
        let found = read(&with_letter(0xd83d));
        assert_eq!(found.sources, owned(&[("x.7z", &[])]));
        assert!(found.failures[0].1.contains("damaged"), "{found:?}");
    }

    #[test]
    fn members_can_be_given_in_any_order() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("x.7z"), archive("solid.7z")).unwrap();
        let given = ["x.7z/sub/b.pgn", "x.7z/a.pgn", "x.7z/a.pgn", "x.7z/c.epd", "x.7z/empty.pgn"];
        let found = read_all(folder.path(), &given).unwrap();
        assert_eq!(found.failures, []);
        let events: Vec<usize> = found.sources.iter().map(|(_, events)| events.len()).collect();
        assert_eq!(events, [1, 1, 1, 1, 0]);
        assert_eq!(
            orbit_pgn::hash_file(&folder.path().join("x.7z/readme.txt")).unwrap(),
            twox_hash::XxHash3_64::oneshot(b"no games")
        );
    }

    #[test]
    fn passwords_and_damage_are_failures() {
        let encrypted = "it is encrypted: unpack it with its password first";
        let found = read(&archive("encrypted.7z"));
        assert_eq!(found.failures, [("x.7z/sub/b.pgn".to_owned(), encrypted.to_owned())]);
        let found = read(&archive("hidden.7z"));
        assert_eq!(found.failures[0].0, "x.7z");
        assert!(found.failures[0].1.contains("is encrypted: unpack it with its password first"), "{found:?}");
        let solid = archive("solid.7z");
        let found = read(&solid[..solid.len() / 2]);
        assert!(found.failures[0].1.contains("get the archive anew"), "{found:?}");
        let mut changed = solid;
        changed[80] ^= 0x10;
        let found = read(&changed);
        assert!(!found.failures.is_empty());
        assert!(
            found.failures.iter().all(|(_, reason)| reason.contains("get the archive anew")),
            "{found:?}"
        );
    }

    #[test]
    fn any_bytes_are_an_archive_or_a_failure() {
        for name in ["solid.7z", "ppmd.7z", "hidden.7z"] {
            read_altered("x.7z", &archive(name), 250);
        }
    }
}

#[cfg(not(feature = "sevenz"))]
#[test]
fn a_build_without_7z_says_so() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x.7z"), b"7z\xbc\xaf\x27\x1c and so on").unwrap();
    let found = read_all(folder.path(), &["x.7z"]).unwrap();
    assert!(found.failures[0].1.contains("install it with `--features sevenz`"), "{found:?}");
    fs::write(folder.path().join("a.pgn"), game("a")).unwrap();
    let found = read_all(folder.path(), &["."]).unwrap();
    assert!(found.failures.is_empty() && found.notes[0].contains("x.7z is not read"), "{found:?}");
}
