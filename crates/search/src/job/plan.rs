//! The plan of a job (a search in parts): its query, sources and parts.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use twox_hash::XxHash3_128;

use crate::request::Request;
use orbit_core::files::{OutputError, OutputFile, open_regular};
use orbit_database::SourceMark;
use orbit_pgn::READER_VERSION;

/// The name of the file in the job's folder that describes the job.
pub const JOB_NAME: &str = "job.json";
/// The name of the folder in the job's folder that contains the result files of the parts.
const PARTS_NAME: &str = "parts";
/// The version of the job and part formats. It is increased when the meaning of a field changes.
const SCHEMA: u32 = 3;

/// The reason why a job cannot be read, written or continued.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JobError {
    /// The folder contains no job.
    #[error(
        "{} contains no job ({JOB_NAME} is not there): `orbit job plan QUERY PATH... -o FOLDER/` makes one",
        folder.display()
    )]
    Missing {
        /// The folder.
        folder: PathBuf,
    },
    /// The job file cannot be read.
    #[error("{} cannot be read ({error}): check the path and its permissions", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// The job file was altered or truncated, or belongs to another version.
    #[error("{} is no job of this version of orbit ({what}): plan the job again, in a new folder", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// A description of the error.
        what: String,
    },
    /// The request differs from the one for which the job was planned.
    #[error("{} is of another job: {what} than when it was planned; plan the job again, in a new folder", path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// The part of the request that differs.
        what: &'static str,
    },
    /// The folder already contains another job. A folder can contain only one.
    #[error("{} contains another job already: give the name of another folder", folder.display())]
    Taken {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder or the file cannot be written.
    #[error("{} cannot be written ({error}): check the path, its permissions and the space on the disk", path.display())]
    Unwritable {
        /// The folder or file that was to be written.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// The file cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
}

/// The reason why a job has only one part.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum OnePartReason {
    /// The query carries state from game to game.
    State,
    /// Duplicates are omitted. To detect them, a part would have to read all earlier games, but a part reads only its own.
    Duplicates,
    /// The database contains PGN text, which can only be read from the beginning.
    Text,
    /// The source is standard input or a pipe.
    Stream,
}

impl OnePartReason {
    /// Returns a sentence that tells the user why the job has only one part, and what can be done about it, if anything.
    pub fn text(self) -> &'static str {
        match self {
            OnePartReason::State => {
                "the query keeps something from game to game (a persistent variable, a dictionary or a file), so that games \
                 have an order"
            }
            OnePartReason::Duplicates => "whether a game is a duplicate depends on the games before it",
            OnePartReason::Text => {
                "the numbers of games of PGN files are known only when all before them was read: `orbit index` makes a \
                 reel of them, of which a job has many parts"
            }
            OnePartReason::Stream => {
                "standard input and pipes are read once: give the games to `orbit job part 1`"
            }
        }
    }
}

/// The request of a job. It determines the results of all parts.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct JobRequest {
    /// The command line arguments.
    pub arguments: Vec<String>,
    /// The selection of games and hits, and the text of the queries, even if they were read from files.
    pub request: Request,
    /// A description of the outputs. It is never parsed, only compared with that of the new request when a job is continued.
    pub output: Value,
    /// A hash of the queries after all transforms are expanded into copies.
    pub plan: String,
    /// The inputs.
    pub sources: Vec<SourceMark>,
}

/// A job, which is a search computed in parts.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Job {
    schema: u32,
    /// The version of orbit.
    pub orbit: String,
    reader_version: u32,
    /// The XXH3-128 hash of the job as JSON without blanks, where the fields `hash`, `folder` and `arguments` are empty.
    hash: String,
    /// The folder against which relative paths in the job are resolved.
    pub folder: String,
    /// The request.
    pub question: JobRequest,
    /// The reason why there is only one part, or `None` if several are possible.
    pub whole: Option<OnePartReason>,
    /// The parts, in database order.
    pub parts: Vec<JobPart>,
}

/// The job fields whose name and type are the same in all versions of the format.
#[derive(Deserialize)]
struct JobFormat {
    schema: u32,
    orbit: String,
}

/// A part of a job.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct JobPart {
    /// The number of the part, counted from 1.
    pub number: u32,
    /// The range of blocks (groups of games) that the part reads, as the first block and the one after the last. Blocks are
    /// numbered from 0 across all reels (database files of orbit). `None` means all blocks, and is only used if the job has a
    /// single part.
    pub blocks: Option<(usize, usize)>,
    /// The number of positions in the part, if known.
    pub positions: Option<u64>,
}

impl JobPart {
    /// Returns the range of blocks, or `None` for all blocks.
    pub fn range(&self) -> Option<Range<usize>> {
        self.blocks.map(|(first, end)| first..end)
    }
}

impl Job {
    /// Creates a job.
    pub fn new(
        folder: String,
        question: JobRequest,
        whole: Option<OnePartReason>,
        parts: Vec<JobPart>,
    ) -> Job {
        let mut job = Job {
            schema: SCHEMA,
            orbit: env!("CARGO_PKG_VERSION").to_owned(),
            reader_version: READER_VERSION,
            hash: String::new(),
            folder,
            question,
            whole,
            parts,
        };
        job.hash = job.hash_now();
        job
    }

    fn hash_now(&self) -> String {
        // The arguments and the folder are not hashed, because the same search can be written in several ways and started in
        // several folders.
        let question = JobRequest { arguments: Vec::new(), ..self.question.clone() };
        let bare = Job { hash: String::new(), folder: String::new(), question, ..self.clone() };
        let bytes = serde_json::to_vec(&bare).expect("a job is numbers and texts");
        format!("{:032x}", XxHash3_128::oneshot(&bytes))
    }

    /// Returns the hash that identifies the job.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Reads the job in a folder.
    ///
    /// # Errors
    ///
    /// Returns [`JobError::Missing`] if the folder contains no job, [`JobError::Unreadable`] if the job file cannot be read, and
    /// [`JobError::Malformed`] if it was altered or belongs to another version.
    pub fn read(folder: &Path) -> Result<Job, JobError> {
        let path = folder.join(JOB_NAME);
        let mut bytes = Vec::new();
        let read = open_regular(&path).and_then(|mut file| file.read_to_end(&mut bytes));
        read.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => JobError::Missing { folder: folder.to_owned() },
            _ => JobError::Unreadable { path: path.clone(), error },
        })?;
        let malformed = |what: String| JobError::Malformed { path: path.clone(), what };
        let unread = |error: serde_json::Error| malformed(error.to_string());
        let JobFormat { schema, orbit } = serde_json::from_slice(&bytes).map_err(unread)?;
        if schema != SCHEMA {
            return Err(malformed(format!(
                "it has format {schema}, of orbit {orbit}, and this version has format {SCHEMA}"
            )));
        }
        if orbit != env!("CARGO_PKG_VERSION") {
            return Err(malformed(format!("it was planned by orbit {orbit}")));
        }
        let job: Job = serde_json::from_slice(&bytes).map_err(unread)?;
        if job.reader_version != READER_VERSION {
            return Err(malformed(String::from(
                "it was planned by a version of orbit that reads games by other rules",
            )));
        }
        if job.hash != job.hash_now() {
            return Err(malformed(String::from("its hash is wrong")));
        }
        let numbered = (1..).zip(&job.parts).all(|(number, part)| part.number == number);
        if job.parts.is_empty() || !numbered {
            return Err(malformed(String::from("its parts are not numbered from 1")));
        }
        let mut behind = 0;
        let follows = |part: &JobPart| match part.blocks {
            Some((first, end)) => first == std::mem::replace(&mut behind, end) && first <= end,
            None => job.parts.len() == 1,
        };
        if !job.parts.iter().all(follows) {
            return Err(malformed(String::from("its parts do not follow each other")));
        }
        Ok(job)
    }

    /// Writes the job to `folder`, which is created if necessary. If the folder contains a job that differs only in its arguments
    /// or its working directory, for example in the names of the output files, the job is replaced, and its parts stay valid.
    ///
    /// # Errors
    ///
    /// Returns [`JobError::Taken`] if the folder contains another job, and other errors if it is not writable.
    pub fn write(&self, folder: &Path) -> Result<(), JobError> {
        match Job::read(folder) {
            Ok(job) if job == *self => return Ok(()),
            Ok(job) if job.hash == self.hash => {}
            Err(JobError::Missing { .. }) => {}
            Ok(_) | Err(JobError::Malformed { .. }) => {
                return Err(JobError::Taken { folder: folder.to_owned() });
            }
            Err(error) => return Err(error),
        }
        let unwritable = |path: &Path, error| JobError::Unwritable { path: path.to_owned(), error };
        let parts = folder.join(PARTS_NAME);
        fs::create_dir_all(&parts).map_err(|error| unwritable(&parts, error))?;
        let path = folder.join(JOB_NAME);
        let mut text = serde_json::to_vec_pretty(self).expect("a job is numbers and texts");
        text.push(b'\n');
        let mut file = OutputFile::create(&path)?;
        file.write_all(&text).map_err(|error| unwritable(&path, error))?;
        file.finish()?;
        // If two jobs are written to the folder concurrently, the last rename wins. So the job is read back.
        match Job::read(folder)?.hash == self.hash {
            true => Ok(()),
            false => Err(JobError::Taken { folder: folder.to_owned() }),
        }
    }

    /// Checks that a request equals the one for which the job was planned.
    ///
    /// # Errors
    ///
    /// Returns [`JobError::Other`] if the requests differ.
    pub fn demand(&self, now: &JobRequest, folder: &Path) -> Result<(), JobError> {
        let then = &self.question;
        let what = if then.sources != now.sources {
            "the sources are others"
        } else if then.request.query != now.request.query {
            "the queries are others"
        } else if then.request != now.request || then.output != now.output {
            "the options are others"
        } else if then.plan != now.plan {
            "the plan is another"
        } else {
            return Ok(());
        };
        Err(JobError::Other { path: folder.join(JOB_NAME), what })
    }

    /// Returns the path of a part's result file.
    pub fn path_of(&self, part: &JobPart, folder: &Path) -> PathBuf {
        folder.join(PARTS_NAME).join(format!("{:05}.part", part.number))
    }
}

/// Returns the XXH3-128 hash of a string as 32 hexadecimal digits.
pub fn hash_text(text: &str) -> String {
    format!("{:032x}", XxHash3_128::oneshot(text.as_bytes()))
}

/// Divides the blocks of reels into about `parts` parts with similar numbers of positions. If there are at least as many reels as
/// parts, reels are not divided. If `parts` is `None`, each of several reels is a part, and a single reel is divided into
/// `PARTS_USUAL` parts. The result has at least one part, and a part is empty only if there are no blocks.
pub fn divide(reels: &[Vec<u64>], parts: Option<usize>) -> Vec<JobPart> {
    // The units that are never divided between parts: reels or, if there are too few of them, blocks.
    let whole_reels: Vec<u64> = reels.iter().map(|blocks| blocks.iter().sum()).collect();
    let blocks: Vec<u64> = reels.iter().flatten().copied().collect();
    let keeps_reels = reels.len() >= parts.unwrap_or(2).max(2);
    let (pieces, sizes): (Vec<u64>, Vec<usize>) = match keeps_reels {
        true => (whole_reels, reels.iter().map(Vec::len).collect()),
        false => (blocks.clone(), vec![1; blocks.len()]),
    };
    let wanted =
        parts.unwrap_or(if keeps_reels { reels.len() } else { PARTS_USUAL }).clamp(1, pieces.len().max(1));
    let total: u64 = pieces.iter().sum();
    let mut out: Vec<JobPart> = Vec::new();
    let (mut first, mut end, mut positions, mut done) = (0, 0, 0, 0);
    for (index, (piece, size)) in pieces.iter().zip(&sizes).enumerate() {
        end += size;
        positions += piece;
        done += piece;
        let left = pieces.len() - index - 1;
        let open = wanted - out.len();
        // A part ends when it has its share of the positions, or when every reel or block that is left is needed for one of the
        // remaining parts, because each part needs at least one.
        let is_share = u128::from(done) * wanted as u128 >= u128::from(total) * (out.len() as u128 + 1);
        if left == 0 || open > 1 && (is_share || left < open) {
            let number = out.len() as u32 + 1;
            out.push(JobPart { number, blocks: Some((first, end)), positions: Some(positions) });
            (first, positions) = (end, 0);
        }
    }
    if out.is_empty() {
        out.push(JobPart { number: 1, blocks: Some((0, 0)), positions: Some(0) });
    }
    out
}

/// The number of parts into which a single reel is divided by default.
const PARTS_USUAL: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_each_other_and_have_all_blocks() {
        let mut random = fastrand::Rng::with_seed(5);
        for _ in 0..2000 {
            let mut reel = |_| (0..random.usize(..9)).map(|_| random.u64(..50)).collect();
            let reels: Vec<Vec<u64>> = (0..5).map(&mut reel).collect();
            let reels = &reels[..random.usize(..6)];
            let wanted = Some(random.usize(..12)).filter(|&parts| parts > 0);
            let parts = divide(reels, wanted);
            let blocks: usize = reels.iter().map(Vec::len).sum();
            let mut next = 0;
            for (number, part) in (1..).zip(&parts) {
                let (first, end) = part.blocks.unwrap();
                assert!(part.number == number && first == next && first <= end);
                let positions: u64 = reels.iter().flatten().skip(first).take(end - first).sum();
                assert_eq!(part.positions, Some(positions));
                next = end;
            }
            assert_eq!(next, blocks, "{reels:?} {parts:?}");
            let pieces = if reels.len() >= wanted.unwrap_or(2).max(2) { reels.len() } else { blocks };
            let most = wanted.unwrap_or(if reels.len() >= 2 { reels.len() } else { PARTS_USUAL });
            assert_eq!(parts.len(), most.min(pieces).max(1), "{reels:?} {wanted:?}");
        }
    }

    #[test]
    fn parts_that_do_not_follow_each_other_are_refused() {
        let read = |blocks: &[Option<(usize, usize)>]| {
            let folder = tempfile::tempdir().unwrap();
            let part = |(number, &blocks)| JobPart { number, blocks, positions: None };
            let question = JobRequest {
                arguments: Vec::new(),
                request: Request::default(),
                output: Value::Null,
                plan: String::new(),
                sources: Vec::new(),
            };
            let parts = (1..).zip(blocks).map(part).collect();
            let job = Job::new(String::new(), question, None, parts);
            job.write(folder.path()).map_err(|error| error.to_string())
        };
        for blocks in [&[None][..], &[Some((0, 0))], &[Some((0, 3)), Some((3, 3)), Some((3, 9))]] {
            read(blocks).unwrap();
        }
        for blocks in [
            &[Some((0, 3)), Some((4, 9))][..],
            &[Some((0, 3)), Some((2, 9))],
            &[Some((1, 3))],
            &[Some((0, 3)), Some((3, 1))],
            &[Some((0, 3)), None],
        ] {
            let error = read(blocks).unwrap_err();
            assert!(error.contains("its parts do not follow each other"), "{blocks:?}: {error}");
        }
    }
}
