"""Output of pubmill plan: the answer, then jobs and trainings; sources of the figures are footnotes."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from pubmill.messages.terminal_tables import table, wrapped
from pubmill.messages.wording import counted
from pubmill.planning.plan import Plan, Training, divided, hours
from pubmill.stages import Graph
from pubmill.stages.gpus import Gpus
from pubmill.stages.stage import ASSUMED, stages

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
    """Print what the study costs and leaves out, then its jobs and trainings, the sources of the figures, and
    what is there."""
    to.print(wrapped("\n".join([*answer(plan, gpus), *graph.left_out()]), to.width, ANSWER_INDENT))
    notes = _print_jobs(to, plan)
    _print_trainings(to, "Pretraining", list(plan.pretraining.values()), gpus)
    _print_trainings(to, "Saved by released weights", plan.saved, gpus)
    _print_trainings(to, "Fine-tuning", list(plan.finetuning.values()), gpus)
    notes += _print_batches(to, plan, gpus)
    if plan.pretraining or plan.saved:
        notes.append(f"pretraining: {gpus.share_source('pretraining')}")
    if plan.finetuning:
        notes.append(f"fine-tuning: {gpus.share_source('finetuning')}; {EXAMPLES}")
    to.print(Text("Where the figures come from", style="bold"))
    to.print(wrapped("\n".join(f"  {note}" for note in notes), to.width, hanging=2))
    if plan.runs_there:
        to.print(Text(f"{counted(len(plan.runs_there), 'training')} will not run again", style="bold"))
        to.print("\n".join(f"  {run}" for run in sorted(plan.runs_there)[:SHOWN_RUNS]))
        if (more := len(plan.runs_there) - SHOWN_RUNS) > 0:
            to.print(f"  and {more} more")


def answer(plan: Plan, gpus: Gpus) -> list[str]:
    """Return what the study costs in a few lines, each with what it does not count: hours of one GPU, bytes,
    hours of processors, jobs."""
    by_gpu = sorted(hours(plan.trainings, gpus).items(), key=lambda one: one[1])
    on_gpus = ", ".join(f"{shown(number)} of one {name}" for name, number in by_gpu)
    if lacking := sum(one.unknown for one in plan.trainings):
        on_gpus += f"; not counted: {counted(lacking, 'training')} of unknown size"
    files = counted(plan.files_unknown, "file")
    unknown = f"; not counted: {files} of unknown size" if plan.files_unknown else ""
    fetched = (plan.bytes_known + plan.bytes_assumed) / 1e9
    known = f"{plan.bytes_known / 1e9:,.1f} of known size" if plan.bytes_known else "assumed"
    processors = shown(sum(plan.seconds(rule) or 0 for rule in plan.to_do) / 3600)
    assumed = sum(plan.to_do[rule] for rule, one in plan.each.items() if one == ASSUMED)
    guess = f" ({counted(assumed, 'job')} at {ASSUMED.seconds:g} s, which is assumed)" if assumed else ""
    if plan.trainings and gpus.core:
        on_core = sum(one.operations for one in plan.trainings) / gpus.core / 3600
        guess += f"; without a GPU {shown(on_core)} more"
    return [
        f"GPU-hours:  {on_gpus}" if plan.trainings else "GPU-hours:  none",
        f"CPU-hours:  {processors}{guess}",
        f"to fetch:   {fetched:,.1f} GB ({known}){unknown}",
        f"on disk:    {plan.disk / 1e9:,.1f} GB (assumed){unknown}",
        f"jobs:       {plan.to_do.total():,} to do, {plan.there.total():,} done already",
    ]


def _print_jobs(to: Console, plan: Plan) -> list[str]:
    """Print the jobs of each rule and their seconds; return the sources of these."""
    made = table("rule", "to do", "done", "s a job", "CPU-hours", numbers=range(1, 5))
    by_source: dict[str, list[str]] = {}
    for rule in [*stages(), *sorted(plan.to_do.keys() - stages().keys())]:
        if not plan.to_do[rule] and not plan.there[rule]:
            continue
        each, seconds = plan.each.get(rule), plan.seconds(rule)
        if each:
            by_source.setdefault(each.source, []).append(rule)
        a_job = f"{each.seconds:,.0f}" if each else ""
        cpu_hours = shown(seconds / 3600) if seconds is not None else ""
        made.add_row(rule, f"{plan.to_do[rule]:,}", f"{plan.there[rule]:,}", a_job, cpu_hours)
    to.print(made)
    return [f"seconds of {', '.join(rules)}: {source}" for source, rules in by_source.items()]


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


def recipes_as_markdown(trainings: Sequence[Training], gpus: Gpus) -> list[str]:
    """Return the table of pretraining recipes for the documentation, line by line."""
    heading = ["recipe", "operations", *(f"{name}-hours" for name in gpus.peaks)]
    lines = [f"| {' | '.join(heading)} |", "|---" * len(heading) + "|"]
    for training in trainings:
        cells = [shown(number) for number in hours([training], gpus).values()]
        lines.append(f"| {' | '.join([f'`{training.name}`', f'{training.operations:.1e}', *cells])} |")
    return lines
