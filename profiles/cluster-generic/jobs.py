"""Submit, query and cancel jobs of SGE, PBS or LSF, for Snakemake's executor plugin cluster-generic.

    jobs.py submit NAME CORES MEMORY_MB MINUTES GPUS SCRIPT    prints the job's id
    jobs.py status ID                                          prints running, success or failed
    jobs.py cancel ID ...

The system is the one whose commands there are. It needs only the standard library, of any Python from 3.8.
Set here what your cluster calls otherwise: the parallel environment (`smp`), memory (`mem_free`) and GPUs
(`gpu`) of SGE; add a queue or project where your cluster needs it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

RUNNING, SUCCESS, FAILED = "running", "success", "failed"


def main() -> None:
    verb, *words = sys.argv[1:]
    system = the_system()
    if verb == "submit":
        name, cores, memory, minutes, gpus, script = words
        print(submit(system, name, int(cores), int(memory), int(minutes), int(gpus), script))
    elif verb == "status":
        print(status(system, *words))
    else:
        sys.exit(subprocess.call([{"lsf": "bkill"}.get(system, "qdel"), *words]))


def the_system() -> str:
    """Return the system by a command that only it has."""
    for system, command in (("lsf", "bsub"), ("pbs", "pbsnodes"), ("sge", "qconf")):
        if shutil.which(command):
            return system
    sys.exit("neither LSF (bsub) nor PBS (pbsnodes) nor SGE (qconf) is on this machine")


def submit(system: str, name: str, cores: int, memory: int, minutes: int, gpus: int, script: str) -> str:
    """Submit a script, in the current folder and environment; return the id of its job."""
    name = "pubmill-" + name
    if system == "sge":
        each = -(-memory // cores)  # SGE counts memory by slot
        line = ["qsub", "-terse", "-cwd", "-V", "-S", "/bin/sh", "-j", "y", "-o", "/dev/null", "-N", name]
        line += ["-pe", "smp", str(cores), "-l", f"h_rt={60 * minutes},mem_free={each}M"]
        line += ["-l", f"gpu={gpus}"] if gpus else []
    elif system == "pbs":
        chunk = f"select=1:ncpus={cores}:mem={memory}mb" + (f":ngpus={gpus}" if gpus else "")
        time = f"walltime={minutes // 60}:{minutes % 60:02d}:00"
        line = ["qsub", "-V", "-S", "/bin/sh", "-j", "oe", "-o", "/dev/null", "-N", name[:15]]
        line += ["-l", chunk, "-l", time]
    else:
        line = ["bsub", "-J", name, "-o", "/dev/null", "-n", str(cores), "-W", str(minutes)]
        line += ["-M", f"{memory}MB", "-R", f"span[hosts=1] rusage[mem={memory}MB]"]
        line += ["-gpu", f"num={gpus}"] if gpus else []
    answer = output([*line, script])
    if answer is None:
        sys.exit(1)  # the command has printed why
    found = re.search(r"<(\d+)>" if system == "lsf" else r"(\S+)", answer)
    if not found:
        sys.exit(f"{line[0]} printed no id of a job: {answer.strip()}")
    return found[1]


def status(system: str, job: str) -> str:
    """Return the state of a job; one that the system does not know, because its accounting is late, is
    running."""
    if system == "lsf":
        answer = output(["bjobs", "-noheader", "-o", "stat", job]) or ""
        return {"DONE": SUCCESS, "EXIT": FAILED}.get(answer.strip(), RUNNING)
    if system == "pbs":
        answer = output(["qstat", "-x", "-f", job]) or output(["qstat", "-f", job]) or ""
        code = re.search(r"(?i)exit_status = (-?\d+)", answer)
        if not re.search(r"job_state = [FC]\b", answer):
            return RUNNING
        return SUCCESS if code and code[1] == "0" else FAILED
    answer = output(["qstat", "-j", job])
    if answer is not None:
        return FAILED if re.search(r"(?m)^error reason", answer) else RUNNING
    answer = output(["qacct", "-j", job])
    if answer is None:
        return RUNNING
    codes = re.findall(r"(?m)^(?:exit_status|failed)\s+(\d+)", answer)
    return SUCCESS if codes and set(codes) == {"0"} else FAILED


def output(line: list[str]) -> str | None:
    """Return what a command prints, or None if it fails."""
    try:
        return subprocess.run(line, stdout=subprocess.PIPE, check=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None


if __name__ == "__main__":
    main()
