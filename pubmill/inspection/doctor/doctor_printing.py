"""Output of the doctor: the answer, then a line for each dataset and model, then what to do."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from pubmill.hardware.compilers import compiler_fault
from pubmill.inspection.doctor.diagnoses import DatasetFinding
from pubmill.inspection.doctor.links import Links
from pubmill.inspection.doctor.model_diagnoses import ModelFinding, gpus_here
from pubmill.messages.terminal_tables import BAD, DIM, GOOD, table
from pubmill.messages.wording import counted

FROM = {
    "results": "taken already",
    "mirror": "in the mirror",
    "local_files": "files of your own",
    "network": "from the network",
    "absent": "not there",
}

STATES = {True: ("ready", GOOD), False: ("NOT AVAILABLE", BAD), None: ("to be fetched", DIM)}


def print_summary(
    to: Console, findings: Sequence[DatasetFinding], models: Sequence[ModelFinding], links: Links | None
) -> None:
    """Print how many of the study's datasets and models are ready, and whether links were checked."""
    wanted = [finding for finding in findings if finding.wanted]
    sound = {"dataset": [one.sound for one in wanted], "model": [one.sound for one in models]}
    parts = [f"{sum(some)} of {counted(len(some), noun)}" for noun, some in sound.items() if some]
    all_sound = all(map(all, sound.values()))
    of_study = f"{' and '.join(parts)} of the study" if parts else "the study needs no data"
    to.print(Text(f"Ready, to be fetched or to be trained: {of_study}", style=GOOD if all_sound else BAD))
    if links is not None and not links.network:
        to.print("There is no network: no host answers, so links were not checked.")
    if links is None:
        to.print("Links were not checked (--offline).")


def print_findings(to: Console, findings: Sequence[DatasetFinding], verbose: bool = False) -> None:
    """Print the datasets of the study and what to do; `verbose`: also licences, and the other datasets."""
    wanted = [finding for finding in findings if finding.wanted]
    others = [finding for finding in findings if not finding.wanted]
    _print_datasets(to, "dataset", wanted, verbose)
    if verbose:
        _print_datasets(to, "other dataset", others, verbose)
    elif others:
        to.print(f"{counted(len(others), 'other dataset')} and all licences: -v", style=DIM)


def _print_datasets(to: Console, heading: str, findings: Sequence[DatasetFinding], verbose: bool) -> None:
    if not findings:
        return
    made = table(heading, "state", "files", "counts")
    for finding in findings:
        word, style = STATES[finding.available]
        files = ", ".join(f"{number} {FROM[where]}" for where, number in finding.sources.items() if number)
        counts = Text(finding.counts, style={True: GOOD, False: BAD, None: DIM}[finding.counted])
        made.add_row(finding.dataset, Text(word, style), files or "none", counts)
    to.print(made)
    lines: list[tuple[str, str]] = []
    for finding in findings:
        own = [f"{finding.spec.access}; licence: {finding.spec.licence}"] if verbose else []
        own += [f"dead link: {link}" for link in finding.dead]
        own += [f"to do: {what}" for what in finding.to_do]
        lines += [(line, finding.dataset) for line in own]
    _print_together(to, lines)


def _print_together(to: Console, lines: Sequence[tuple[str, str]]) -> None:
    """Print each line once, after the names that it is about."""
    names: dict[str, list[str]] = {}
    for line, name in lines:
        names.setdefault(line, []).append(name)
    for line, about in names.items():
        to.print(f"{', '.join(about)}: {line}", soft_wrap=True)


def print_models(to: Console, findings: Sequence[ModelFinding]) -> None:
    """Print a table of the models of the study's tables, and what to do; nothing if it has none."""
    if not findings:
        return
    made = table("model", "state", "source")
    for finding in findings:
        made.add_row(finding.model, Text(finding.state, STATES[finding.available][1]), finding.source)
    to.print(made)
    _print_together(to, [(f"to do: {one.to_do}", one.model) for one in findings if one.to_do])


def print_machine(to: Console) -> None:
    """Print which GPUs this machine has, and whether it has what compiles kernels for them."""
    gpus = gpus_here()
    found = Text(", ".join(gpus), style=GOOD) if gpus else Text("none here", style=DIM)
    to.print(Text.assemble("GPU: ", found, "" if gpus else ": trainings run on processors, far slower"))
    fault = compiler_fault()
    word, style = STATES[not fault]
    to.print(Text.assemble("C compiler for kernels of GPUs: ", (word, style)))
    if fault:
        to.print(f"    {fault}", soft_wrap=True)
