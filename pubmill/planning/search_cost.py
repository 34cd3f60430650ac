"""The share of a run that searches for hyper-parameters, and how to do with less."""

from collections import Counter
from collections.abc import Iterable

from pubmill.messages.wording import counted
from pubmill.planning.job import Job
from pubmill.stages import Graph
from pubmill.stages.all_stages import group_of
from pubmill.stages.run_stages import TrialStage

ADVICE = (
    "  fewer: --search own tries only your own models,",
    "         --choice lr=3e-5,batch=32,epochs=20 searches nothing;",
    "         such cells are not compared with published values",
)


def search_lines(jobs: Iterable[Job], graph: Graph) -> list[str]:
    """Return how many of the jobs to do search for hyper-parameters, with which models, and
    what replaces them.

    Jobs are those that a dry run counts as trials: trials, and the choice among them. Without trials there
    are no lines.
    """
    to_do = [job for job in jobs if job.to_do]
    trials = Counter(job.wildcards["model"] for job in to_do if job.rule == TrialStage.name)
    if not trials:
        return []
    searching = sum(group_of(job.rule) == TrialStage.group for job in to_do)
    models = graph.specs.models
    *first, last = (models[name].label or name for name, _ in trials.most_common())
    named = f"{', '.join(first)} and {last}" if first else last
    line = f"{searching:,} of {counted(len(to_do), 'job')}: trials with {named}"
    return [line, *(ADVICE if graph.study.search == "protocol" else ())]
