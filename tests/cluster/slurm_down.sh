#!/usr/bin/env bash
# Stop what slurm_up.sh started (by its pid files only), and remove its folder.
#   SLURM_ROOT=FOLDER tests/cluster/slurm_down.sh
ROOT=${SLURM_ROOT:?the folder that slurm_up.sh was given}
export SLURM_CONF=$ROOT/etc/slurm.conf
alive() { [ -s "$1" ] && kill -0 "$(cat "$1" 2> /dev/null)" 2> /dev/null; }
stop() { # PIDFILE...: ask all, wait three seconds, then kill
    local file
    for file in "$@"; do alive "$file" && kill "$(cat "$file")" 2> /dev/null; done
    for _ in $(seq 1 30); do
        local left=0
        for file in "$@"; do alive "$file" && left=1; done
        [ $left = 0 ] && break
        sleep 0.1
    done
    for file in "$@"; do alive "$file" && kill -9 "$(cat "$file")" 2> /dev/null; done
}
alive "$ROOT/run/slurmctld.pid" && timeout 5 scancel --quiet --user "$(id -un)" 2> /dev/null && sleep 0.5
shopt -s nullglob
stop "$ROOT"/run/slurmd.*.pid "$ROOT/run/slurmctld.pid"
stop "$ROOT/run/munged.pid"
for conf in /etc/slurm/*.conf; do
    [ -L "$conf" ] && [[ "$(readlink "$conf")" == "$ROOT"/* ]] && rm -f "$conf"
done
rm -rf "$ROOT"
