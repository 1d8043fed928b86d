//! Implements `orbit job slurm`, which writes Slurm scripts that compute the parts of a job as a job array, and merge the parts
//! when all are complete.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use super::OpenedJob;
use crate::common::{Out, from_one};
use crate::failure::{Exit, Failure};
use crate::sink::Sink;
use orbit_core::text::shell_quoted;
use orbit_search::job::OnePartReason;

/// The maximum number of times that a failed task is requeued.
const REQUEUES_MAX: u32 = 3;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The folder of the job.
    folder: PathBuf,
    /// Compute the parts in N tasks; a task computes every N-th part [default: a task for each part].
    #[arg(long, value_name = "N", value_parser = from_one::<NonZeroUsize>)]
    array: Option<NonZeroUsize>,
    /// Give each task N cores.
    #[arg(long, value_name = "N", default_value = "1", value_parser = from_one::<NonZeroUsize>)]
    cpus: NonZeroUsize,
}

pub(super) fn run(args: &Args, program: &[OsString]) -> Result<Exit, Failure> {
    let OpenedJob { job, folder, .. } = OpenedJob::here(&args.folder)?;
    if job.whole == Some(OnePartReason::Stream) {
        let why = "Slurm's tasks have no standard input: save the games to a file, and plan the job again";
        return Err(Failure::Other(why.into()));
    }
    let parts = job.parts.len();
    let tasks = args.array.map_or(parts, NonZeroUsize::get).min(parts);
    let orbit: Vec<String> =
        program.iter().map(|word| quoted(Path::new(word))).collect::<Result<_, Failure>>()?;
    let (orbit, place, cpus) = (orbit.join(" "), quoted(&folder)?, args.cpus);
    let log = |name: &str| format!("\"{}/{name}\"", folder.display().to_string().replace('%', "%%"));
    let array = format!(
        "#!/bin/sh\n#SBATCH --job-name=orbit-parts\n#SBATCH --array=1-{tasks}\n#SBATCH --cpus-per-task={cpus}\n\
         #SBATCH --requeue\n#SBATCH --open-mode=append\n#SBATCH --output={log}\n\
         # Computes every part that is this task's own and is not complete yet.\n\
         {orbit} job part -q -j {cpus} \"$SLURM_ARRAY_TASK_ID/{tasks}\" {place}\n\
         code=$?\n\
         # A task that fails is queued again, up to {REQUEUES_MAX} times; one that was cancelled is not.\n\
         case $code in 0 | 130 | 143) exit $code ;; esac\n\
         if [ \"${{SLURM_RESTART_COUNT:-0}}\" -lt {REQUEUES_MAX} ]; then\n\
         \x20   echo \"task $SLURM_ARRAY_TASK_ID ended with code $code and is queued again\"\n\
         \x20   # Slurm ends the task while it waits.\n\
         \x20   scontrol requeue \"${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID\" && sleep 60\n\
         fi\n\
         exit $code\n",
        log = log("slurm-%A_%a.log"),
    );
    let merge = format!(
        "#!/bin/sh\n#SBATCH --job-name=orbit-merge\n#SBATCH --cpus-per-task=1\n#SBATCH --output={log}\n\
         # Where parts are missing, this says which, and submit.sh computes them.\n\
         {orbit} job status {place} || exit\n\
         # What one run would print is in merged.out once it is complete; the exit code is that of one run.\n\
         {orbit} job merge {place} > {place}/merged.tmp\n\
         code=$?\n\
         case $code in 0 | 1 | 3) mv {place}/merged.tmp {place}/merged.out || exit ;; esac\n\
         exit $code\n",
        log = log("merge.log"),
    );
    let submit = format!(
        "#!/bin/sh\n# Options are handed to sbatch: sh submit.sh --partition=short\nset -eu\n\
         parts=$(sbatch --parsable \"$@\" {place}/parts.sh)\n\
         # However its tasks end: what is missing then is told.\n\
         sbatch --dependency=\"afterany:${{parts%%;*}}\" \"$@\" {place}/merge.sh\n"
    );
    let mut out = Out::new();
    for (name, text) in [("parts.sh", array), ("merge.sh", merge), ("submit.sh", submit)] {
        let path = folder.join(name);
        Sink::create(&path)?.write_whole(text.as_bytes())?;
        out.line(format_args!("{}", args.folder.join(name).display()))?;
    }
    out.finish()?;
    Ok(Exit::Done)
}

/// Quotes a path, so that it is a single word for the shell.
fn quoted(path: &Path) -> Result<String, Failure> {
    match path.to_str().filter(|text| !text.contains('\n')) {
        Some(text) => Ok(shell_quoted(text)),
        None => Err(Failure::Other(format!(
            "{} cannot be written into a script: give the folder another name",
            path.display()
        ))),
    }
}
