"""Table of contents: configuration, checks, rules, targets."""

import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version

min_version("9.9")
# The folder of this file, also if another workflow imports it as a module from a local clone.
ROOT = Path(str(workflow.current_basedir))
if not ROOT.is_dir():
    raise WorkflowError(
        f"pubmill runs from a clone on this machine; clone it, and name its Snakefile instead of {ROOT}"
    )
sys.path.insert(0, str(ROOT))

from pubmill.hardware.slurm import launcher
from pubmill.messages.installation import own_settings
from pubmill.stages import as_arguments, published_values
from pubmill.stages.stage import run_of
from pubmill.storage.result_paths import table_of, table_stem
from pubmill.workflow.preparation import any_of, prepare, untracked, wildcard_patterns


configfile: ROOT / "config.yaml"


for settings in own_settings(ROOT):

    configfile: settings


STUDY, SPECS, graph, PREFIX, begin, end = prepare(workflow, config, ROOT)
shell.prefix(PREFIX)
SOURCES, PARSED = graph.paths.sources(), graph.paths.parsed()
CORPUS = graph.paths.corpus("{corpus}")
# A job on several files of a source writes a manifest; the files are named by the specs (pubmill/storage/blocks.py).
BLOCK = "blocks/{source}/{block}.json"


onstart:
    # The system releases the lock if the run is killed, so that the same command can simply be run again.
    global LOCK
    LOCK = begin()


onsuccess:
    end()


# For --sdm apptainer; without it Snakemake ignores the image.
container: STUDY.container


wildcard_constraints:
    **wildcard_patterns(SPECS.protocols),


# Also on a cluster, these run where Snakemake runs: they need the network, which compute nodes seldom have.
localrules:
    download,
    take_local,
    fetch_files,
    plan_pmc,
    fetch_pmc,
    take_vocab,
    pin_weights,
    export_model,
    take_model,


rule all:
    default_target: True
    input:
        lambda w: graph.scope.everything(),


include: "rules/sources.smk"
include: "rules/corpus.smk"
include: "rules/selection.smk"
include: "rules/vocabs.smk"
include: "rules/pretraining.smk"
include: "rules/datasets.smk"
include: "rules/finetuning.smk"
include: "rules/predictions.smk"
include: "rules/tables.smk"
include: "rules/report.smk"


for extra in sorted((ROOT / "rules" / "extras").glob("*.smk")):

    include: str(extra)
