"""Output of the doctor."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from pubmill.hardware.compilers import compiler_fault
from pubmill.inspection.doctor.dataset_diagnoses import DatasetFinding
from pubmill.inspection.doctor.links import Links
from pubmill.inspection.doctor.model_diagnoses import ModelFinding
from pubmill.messages.wording import counted
from pubmill.planning.terminal_tables import BAD, DIM, GOOD

FROM = {
    "results": "taken already",
    "mirror": "in the mirror",
    "local_files": "files of your own",
    "network": "from the network",
    "absent": "not there",
}

MODEL_WORDS = {
    True: ("available", GOOD),
    False: ("NOT AVAILABLE", BAD),
    None: ("to be fetched", DIM),
}


def print_findings(to: Console, findings: Sequence[DatasetFinding], links: Links | None) -> None:
    """Print the datasets that the study uses, then the others, then a summary."""
    wanted = [finding for finding in findings if finding.wanted]
    others = [finding for finding in findings if not finding.wanted]
    for heading, chosen in (("Datasets that the study uses", wanted), ("Other datasets", others)):
        if chosen:
            to.print(Text(f"\n{heading}", style="bold"))
        for finding in chosen:
            _print_finding(to, finding)
    if links is not None and not links.network:
        to.print("\nThere is no network: no host answers, so links were not checked.")
    if links is None:
        to.print("\nLinks were not checked (--offline).")
    sound = sum(finding.sound for finding in wanted)
    to.print(f"\nIn order: {sound} of {counted(len(wanted), 'dataset')} that the study uses")


def print_models(to: Console, findings: Sequence[ModelFinding]) -> None:
    """Print the models of the study's tables; nothing if it has none."""
    if findings:
        to.print(Text("\nModels that the study uses", style="bold"))
    for finding in findings:
        word, style = MODEL_WORDS[finding.available]
        to.print(Text.assemble((finding.model, "bold"), ": ", (word, style), f" ({finding.source})"))
        if finding.to_do:
            to.print(f"    to do: {finding.to_do}", soft_wrap=True)


def print_compiler(to: Console) -> None:
    """Print whether this machine has what compiles kernels for a GPU."""
    fault = compiler_fault()
    word, style = ("NOT AVAILABLE", BAD) if fault else ("available", GOOD)
    to.print(Text.assemble("\n", ("C compiler for kernels of GPUs", "bold"), ": ", (word, style)))
    if fault:
        to.print(f"    {fault}", soft_wrap=True)


def _print_finding(to: Console, finding: DatasetFinding) -> None:
    word, style = {
        True: ("available", GOOD),
        False: ("NOT AVAILABLE", BAD),
        None: ("available if its links are alive", DIM),
    }[finding.available]
    files = (
        ", ".join(f"{number} {FROM[where]}" for where, number in finding.sources.items() if number) or "none"
    )
    counts = Text(finding.counts, style={True: GOOD, False: BAD, None: DIM}[finding.counted])
    to.print(Text.assemble((finding.dataset, "bold"), ": ", (word, style), f" (files: {files}); ", counts))
    lines = [f"{finding.spec.access}; licence: {finding.spec.licence}"]
    lines += [f"dead link: {link}" for link in finding.dead]
    lines += [f"to do: {what}" for what in finding.to_do]
    for line in lines:
        to.print(f"    {line}", soft_wrap=True)
