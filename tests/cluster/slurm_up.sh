#!/usr/bin/env bash
# Start a throw-away Slurm on this host: as root, without systemd, on the loopback device only. Needs Debian's
# packages slurm-wlm and munge. Several node daemons, each with made-up GPUs (character devices).
#   SLURM_ROOT=FOLDER [NODES=3 CPUS=2 MEM=20000 GPUS=2] tests/cluster/slurm_up.sh
#   . FOLDER/env.sh; sinfo
set -euo pipefail
ROOT=${SLURM_ROOT:?name an empty folder for it}; N=${NODES:-3}; CPUS=${CPUS:-2}; MEM=${MEM:-20000}; GPUS=${GPUS:-2}
HOST=$(hostname -s)
mkdir -p "$ROOT"/{spool,state,log,run,etc,gpu,munge}; chmod 755 "$ROOT"
export SLURM_CONF=$ROOT/etc/slurm.conf
for i in $(seq 0 $((GPUS - 1))); do mknod "$ROOT/gpu/nvidia$i" c 1 3; done
(umask 077; dd if=/dev/urandom of="$ROOT/munge/munge.key" bs=1 count=1024 status=none)
munged --force --socket="$ROOT/munge/sock" --key-file="$ROOT/munge/munge.key" --pid-file="$ROOT/run/munged.pid" \
    --log-file="$ROOT/log/munged.log" --seed-file="$ROOT/munge/seed"
cat > "$SLURM_CONF" <<CONF
ClusterName=pubmill
SlurmctldHost=$HOST(127.0.0.1)
SlurmctldPort=${SLURMCTLD_PORT:-6817}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$ROOT/munge/sock
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/filetxt
JobCompLoc=$ROOT/log/jobs.log
StateSaveLocation=$ROOT/state
SlurmdSpoolDir=$ROOT/spool/%n
SlurmctldPidFile=$ROOT/run/slurmctld.pid
SlurmdPidFile=$ROOT/run/slurmd.%n.pid
SlurmctldLogFile=$ROOT/log/slurmctld.log
SlurmdLogFile=$ROOT/log/slurmd.%n.log
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SlurmdParameters=config_overrides
SlurmdTimeout=10
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2,sched_min_interval=0
ReturnToService=2
KillWait=10
OverTimeLimit=0
MinJobAge=300
MailProg=/bin/true
TaskProlog=$ROOT/etc/task_prolog.sh
GresTypes=gpu
NodeName=node[1-$N] NodeHostname=$HOST NodeAddr=127.0.0.1 Port=[17001-$((17000 + N))] CPUs=$CPUS CoresPerSocket=$CPUS RealMemory=$MEM Gres=gpu:$GPUS State=UNKNOWN
PartitionName=cpu Nodes=ALL Default=YES MaxTime=1-00:00:00 State=UP
PartitionName=gpu Nodes=ALL MaxTime=1-00:00:00 State=UP
CONF
printf 'Name=gpu File=%s/gpu/nvidia[0-%d]\n' "$ROOT" $((GPUS - 1)) > "$ROOT/etc/gres.conf"
# `disabled` is known from Slurm 23.02 on; before it a real one must be named, which then stays idle.
case "$(slurmd -V | sed 's/[^0-9]*//')" in 2[0-2].*) CGROUPS=cgroup/v1 ;; *) CGROUPS=disabled ;; esac
printf 'CgroupPlugin=%s\n' "$CGROUPS" > "$ROOT/etc/cgroup.conf"
chmod 644 "$ROOT"/etc/*.conf
# The GPUs are made up, so each task computes on the processor: without this, training refuses to, as it should.
printf '#!/bin/sh\necho export CUDA_VISIBLE_DEVICES=NoDevFiles\n' > "$ROOT/etc/task_prolog.sh"
chmod 755 "$ROOT/etc/task_prolog.sh"
# Snakemake takes SLURM_CONF out of the environment of a job's inner srun, which then looks here.
install -d /etc/slurm
for conf in "$ROOT"/etc/*.conf; do ln -sfn "$conf" "/etc/slurm/$(basename "$conf")"; done

slurmctld -c -f "$SLURM_CONF"
for i in $(seq 1 "$N"); do mkdir -p "$ROOT/spool/node$i"; slurmd -N "node$i" -f "$SLURM_CONF"; done
printf 'export SLURM_CONF=%q\n' "$SLURM_CONF" > "$ROOT/env.sh"
for _ in $(seq 1 120); do
    if [ "$(sinfo -h -t idle -o %D -p cpu 2> /dev/null)" = "$N" ]; then exit 0; fi
    sleep 0.25
done
echo "Slurm did not come up" >&2
tail -n 20 "$ROOT"/log/*.log >&2
exit 1
