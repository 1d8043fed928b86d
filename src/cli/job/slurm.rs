//! `orbit job slurm`: scripts that compute the parts of a job as a job array, and merge them when all are there.

use std::io::Write as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use orbit_chess::internals::files::OutputFile;

use super::Opened;
use crate::cli::common::{Out, from_one, write_whole};
use crate::cli::{Exit, Failure};

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

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let Opened { job, folder } = Opened::here(&args.folder)?;
    let parts = job.parts.len();
    let tasks = args.array.map_or(parts, NonZeroUsize::get).min(parts);
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("orbit"));
    let (orbit, place) = (quoted(&program)?, quoted(&folder)?);
    let logs = format!("{}/slurm-%x-%A_%a.log", folder.display());
    let cpus = args.cpus;
    let array = format!(
        "#!/bin/sh\n#SBATCH --job-name=orbit-parts\n#SBATCH --array=1-{tasks}\n#SBATCH --cpus-per-task={cpus}\n\
         #SBATCH --requeue\n#SBATCH --output={logs}\n\
         # Each task computes every part that is its own and is not complete yet.\n\
         exec {orbit} job part -q -j {cpus} \"$SLURM_ARRAY_TASK_ID/{tasks}\" {place}\n"
    );
    let merge = format!(
        "#!/bin/sh\n#SBATCH --job-name=orbit-merge\n#SBATCH --cpus-per-task=1\n#SBATCH --output={0}/merge.log\n\
         set -eu\n\
         # What one run would print is in merged.out once it is complete.\n\
         {orbit} job merge {place} > {place}/merged.tmp\n\
         mv {place}/merged.tmp {place}/merged.out\n",
        folder.display()
    );
    let submit = format!(
        "#!/bin/sh\nset -eu\n\
         parts=$(sbatch --parsable {place}/parts.sh)\n\
         sbatch --dependency=\"afterok:${{parts%%;*}}\" {place}/merge.sh\n"
    );
    let mut out = Out::new();
    for (name, text) in [("parts.sh", array), ("merge.sh", merge), ("submit.sh", submit)] {
        let path = folder.join(name);
        write_whole(OutputFile::create(&path)?, |file| file.write_all(text.as_bytes()))?;
        out.line(format_args!("{}", args.folder.join(name).display()))?;
    }
    out.finish()?;
    Ok(Exit::Done)
}

/// A path as a word of the shell.
fn quoted(path: &Path) -> Result<String, Failure> {
    match path.to_str().filter(|text| !text.contains('\n')) {
        Some(text) => Ok(format!("'{}'", text.replace('\'', r"'\''"))),
        None => Err(Failure::Other(format!(
            "{} cannot be written into a script: give the folder another name",
            path.display()
        ))),
    }
}
