"""Output of pubmill plan."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from pubmill.messages.stage_groups import GROUPS, OTHER
from pubmill.planning.plan import Plan, Training, hours
from pubmill.planning.terminal_tables import table
from pubmill.stages import Graph
from pubmill.stages.gpus import Gpus

SHOWN_RUNS = 20


def shown(number: float) -> str:
    """Format hours; an estimate deserves no more than two digits."""
    return f"{number:,.0f}" if number >= 10 else f"{number:.1f}"


def print_plan(to: Console, plan: Plan, graph: Graph, gpus: Gpus) -> None:
    """Print stages, bytes and trainings, then finished trainings and what the study leaves out."""
    _print_stages(to, plan)
    _print_bytes(to, plan)
    source = "; ".join([gpus.share_source("pretraining"), *_sources(plan, "pretraining")])
    _print_trainings(to, "Pretraining", list(plan.pretraining.values()), gpus, source)
    saved = f"not run, because these weights were released; {gpus.share_source('pretraining')}"
    _print_trainings(to, "Saved by released weights", plan.saved, gpus, saved)
    examples = "number of examples: from the specs; tokens per example, and that all epochs run: assumed"
    sources = "; ".join([gpus.share_source("finetuning"), examples, *_sources(plan, "finetuning")])
    _print_trainings(to, "Fine-tuning", list(plan.finetuning.values()), gpus, sources)
    if plan.runs_there:
        more = len(plan.runs_there) - SHOWN_RUNS
        to.print(
            Text(
                f"\n{len(plan.runs_there)} trainings are finished already and will not run again",
                style="bold",
            )
        )
        for run in sorted(plan.runs_there)[:SHOWN_RUNS]:
            to.print(f"  {run}")
        if more > 0:
            to.print(f"  and {more} more")
    for line in graph.left_out():
        to.print(line)


def _print_stages(to: Console, plan: Plan) -> None:
    made = table("stage", "jobs to do", "done already", "CPU-hours", "source")
    for stage in (*GROUPS, OTHER):
        if plan.to_do[stage] or plan.there[stage]:
            made.add_row(
                stage,
                f"{plan.to_do[stage]:,}",
                f"{plan.there[stage]:,}",
                shown(plan.seconds.get(stage, 0.0) / 3600),
                "; ".join(_sources(plan, stage)),
            )
    total = plan.to_do.total(), plan.there.total(), shown(sum(plan.seconds.values()) / 3600)
    made.add_row("all", f"{total[0]:,}", f"{total[1]:,}", total[2], "")
    to.print(made)


def _sources(plan: Plan, stage: str) -> list[str]:
    return sorted(plan.sources.get(stage, ()))


def _print_bytes(to: Console, plan: Plan) -> None:
    to.print(
        f"to download: {plan.bytes_known / 1e9:.2f} GB (sizes known), {plan.bytes_assumed / 1e9:.1f} GB "
        f"(sizes assumed), and {plan.files_unknown:,} files of unknown size"
    )
    to.print(f"on disk: {plan.disk / 1e9:.1f} GB (assumed), and the files of unknown size")


def _print_trainings(
    to: Console, heading: str, trainings: Sequence[Training], gpus: Gpus, sources: str
) -> None:
    if not trainings:
        return
    made = table(heading, "jobs", "operations", *(f"{name}-hours" for name in gpus.peaks))
    for training in (*trainings, None):
        some = [training] if training else trainings
        jobs = f"{sum(one.jobs for one in some):,}"
        unknown = sum(one.unknown for one in some)
        made.add_row(
            training.name if training else "all",
            f"{jobs} ({unknown:,} of unknown size)" if unknown else jobs,
            f"{sum(one.operations for one in some):.1e}",
            *(shown(number) for number in hours(some, gpus).values()),
        )
    to.print(made)
    to.print(f"hours of one GPU; {sources}")


def recipes_as_markdown(trainings: Sequence[Training], gpus: Gpus) -> list[str]:
    """Return the table of pretraining recipes for the documentation, line by line."""
    heading = ["recipe", "operations", *(f"{name}-hours" for name in gpus.peaks)]
    lines = [f"| {' | '.join(heading)} |", "|---" * len(heading) + "|"]
    for training in trainings:
        found = [shown(number) for number in hours([training], gpus).values()]
        lines.append(f"| {' | '.join([f'`{training.name}`', f'{training.operations:.1e}', *found])} |")
    return lines
