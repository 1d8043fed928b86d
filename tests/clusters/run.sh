#!/usr/bin/env bash
# Jobs on the engines that compute their parts: Ray and Slurm. Actors and tasks are killed or fail, and what is merged must be
# what one run prints.
#
#   tests/clusters/run.sh            both
#   tests/clusters/run.sh ray        one of them
#   tests/clusters/run.sh slurm
#
# Ray is installed in a virtual environment in a temporary folder. Its GPU actors need a Vulkan adapter, which may be one in
# software (mesa-vulkan-drivers). Slurm needs root, and Debian's packages slurmctld, slurmd, slurm-client and munge, which are
# installed where they are missing; its daemons have a configuration of their own and end with the test.
#
# ORBIT_PROGRAM names the program; without it, it is built. ORBIT_WHEELS names a folder with the wheel, as `python/check`
# leaves it; without it, the wheel is built. PYTHON names the interpreter.
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

ray() {
    local python=${PYTHON:-python3} wheels=${ORBIT_WHEELS:-$work/wheels}
    "$python" -m venv "$work/venv"
    local bin=$work/venv/bin
    if ! ls "$wheels"/orbit_chess-*-abi3-*.whl >/dev/null 2>&1; then
        step "the wheel"
        "$bin/pip" install --quiet --disable-pip-version-check 'maturin>=1.16,<2'
        (cd python && CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target} CARGO_PROFILE_DEV_DEBUG=0 \
            "$bin/maturin" build --quiet --locked --out "$wheels")
    fi
    step "Ray"
    local wheel
    wheel=$(ls -t "$wheels"/orbit_chess-*-abi3-*.whl | head -n 1)
    "$bin/pip" install --quiet --disable-pip-version-check "$wheel[ray]" polars pytest
    cp tests/clusters/test_ray.py "$work"
    # In a folder of short names: those of sockets are limited.
    (cd "$work" && ORBIT_ROOT=$root RAY_TMPDIR=$work "$bin/python" -m pytest -q -p no:cacheprovider --durations=5 test_ray.py)
}

slurm() {
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
    step "Slurm"
    tests/clusters/slurm.sh
}

# Installs packages without their daemons being started.
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
    ray | slurm) "$engine" ;;
    *)
        echo "\`$engine\` is none of ray and slurm"
        exit 2
        ;;
    esac
done
step "done"
