"""Command that starts a program as one process a GPU, on one machine or on all nodes of a Slurm job."""

FIRST_NODE = (
    '$(scontrol show node "$(squeue -h -j $SLURM_JOB_ID -o %B)" | grep -o "NodeAddr=[^ ]*" | cut -d= -f2)'
)
"""Shell text: the address of a Slurm job's first node. Snakemake leaves only the job's number in the
environment."""


def launcher(nodes: int, processes: int, cores: int) -> str:
    """Return the beginning of a shell command, before a program and its arguments. `processes`: on each node;
    `cores`: of each node's part of a Slurm job, which a job step has only if it requests them again."""
    if nodes == processes == 1:
        return "python"
    torchrun = f"python -m torch.distributed.run --nproc-per-node={processes}"
    if nodes == 1:
        return f"{torchrun} --standalone"
    return (
        f"srun --nodes={nodes} --ntasks={nodes} --ntasks-per-node=1 --cpus-per-task={cores} "
        f"--kill-on-bad-exit=1 {torchrun} --nnodes={nodes} --rdzv-backend=c10d --rdzv-id=$SLURM_JOB_ID "
        f"--rdzv-endpoint={FIRST_NODE}:$((20000 + SLURM_JOB_ID % 20000))"
    )
