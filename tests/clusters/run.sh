#!/usr/bin/env bash
# Tests jobs whose parts are computed by Ray or by Slurm. Ray actors are killed, and Slurm tasks fail. The merged output must
# equal the output of a single run.
#
#   tests/clusters/run.sh            tests both
#   tests/clusters/run.sh ray        tests Ray
#   tests/clusters/run.sh slurm      tests Slurm
#   tests/clusters/run.sh planted    plants faults into the package and the scripts, and demands that the tests fail
#
# Ray is installed in a virtual environment in a temporary folder. Its GPU actors need a Vulkan adapter, which may be a software
# adapter (mesa-vulkan-drivers). Slurm needs root, and Debian's packages slurmctld, slurmd, slurm-client and munge. Missing
# packages are installed. The Slurm daemons get their own configuration and end with the test.
#
# ORBIT_PROGRAM names the program; if it is not set, the program is built. ORBIT_WHEELS names a folder with the wheel, as
# `python/check` leaves it; if it is not set, the wheel is built. PYTHON names the interpreter.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD

step() {
    printf '\n== %s (%s s)\n' "$*" "$SECONDS"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
engines=("$@")
[ $# -gt 0 ] || engines=(ray slurm)

ray_is_installed() {
    [ ! -e "$work/venv" ] || return 0
    local python=${PYTHON:-python3} wheels=${ORBIT_WHEELS:-$work/wheels}
    "$python" -m venv "$work/venv"
    local bin=$work/venv/bin
    if ! ls "$wheels"/orbit_chess-*-abi3-*.whl >/dev/null 2>&1; then
        step "the wheel"
        "$bin/pip" install --quiet --disable-pip-version-check 'maturin>=1.16,<2'
        (cd python && CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target} CARGO_PROFILE_DEV_DEBUG=0 \
            "$bin/maturin" build --quiet --locked --features full --out "$wheels")
    fi
    step "Ray and the wheel"
    local wheel
    wheel=$(ls -t "$wheels"/orbit_chess-*-abi3-*.whl | head -n 1)
    "$bin/pip" install --quiet --disable-pip-version-check "$wheel[ray]" polars pytest
    cp tests/clusters/test_ray.py "$work"
}

# The tests run in a folder with a short path, because the paths of Ray's sockets have a maximum length. On a busy machine, Ray by
# default kills workers if other processes use the memory, and gives workers a low priority, so that they wait for all other
# processes. Both are turned off.
ray_tests() {
    (cd "$work" && ORBIT_ROOT=$root RAY_TMPDIR=$work RAY_memory_monitor_refresh_ms=0 RAY_worker_niceness=0 venv/bin/python -m pytest -q -p no:cacheprovider test_ray.py "$@")
}

ray() {
    ray_is_installed
    step "Ray"
    ray_tests --durations=5
}

slurm_is_installed() {
    local packages=() tool
    for tool in slurmctld slurmd munged:munge sbatch:slurm-client; do
        PATH=$PATH:/usr/sbin command -v "${tool%:*}" >/dev/null || packages+=("${tool#*:}")
    done
    if [ ${#packages[@]} -gt 0 ]; then
        if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
            echo "missing: ${packages[*]}; as root on Debian they are installed"
            exit 1
        fi
        step "Slurm from Debian: ${packages[*]}"
        install_quietly "${packages[@]}"
    fi
    [ "$(id -u)" = 0 ] || { echo "the daemons of Slurm start the tasks of their users: run this as root"; exit 1; }
    if [ -z "${ORBIT_PROGRAM:-}" ]; then
        step "the program"
        cargo build --quiet --bin orbit
        export ORBIT_PROGRAM=${CARGO_TARGET_DIR:-target}/debug/orbit
    fi
}

slurm() {
    slurm_is_installed
    step "Slurm"
    tests/clusters/slurm.sh
}

# Each fault is an edit of a file in the package, with the name of a test that must fail after the edit.
planted() {
    ray_is_installed
    slurm_is_installed
    local package name edit test
    package=$("$work/venv/bin/python" -I -c 'import orbit_chess; print(orbit_chess.__path__[0])')
    while IFS='|' read -r name file edit test; do
        step "planted: $name"
        cp "$package/$file" "$work/kept"
        sed -i "$edit" "$package/$file"
        cmp -s "$package/$file" "$work/kept" && { echo "FAULT: nothing to edit in $file"; exit 1; }
        ray_tests -k "$test" >"$work/planted.log" 2>&1 && { echo "MISSED: $name: $test passes"; exit 1; }
        grep -q '^FAILED' "$work/planted.log" || { cat "$work/planted.log"; exit 1; }
        cp "$work/kept" "$package/$file"
        echo "caught by $test"
    done <<'FAULTS'
rows come as they are done|ray.py|s/index = given if in_order else next(iter(done))/index = next(iter(done))/; s/while given in done if in_order else done:/while done:/|test_few_parts_are_computed_ahead
parts are computed without bound|ray.py|s/ if in_order else len(tasks)$/ if not in_order else len(tasks)/|test_few_parts_are_computed_ahead
a process outlives its actor|_child.py|s/PR_SET_PDEATHSIG, signal.SIGKILL/PR_SET_PDEATHSIG, 0/|test_a_process_ends_with_its_actor
a part whose process died is not begun anew|ray.py|s/retry_exceptions=\[_Died\]/retry_exceptions=False/|test_killed_midway
a part of an actor that is gone is left out|ray.py|s/lost\[index\] <= self._retries/lost[index] < 0/|test_killed_midway
the card is not asked for|ray.py|s/_JobPart(place, threads, "gpu")/_JobPart(place, threads, "cpu")/|test_graphics_cards
FAULTS
    step "planted: a task that failed is not queued again"
    ORBIT_PLANTED='s/scontrol requeue/false/' tests/clusters/slurm.sh >"$work/planted.log" 2>&1 &&
        { echo "MISSED: tests/clusters/slurm.sh passes"; exit 1; }
    grep '^FAULT' "$work/planted.log"
    step "planted: with the last task all others are queued again"
    ORBIT_PLANTED='s/scontrol requeue .* &&/scontrol requeue $SLURM_JOB_ID \&\&/' tests/clusters/slurm.sh >"$work/planted.log" 2>&1 &&
        { echo "MISSED: tests/clusters/slurm.sh passes"; exit 1; }
    grep '^FAULT' "$work/planted.log"
}

# Installs packages without starting their daemons.
install_quietly() {
    local policy=/usr/sbin/policy-rc.d
    if [ ! -e $policy ]; then
        printf '#!/bin/sh\nexit 101\n' >$policy
        chmod 755 $policy
        trap 'rm -rf "$work" /usr/sbin/policy-rc.d' EXIT
    fi
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

for engine in "${engines[@]}"; do
    case $engine in
    ray | slurm | planted) "$engine" ;;
    *)
        echo "\`$engine\` is none of ray, slurm and planted"
        exit 2
        ;;
    esac
done
step "done"
