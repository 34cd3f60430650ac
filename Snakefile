"""Table of contents: configuration, checks, rules, targets."""

import re
import shlex
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version

min_version("9.0")
# Of this file, also where another workflow imports it as a module from a local clone.
ROOT = Path(workflow.current_basedir.get_path_or_uri(secret_free=False))
sys.path.insert(0, str(ROOT))

from pubmill.errors import PubmillError
from pubmill.files import lock
from pubmill.inspection.gpus import read_gpus
from pubmill.inspection.resources import resources
from pubmill.study import check_files, check_study
from pubmill.targets import Targets, as_json
from pubmill.targets.failed_jobs import forget_failed_jobs

forget_failed_jobs()


configfile: ROOT / "config.yaml"


try:
    check_files(workflow.configfiles)
    STUDY, SPECS = check_study(config, ROOT / "specs")
    T = Targets(STUDY, SPECS)
except PubmillError as error:
    raise WorkflowError(str(error)) from None

R = T.results
needs = resources(T, read_gpus(ROOT / "specs", ROOT / "benchmarks/pretraining.json"))
SCRIPTS = str(ROOT / "scripts")
# The programs run with the Python of this Snakemake, unless an environment of their own is asked for (--sdm).
OWN_PYTHON = f"PATH={shlex.quote(str(Path(sys.executable).parent))}:$PATH"
shell.prefix(
    f"set -euo pipefail; export PYTHONUNBUFFERED=1 PYTHONPATH={shlex.quote(str(ROOT))} "
    f"{'' if workflow.deployment_settings.deployment_method else OWN_PYTHON}; "
)


def plainly(find):
    """An input function whose `PubmillError` ends the run as it stands, not wrapped into a traceback."""

    def find_or_end(wildcards):
        try:
            return find(wildcards)
        except PubmillError as error:
            sys.exit(f"pubmill: error: {error}")

    return find_or_end


onstart:
    # Freed by the system if the run is killed, so that the same command can simply be run again.
    global LOCK
    LOCK = lock(Path(R) / ".lock")
    # Here, as only a run needs it, and the hub's library with it: all that is missing at once, not job by job.
    from pubmill.inspection.dag import jobs_in
    from pubmill.inspection.needed import needed, out_of_reach

    if missing := out_of_reach(needed((j for j in jobs_in(workflow.dag) if j.to_do), T), STUDY.mirror):
        advice = (
            "Fetch them on a machine with a network connection (python scripts/mirror.py STUDY --fetch FOLDER), "
            "and set `mirror:` and HF_HUB_CACHE"
        )
        sys.exit("\n".join(["pubmill: error: files are out of reach:", *missing, advice]))
    run = getattr(workflow.scheduler._executor, "run_uuid", None)  # the name of all its jobs in Slurm
    if run:
        from pubmill.inspection.left_jobs import begin_run

        try:
            begin_run(Path(R), run)
        except PubmillError as error:
            sys.exit(f"pubmill: error: {error}")
    for line in T.left_out():
        print(line, file=sys.stderr)


wildcard_constraints:
    corpus="[^/]+",
    source="[^/]+",
    shard="[^/]+",
    vocab="[^/]+",
    recipe="[^/]+",
    model="[^/]+",
    dataset="[^/]+",
    protocol="|".join(map(re.escape, SPECS.protocols)) or "(?!)",
    setting="[^/]+",
    trial="[^/]+",
    paper="[^/]+",
    table="table[0-9]+",
    seed="[0-9]+",


# Run where Snakemake runs, also on a cluster: they need the network, which compute nodes seldom have.
localrules:
    download,
    plan_pmc,
    fetch_pmc,
    take_vocab,
    export_model,


rule all:
    default_target: True
    input:
        plainly(lambda w: T.everything()),


include: "rules/sources.smk"
include: "rules/locks.smk"
include: "rules/corpus.smk"
include: "rules/pmc.smk"
include: "rules/selection.smk"
include: "rules/vocabs.smk"
include: "rules/pretraining.smk"
include: "rules/datasets.smk"
include: "rules/finetuning.smk"
include: "rules/off_the_shelf.smk"
include: "rules/tables.smk"


# Where another workflow imports this one as a module, Snakemake words commands with that workflow's names.
workflow.modifier_stack[0].globals.update(SCRIPTS=SCRIPTS, R=R, STUDY=STUDY, MIRROR=MIRROR)
