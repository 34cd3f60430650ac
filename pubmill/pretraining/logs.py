"""Progress of a pretraining: lines of log.jsonl, TensorBoard events, messages on the terminal."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pubmill.messages.progress import report_progress
from pubmill.recipes.objectives import Term

Line = dict[str, float | int | None]


def means(terms: Iterable[Term], sums: Mapping[str, float]) -> Line:
    """Return the mean loss of each term and, if it has labels, its accuracy; None without labels."""
    line: Line = {}
    for term in terms:
        count = sums[term.per]
        line[f"{term.name}_loss"] = sums[f"{term.name}_loss"] / count if count else None
        if term.chooses:
            line[f"{term.name}_accuracy"] = sums[f"{term.name}_correct"] / count if count else None
    return line


def log_line(terms: tuple[Term, ...], sums: Mapping[str, float], step: int, rate: float, peak: float) -> Line:
    """Return a log line: means over the steps of `sums`; `peak`: the device's operations per second."""
    averages, seconds = means(terms, sums), sums["seconds"]
    loss = sum(term.weight * (averages[f"{term.name}_loss"] or 0.0) for term in terms)
    return {
        **{"step": step, "loss": loss, **averages, "learning_rate": rate},
        "cut_tokens": int(sums["cut"]),
        "padding": 1 - sums["tokens"] / sums["padded"],
        "tokens_per_second": sums["tokens"] / seconds,
        "mfu": sums["flops"] / seconds / peak,
    }


class TensorBoard:
    """Write log lines as TensorBoard events to a folder; do nothing if TensorBoard is not installed."""

    def __init__(self, folder: Path, step: int) -> None:
        self.writer: Any = None
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            report_progress("no TensorBoard here (pip install tensorboard): log.jsonl alone is written")
            return
        self.writer = SummaryWriter(str(folder), purge_step=step)

    def add(self, line: Line) -> None:
        """Write a line's numbers at its step."""
        if self.writer is None:
            return
        for name, value in line.items():
            if name != "step" and value is not None:
                self.writer.add_scalar(name, value, line["step"])
        self.writer.flush()

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()


def progress_line(line: Line, to: int, steps: int, seconds: float) -> str:
    """Return the progress as text; `seconds`: time spent so far."""
    step = int(line["step"] or 0)
    left = (to - step) * seconds / step
    return (
        f"step {step}/{to} (of {steps})  loss {line['loss']:.3f}  "
        f"{line['tokens_per_second']:,.0f} tokens/s  MFU {line['mfu']:.0%}  {left / 60:.0f} min left"
    )
