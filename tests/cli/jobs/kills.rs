//! Computes a job's parts in any order, twice, concurrently, and with runs that are killed at random moments. The merged result
//! must equal that of a single run.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{REELS, done, orbit, parts, reels};
use crate::common::length::trials;

const COMMANDS: [&[&str]; 5] = [
    &["-F", "text", "--limit", "200", "shift flip flipcolor {Nd4 kf3}"],
    &["-F", "jsonl", "k attackedby N"],
    &["--stats", "year,eco,player", "#(Q attackedby q)"],
    &["--sample", "30", "-F", "pgn", "check"],
    &["--heat", "-F", "jsonl", "k attackedby N"],
];

fn spawn(folder: &Path, args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orbit"));
    command.current_dir(folder).args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

#[test]
fn kills_orders_and_repetitions_change_nothing() {
    let inputs = reels();
    let inputs = inputs.path();
    let (mut kills, mut killed_at_work) = (0, 0);
    let mut taken = Duration::from_millis(10);
    for job in trials(36, 3) {
        let mut random = fastrand::Rng::with_seed(17 + job as u64);
        let args = [COMMANDS[job % COMMANDS.len()], &REELS[..]].concat();
        let expected = done(inputs, &[&["scan", "-q"], &args[..]].concat());
        let folder = format!("job{job}");
        let (out, wanted) = (format!("{folder}/"), random.usize(1..=6).to_string());
        done(inputs, &[&["job", "plan", "--parts", &wanted, "-o", &out], &args[..]].concat());
        let all = parts(inputs, &folder);
        for round in 0..4 {
            let number = random.usize(1..=all).to_string();
            let compute = ["job", "part", "-q", "--again", "-j", "1", &number, &folder];
            let mut victims = [spawn(inputs, &compute), spawn(inputs, &compute)];
            // The first runs are killed immediately, so that some are killed during their work even on a busy machine.
            let delay = Duration::from_micros(random.u64(..=taken.as_micros() as u64));
            std::thread::sleep(if round > 0 { delay } else { Duration::ZERO });
            for victim in victims.iter_mut().take(random.usize(1..=2)) {
                let is_at_work = victim.try_wait().unwrap().is_none();
                // On a busy machine, the run may have ended before it was killed. In that case, later runs are killed sooner.
                taken = if is_at_work { taken } else { taken * 3 / 4 };
                killed_at_work += usize::from(is_at_work);
                victim.kill().unwrap();
                kills += 1;
            }
            victims.iter_mut().for_each(|victim| _ = victim.wait().unwrap());
        }
        // A job with a missing part cannot be merged. A part that exists must be complete.
        let (code, status, _) = orbit(inputs, &["job", "status", &folder]);
        assert!(!status.contains("damaged"), "{status}");
        let (merged, printed, _) = orbit(inputs, &["job", "merge", &folder]);
        assert_eq!(merged, code, "{status}");
        assert!(code == 3 && printed.is_empty() || printed == expected);
        let mut order: Vec<usize> = (1..=all).collect();
        random.shuffle(&mut order);
        let order: Vec<String> = order.iter().map(usize::to_string).collect();
        let order: Vec<&str> = order.iter().map(String::as_str).collect();
        done(inputs, &[&["job", "part", "-q"], &order[..], &[&folder]].concat());
        // The duration of one part determines when the next runs are killed.
        let begun = Instant::now();
        done(inputs, &["job", "part", "-q", "--again", "-j", "1", "1", &folder]);
        taken = begun.elapsed();
        assert!(done(inputs, &["job", "merge", &folder]) == expected, "{args:?} in {all} parts");
        // A killed run leaves no files behind.
        let names = super::files(&inputs.join(&folder).join("parts"));
        assert_eq!(names.len(), all, "{names:?}");
    }
    assert!(killed_at_work * 8 > kills, "only {killed_at_work} of {kills} were killed while they worked");
}

#[test]
fn a_part_is_the_same_file_whenever_it_is_computed() {
    let inputs = reels();
    let inputs = inputs.path();
    for (number, command) in COMMANDS.iter().enumerate() {
        let (folder, out) = (format!("job{number}"), format!("job{number}/"));
        done(inputs, &[&["job", "plan", "-o", &out], *command, &REELS[..]].concat());
        done(inputs, &["job", "part", "-q", "-j", "1", &folder]);
        let first = super::files(&inputs.join(&folder).join("parts"));
        done(inputs, &["job", "part", "-q", "--again", "-j", "4", "2/2", "1/2", &folder]);
        assert!(first == super::files(&inputs.join(&folder).join("parts")), "{command:?}");
    }
}

/// A file size limit simulates a full disk.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_no_part() {
    let inputs = reels();
    let inputs = inputs.path();
    let args = [&["-F", "jsonl", "check"], &REELS[..]].concat();
    done(inputs, &[&["job", "plan", "-o", "out/"], &args[..]].concat());
    let script = format!("ulimit -f 8; exec {} job part -q 2 out", env!("CARGO_BIN_EXE_orbit"));
    let limited = Command::new("sh").current_dir(inputs).args(["-c", &script]).output().unwrap();
    assert!(!limited.status.success());
    let (code, status, _) = orbit(inputs, &["job", "status", "out"]);
    assert_eq!((code, status.lines().nth(1)), (3, Some("missing: 1-6")));
    done(inputs, &["job", "part", "-q", "out"]);
    assert_eq!(done(inputs, &["job", "merge", "out"]), done(inputs, &[&["scan", "-q"], &args[..]].concat()));
}
