"""Output of pubmill plan: the answer, then stages and trainings; sources of the figures are footnotes."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from pubmill.messages.stage_groups import GROUPS, OTHER
from pubmill.messages.wording import counted
from pubmill.planning.batch_plan import divided
from pubmill.planning.plan import Plan, Training, hours
from pubmill.planning.terminal_tables import table, wrapped
from pubmill.stages import Graph
from pubmill.stages.gpus import Gpus

SHOWN_RUNS = 20
ANSWER_INDENT = 12
"""Width of the words before the figures of the answer, at which its lines continue."""
PARTS = (
    "parts of a batch: with fused attention, activations fill at most half of a GPU's memory, and one part "
    "follows another, which changes no result; layers and width: of the recipe, of the model's configuration "
    "if they are here, or of `size:` in the spec"
)
UNKNOWN_PARTS = "parts of a batch: unknown where inputs are as long as a model whose weights are not here"
EXAMPLES = "number of examples: from the specs; tokens per example, and that all epochs run: assumed"


def shown(number: float) -> str:
    """Format hours: whole from 10 on, else with two digits; `<0.01` for less than that."""
    if number >= 10:
        return f"{number:,.0f}"
    if 0 < number < 0.01:
        return "<0.01"
    return f"{number:.1f}" if number >= 1 or not number else f"{number:.2g}"


def print_plan(to: Console, plan: Plan, graph: Graph, gpus: Gpus) -> None:
    """Print what the study costs, then stages and trainings, sources, and what is there or left out."""
    to.print(wrapped("\n".join(answer(plan, gpus)), to.width, ANSWER_INDENT))
    notes = _print_stages(to, plan)
    pretraining = f"pretraining: {gpus.share_source('pretraining')}"
    finetuning = f"fine-tuning: {gpus.share_source('finetuning')}; {EXAMPLES}"
    _print_trainings(to, "Pretraining", list(plan.pretraining.values()), gpus)
    _print_trainings(to, "Saved by released weights", plan.saved, gpus)
    _print_trainings(to, "Fine-tuning", list(plan.finetuning.values()), gpus)
    notes += _print_batches(to, plan, gpus)
    notes += [pretraining] if plan.pretraining or plan.saved else []
    notes += [finetuning] if plan.finetuning else []
    notes += [f"{use}: {taken}" for use, sources in plan.trained.items() for taken in sorted(sources)]
    unknown = sum(one.unknown for one in (*plan.pretraining.values(), *plan.finetuning.values()))
    notes += [f"{counted(unknown, 'training')} of unknown size not in the hours"] if unknown else []
    to.print(Text("Where the figures come from", style="bold"))
    to.print(wrapped("\n".join(f"  {note}" for note in notes), to.width, hanging=2))
    _print_finished(to, plan)
    for line in graph.left_out():
        to.print(wrapped(line, to.width))


def answer(plan: Plan, gpus: Gpus) -> list[str]:
    """Return what the study costs in a few lines: hours of one GPU, bytes, hours of processors, jobs."""
    trainings = [*plan.pretraining.values(), *plan.finetuning.values()]
    by_gpu = sorted(hours(trainings, gpus).items(), key=lambda one: one[1])
    on_gpus = ", ".join(f"{shown(number)} of one {name}" for name, number in by_gpu)
    unknown = f" and {counted(plan.files_unknown, 'file')} of unknown size" if plan.files_unknown else ""
    fetched = (plan.bytes_known + plan.bytes_assumed) / 1e9
    known = f"{plan.bytes_known / 1e9:,.1f} of known size" if plan.bytes_known else "assumed"
    processors = shown(sum(plan.seconds.values()) / 3600)
    return [
        f"GPU-hours:  {on_gpus}" if trainings else "GPU-hours:  none",
        f"CPU-hours:  {processors}",
        f"to fetch:   {fetched:,.1f} GB ({known}){unknown}",
        f"on disk:    {plan.disk / 1e9:,.1f} GB (assumed){unknown}",
        f"jobs:       {plan.to_do.total():,} to do, {plan.there.total():,} done already",
    ]


def _print_stages(to: Console, plan: Plan) -> list[str]:
    """Print the stages; return the sources of their CPU-hours."""
    made = table("stage", "to do", "done", "CPU-hours", numbers=range(1, 4))
    for stage in (*GROUPS, OTHER):
        if plan.to_do[stage] or plan.there[stage]:
            hours_of_stage = shown(plan.seconds[stage] / 3600) if stage in plan.seconds else ""
            made.add_row(stage, f"{plan.to_do[stage]:,}", f"{plan.there[stage]:,}", hours_of_stage)
    to.print(made)
    by_source: dict[str, list[str]] = {}
    for stage, sources in plan.sources.items():
        for source in sorted(sources):
            by_source.setdefault(source, []).append(stage)
    return [f"CPU-hours of {', '.join(stages)}: {source}" for source, stages in by_source.items()]


def _print_trainings(to: Console, heading: str, trainings: Sequence[Training], gpus: Gpus) -> None:
    if not trainings:
        return
    made = table(f"{heading}: GPU-hours", "jobs", *gpus.peaks, numbers=range(1, 2 + len(gpus.peaks)))
    for training in (*trainings, None):
        some = [training] if training else trainings
        made.add_row(
            training.name if training else "all",
            f"{sum(one.jobs for one in some):,}",
            *(shown(number) for number in hours(some, gpus).values()),
        )
    to.print(made)


def _print_batches(to: Console, plan: Plan, gpus: Gpus) -> list[str]:
    """Print which batches of the longest inputs a GPU computes in parts or not at all; return the sources."""
    rows, numbers = divided(plan.batches, gpus), range(1, 2 + len(gpus.memory))
    heading = "Fine-tuning: parts of a batch of the longest inputs"
    made = table(heading, "layers x width", *gpus.memory, numbers=numbers)
    for batch, parts in rows:
        name = f"{batch.protocol}: {batch.inputs} of {batch.length:,} tokens"
        cells = ("too large" if one is None else str(one) for one in parts)
        made.add_row(name, f"{batch.layers} x {batch.hidden}", *cells)
    if rows:
        to.print(made)
    unknown = any(one.length is None for one in plan.batches)
    return [*([PARTS] if rows else []), *([UNKNOWN_PARTS] if unknown else [])]


def _print_finished(to: Console, plan: Plan) -> None:
    if not plan.runs_there:
        return
    to.print(Text(f"{counted(len(plan.runs_there), 'training')} will not run again", style="bold"))
    for run in sorted(plan.runs_there)[:SHOWN_RUNS]:
        to.print(f"  {run}")
    if (more := len(plan.runs_there) - SHOWN_RUNS) > 0:
        to.print(f"  and {more} more")


def recipes_as_markdown(trainings: Sequence[Training], gpus: Gpus) -> list[str]:
    """Return the table of pretraining recipes for the documentation, line by line."""
    heading = ["recipe", "operations", *(f"{name}-hours" for name in gpus.peaks)]
    lines = [f"| {' | '.join(heading)} |", "|---" * len(heading) + "|"]
    for training in trainings:
        cells = [shown(number) for number in hours([training], gpus).values()]
        lines.append(f"| {' | '.join([f'`{training.name}`', f'{training.operations:.1e}', *cells])} |")
    return lines
