//! Tests the cache of compiled kernels: each kernel is compiled only once, and is stored in a file between runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use orbit_core::board::Square;
use orbit_engine::gpu::{GpuDevice, GpuLimits, PipelineCache};
use orbit_reel::Block;

use crate::{
    common::block_of,
    gpu::{check, kings, prepared, some_blocks},
    runners::{device_options, open_device},
};

/// Queries that need more kernels than the one for hits: for stages (parts of a plan that run first), values, or matching copies
/// (transformed patterns).
const QUERIES: [&str; 3] = ["shift find {Nd4 Pe4}", "#(P | n)", "shift flip flipcolor {Nd4 Pe4}"];

#[test]
fn threads_compile_a_shader_once() {
    let blocks = some_blocks();
    let blocks: Vec<&Block> = blocks.iter().collect();
    let [alone, together] = [(); 2].map(|()| open_device(device_options(GpuLimits::default())));
    let mut before = 0;
    for text in QUERIES {
        check(text, &prepared(text).gpu(&alone).unwrap(), &blocks);
        let after = alone.pipelines_compiled();
        assert!(after > before, "{text}");
        check(text, &prepared(text).gpu(&alone).unwrap(), &blocks);
        assert_eq!(alone.pipelines_compiled(), after, "{text}: a second time");
        before = after;
    }
    std::thread::scope(|scope| {
        for text in QUERIES.into_iter().chain(QUERIES) {
            let (together, blocks) = (&together, &blocks);
            scope.spawn(move || check(text, &prepared(text).gpu(together).unwrap(), blocks));
        }
    });
    assert_eq!(together.pipelines_compiled(), before);
}

/// An engine keeps all kernels that it has used, even if the device keeps only one. Kernels for sides with several kings do not
/// replace those for one king.
#[test]
fn an_engine_compiles_its_kernels_once() {
    let [alone, several] =
        [&[Square::C1][..], &[Square::C1, Square::E1]].map(|white| block_of(&[kings(white)]));
    let blocks = some_blocks();
    let blocks: Vec<&Block> = blocks.iter().collect();
    let mut options = device_options(GpuLimits::default());
    options.pipelines_max = Some(1);
    let device = open_device(options);
    for text in QUERIES.into_iter().chain(["move count legal"]) {
        let gpu = prepared(text).gpu(&device).unwrap();
        let check_all = || [&[&alone], &[&several], &blocks[..]].map(|blocks| check(text, &gpu, blocks));
        check_all();
        let compiled = device.pipelines_compiled();
        check_all();
        assert_eq!(device.pipelines_compiled(), compiled, "{text}: a second time");
    }
}

/// Returns a new device that stores compiled kernels in a folder.
fn device(folder: &Path) -> Arc<GpuDevice> {
    let mut options = device_options(GpuLimits::default());
    options.pipeline_cache = Some(PipelineCache { folder: folder.to_owned(), of_software: true });
    open_device(options)
}

/// Runs a query on a new device. Returns the message about the cache file, if there is one.
fn told(folder: &Path) -> Option<String> {
    let blocks = some_blocks();
    let device = device(folder);
    check("#(P | n)", &prepared("#(P | n)").gpu(&device).unwrap(), &blocks.iter().collect::<Vec<_>>());
    let note = device.take_note();
    assert_eq!(device.take_note(), None, "it is told once");
    note
}

/// Returns the files of a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn what_was_compiled_is_kept_in_one_file() {
    let top = tempfile::tempdir().unwrap();
    let folder = top.path().join("not/there");
    assert_eq!(told(&folder), None);
    let [file] = &files(&folder)[..] else { panic!("{:?}", files(&folder)) };
    let bytes = fs::read(file).unwrap();
    assert!(bytes.starts_with(b"orbitpl1") && bytes.len() > 16, "{} bytes", bytes.len());
    assert_eq!(told(&folder), None);
    // A cache file of another version for this card is removed. A cache file of another card is kept.
    let name = file.file_name().unwrap().to_str().unwrap();
    let (card, _) = name.split_once('-').unwrap();
    let (other, stranger) =
        (folder.join(format!("{card}-0.0.1.pipelines")), folder.join("x-0.0.1.pipelines"));
    fs::write(&other, "old").unwrap();
    fs::write(&stranger, "of another card").unwrap();
    assert_eq!(told(&folder), None);
    assert!(!other.exists() && stranger.exists() && file.exists());
}

#[test]
fn files_that_cannot_be_used_are_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    assert_eq!(told(folder), None);
    let file = files(folder).remove(0);
    let whole = fs::read(&file).unwrap();
    let mut flipped = whole.clone();
    *flipped.last_mut().unwrap() ^= 1;
    let foreign = vec![7; 5000];
    for bytes in [&flipped[..], &whole[..whole.len() - 1], &whole[..12], &[], &foreign] {
        fs::write(&file, bytes).unwrap();
        let note = told(folder).expect("it is told");
        assert!(note.contains("is passed over") && note.contains("compiled anew"), "{note}");
        assert_eq!(told(folder), None, "it was written anew");
    }
    // The hash is right, but the driver did not produce these bytes.
    let hash = twox_hash::XxHash3_64::oneshot(&foreign).to_le_bytes();
    fs::write(&file, [&b"orbitpl1"[..], &hash, &foreign].concat()).unwrap();
    assert_eq!(told(folder), None);
    assert_eq!(told(folder), None);
    // First, there is a folder in place of the cache file. Then, there is a file in place of the cache folder.
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert!(told(folder).is_some_and(|note| note.contains("ordinary file")));
    fs::write(folder.join("in the way"), "").unwrap();
    assert!(told(&folder.join("in the way/below")).is_some());
}

/// The environment variable `ORBIT_PIPELINE_CACHE` names the cache folder or disables the cache.
#[test]
fn the_environment_names_the_folder_or_none() {
    open_device(device_options(GpuLimits::default()));
    let top = tempfile::tempdir().unwrap();
    let run = |cache: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_orbit"));
        command.current_dir(env!("CARGO_MANIFEST_DIR")).env("XDG_CACHE_HOME", top.path().join("user"));
        command.env("ORBIT_PIPELINE_CACHE", cache);
        let out = command.args(["scan", "--engine", "gpu", "--count", "mate", "games/sample.pgn"]).output();
        let out = out.unwrap();
        assert!(out.status.success(), "{out:?}");
        (out.stdout, String::from_utf8(out.stderr).unwrap())
    };
    let folder = top.path().join("named");
    let expected = run("off");
    // With `off`, orbit creates no cache folder. The driver Mesa creates its own folder in the same place.
    assert!(!top.path().join("user/orbit").exists() && !folder.exists());
    let named = folder.to_str().unwrap();
    assert_eq!(run(named).0, expected.0);
    let file = files(&folder).remove(0);
    fs::write(&file, "damaged").unwrap();
    let (out, said) = run(named);
    assert_eq!(out, expected.0);
    assert_eq!(said.matches("compiled kernels").count(), 1, "{said}");
    assert_eq!(run(named).1.matches("compiled kernels").count(), 0);
}
