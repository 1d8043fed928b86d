#!/usr/bin/env bash
# Computes a job as a Slurm array of 16 tasks, two of which fail and are queued again. A Slurm job that depends on the array
# merges the parts. The merged output must equal the output of a single run. `tests/clusters/run.sh` runs this script.
#
# Starts munged, slurmctld and slurmd as root, with their own configuration in a temporary folder, and ends them.
# ORBIT_PROGRAM names the program. ORBIT_PLANTED is a sed command that plants a fault in the task script, which this test must
# detect.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
orbit=$(realpath "${ORBIT_PROGRAM:?names no program}")
export PATH=$PATH:/usr/sbin

work=$(mktemp -d)
# The maximum wait for an event, in seconds. It is longer than any event takes on a busy machine.
patience=600
# The process id of each daemon, by the name of the daemon.
declare -A daemons=()
# Ends a daemon, and waits for it.
stop() {
    local process=${daemons[$1]:-}
    [ -n "$process" ] || return 0
    kill "$process" 2>/dev/null || true
    for _ in $(seq 100); do kill -0 "$process" 2>/dev/null || break; sleep 0.1; done
    kill -KILL "$process" 2>/dev/null || true
    wait "$process" 2>/dev/null || true
    unset "daemons[$1]"
}
end() {
    code=$?
    set +e
    scancel --quiet --full --signal=KILL --me 2>/dev/null || true
    for name in slurmctld slurmd munged; do stop $name; done
    [ $code = 0 ] || for log in "$work"/*.log "$work"/it*/out/*.log; do echo "-- $log"; tail -n 20 "$log"; done
    rm -rf "$work"
    exit $code
}
trap end EXIT
# If the reader of the output closes the pipe, this script must still continue, to end the daemons.
trap '' PIPE
fail() {
    echo "FAULT: $*"
    exit 1
}
# Waits until a command succeeds.
until_true() {
    local end=$((SECONDS + patience))
    until "$@"; do
        [ $SECONDS -lt $end ] || fail "in vain for $patience s: $*"
        sleep 0.1
    done
}

# This run has its own key, controller and node.
chmod 755 "$work"
head -c 1024 /dev/urandom >"$work/munge.key"
chmod 400 "$work/munge.key"
munged --force --key-file="$work/munge.key" --socket="$work/munge.socket" --pid-file="$work/munged.pid" \
    --log-file="$work/munged.log" --seed-file="$work/munge.seed"
daemons[munged]=$(cat "$work/munged.pid")
host=$(hostname -s)
# Writes the configuration, with two ports that are free now.
configure() {
    local ports
    ports=$(python3 -c '
import socket
both = [socket.create_server(("", 0)) for _ in range(2)]
print(*(each.getsockname()[1] for each in both))')
    rm -rf "$work/state" "$work/spool"
    mkdir "$work/state" "$work/spool"
    cat >"$work/slurm.conf" <<CONF
ClusterName=orbit
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmctldPort=${ports% *}
SlurmdPort=${ports#* }
AuthType=auth/munge
# A task that is queued again waits until its credential has expired.
AuthInfo=socket=$work/munge.socket,cred_expire=5
CryptoType=crypto/munge
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
ReturnToService=2
KillWait=1
# The states of ended jobs are read later, on a slow machine much later.
MinJobAge=36000
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
}
export SLURM_CONF=$work/slurm.conf
is_gone() { ! kill -0 "${daemons[slurmctld]}" 2>/dev/null || ! kill -0 "${daemons[slurmd]}" 2>/dev/null; }
is_idle() { [[ $(sinfo --noheader --format=%T 2>/dev/null) == *idle* ]]; }
is_decided() { is_gone || is_idle; }
# A daemon ends if another program has taken its port in the meantime. Both daemons are then restarted with other ports.
for try in $(seq 5); do
    configure
    for name in slurmctld slurmd; do
        $name -D -f "$SLURM_CONF" </dev/null >>"$work/start.log" 2>&1 &
        daemons[$name]=$!
    done
    until_true is_decided
    is_gone || break
    [ "$try" -lt 5 ] || fail "a daemon has ended $try times"
    for name in slurmctld slurmd; do stop $name; done
done
sinfo --version

# The job folder has a name that the scripts must quote.
here="$work/it's a folder, 100%"
mkdir -p "$here/games"
cd "$here"
for name in $(seq 32); do cp "$root/games/sample.pgn" "games/$name.pgn"; done
"$orbit" index -q --shards 1K games -o db/
asked=(-F jsonl 'shift flip flipcolor {Nd4 kf3}' db)
"$orbit" scan -q "${asked[@]}" >expected
"$orbit" job plan "${asked[@]}" -o out/
"$orbit" job slurm out/ --array 16
[ -z "${ORBIT_PLANTED:-}" ] || sed -i "$ORBIT_PLANTED" out/parts.sh

# The files of parts 5 and 16 cannot be written until their tasks have been queued again. The last task has the job id of the
# whole array: if it is queued again, the other tasks must not be.
mkdir out/parts/00005.part out/parts/00016.part
sh out/submit.sh | tee submitted
merge=$(sed -n 's/^Submitted batch job //p' submitted)
state() { squeue --noheader --states=all --jobs="$1" --format=%T 2>/dev/null; }
ended() { state "$merge" | grep -qE 'COMPLETED|FAILED|CANCELLED|TIMEOUT'; }
queued_again() { grep -qs "task $1 ended with code 2 and is queued again" out/slurm-*_"$1".log; }
queued_again_or_ended() { queued_again "$1" || ended; }
for task in 5 16; do
    until_true queued_again_or_ended $task
    queued_again $task || fail "task $task was not queued again"
    rmdir "out/parts/$(printf %05d $task).part"
done
until_true ended
[ "$(state "$merge")" = COMPLETED ] || fail "the job that merges: $(state "$merge")"
cmp expected out/merged.out || fail "what is merged is not what one run prints"
[ -s expected ] || fail "nothing hits"
[ "$(ls out/parts | wc -l)" = 16 ] || fail "$(ls out/parts)"
array=$(basename out/slurm-*_1.log _1.log) array=${array#slurm-}
for task in $(seq 16); do
    wanted=0
    case $task in 5 | 16) wanted=1 ;; esac
    queued=$(scontrol show job "${array}_$task" | sed -n 's/.*Restarts=\([0-9]*\).*/\1/p')
    [ "$((queued > 0))" = "$wanted" ] || fail "task $task was queued again $queued times"
done
echo "16 tasks, two of them queued again: merged to the bytes of one run"

# The file of part 7 can never be written. Its task is queued again three times, and the merge reports the missing part.
rm out/parts/00007.part out/merged.out out/merge.log
mkdir out/parts/00007.part
sh out/submit.sh | tee submitted
merge=$(sed -n 's/^Submitted batch job //p' submitted)
until_true ended
[ "$(state "$merge")" = FAILED ] || fail "the job that merges: $(state "$merge")"
grep -q '^part 7: ' out/merge.log || fail "$(cat out/merge.log)"
[ ! -e out/merged.out ] || fail "a merge without part 7"
[ "$(cat out/slurm-*_7.log | grep -c 'queued again')" = 3 ] || fail "$(cat out/slurm-*_7.log)"
echo "a part that cannot be written: queued again three times, and told"

# If the same scripts are submitted again, they compute only the missing part.
rmdir out/parts/00007.part
sh out/submit.sh | tee submitted
merge=$(sed -n 's/^Submitted batch job //p' submitted)
until_true ended
cmp expected out/merged.out || fail "what is merged is not what one run prints"
echo "submitted anew: merged to the bytes of one run"
