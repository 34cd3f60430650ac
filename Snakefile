"""Table of contents: configuration, checks, rules, targets."""

import sys
from pathlib import Path

from snakemake.utils import min_version

min_version("9.0")
# The folder of this file, also if another workflow imports it as a module from a local clone.
ROOT = Path(workflow.current_basedir.get_path_or_uri(secret_free=False))
sys.path.insert(0, str(ROOT))

from pubmill.errors import Plain, plainly
from pubmill.workflow.requested_targets import check_before_graph
from pubmill.planning.gpus import read_gpus
from pubmill.workflow.left_out import announce_left_out
from pubmill.workflow.resources import resources
from pubmill.specs.study import check_files, check_study
from pubmill.graph import VERSIONS, as_arguments, as_json, checked_graph, published_values
from pubmill.workflow.failed_jobs import forget_failed_jobs
from pubmill.workflow.rule_syntax import any_of, not_compared, shell_prefix

forget_failed_jobs()


configfile: ROOT / "config.yaml"


plainly(check_files)(workflow.configfiles)
STUDY, SPECS = plainly(check_study)(config, ROOT / "specs")
GRAPH = plainly(checked_graph)(STUDY, SPECS)
T = Plain(GRAPH)  # its errors end the run with their plain message
R = T.results
needs = resources(GRAPH, read_gpus(ROOT / "specs", ROOT / "benchmarks/pretraining.json"))
check_before_graph(workflow, GRAPH, ROOT / "studies")
SCRIPTS = str(ROOT / "scripts")
shell.prefix(shell_prefix(ROOT, bool(workflow.deployment_settings.deployment_method)))

say_what_is_left_out = announce_left_out(workflow, GRAPH.left_out())


onstart:
    # The system releases the lock if the run is killed, so that the same command can simply be run again.
    global LOCK
    # Imported here because only a run needs it; it imports the hub's library.
    from pubmill.workflow.run_start import begin

    LOCK = plainly(begin)(workflow, GRAPH)
    say_what_is_left_out()


wildcard_constraints:
    **dict.fromkeys(
        ["corpus", "source", "shard", "vocab", "recipe", "model", "dataset", "setting", "trial", "paper"],
        "[^/]+",
    ),
    protocol=any_of(SPECS.protocols),
    table="table[0-9]+",
    seed="[0-9]+",


# Also on a cluster, these run where Snakemake runs: they need the network, which compute nodes seldom have.
localrules:
    download,
    plan_pmc,
    fetch_pmc,
    take_vocab,
    export_model,
    take_model,


rule all:
    default_target: True
    input:
        lambda w: T.publication.everything(),


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


# If another workflow imports this one as a module, Snakemake formats commands with that workflow's names.
workflow.modifier_stack[0].globals.update(SCRIPTS=SCRIPTS, R=R, STUDY=STUDY, MIRROR=MIRROR)
