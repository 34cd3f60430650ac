"""Saves of a running segment, which a thread hashes and writes while the training goes on."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import torch

from pubmill.pretraining.checkpoints import (
    PretrainingProgress,
    Snapshot,
    WeightsOrigin,
    partial_folder,
    take_snapshot,
    write_partial,
)

if TYPE_CHECKING:
    from pubmill.pretraining.engine import Pretraining


class BackgroundSaves:
    """Context manager for the saves of the running segment `output`, which are written one at a time. Until a
    save is complete, the previous one stays. Leaving the context waits for the last save."""

    def __init__(self, output: Path) -> None:
        self.output = output
        self._thread = ThreadPoolExecutor(1, "save")
        self._copies: dict[tuple[str, str], torch.Tensor] = {}
        self._pending: Future[None] | None = None

    def __enter__(self) -> "BackgroundSaves":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.shutdown()
        if error is None:
            self.wait()

    def save(self, work: "Pretraining", progress: PretrainingProgress, origin: WeightsOrigin) -> Path:
        """Copy the state, which the next step may then change, and begin to write it; return the save's
        folder. All processes must call this. Waits for the save before; raises its error."""
        self.wait()
        if snapshot := take_snapshot(work, progress, origin):
            copied, ready = self._copy(snapshot)

            def write() -> None:
                ready()
                write_partial(self.output, copied)

            self._pending = self._thread.submit(write)
        return partial_folder(self.output) / f"step-{progress.step}"

    def check(self) -> None:
        """Raise the error of a save that could not be written, if there is one."""
        if self._pending and self._pending.done():
            self.wait()

    def wait(self) -> None:
        """Wait until the last save is written; raise its error."""
        pending, self._pending = self._pending, None
        if pending:
            pending.result()

    def _copy(self, snapshot: Snapshot) -> tuple[Snapshot, Callable[[], object]]:
        """Return a copy in the host's memory, and a function that waits until it is complete. A GPU copies
        between this step and the next into pinned memory, which the next save uses again."""
        on_gpu = False
        for file, tensors in snapshot.tensors.items():
            for name, tensor in tensors.items():
                on_gpu |= tensor.is_cuda
                if (file, name) not in self._copies:
                    made = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=tensor.is_cuda)
                    self._copies[file, name] = made
                self._copies[file, name].copy_(tensor, non_blocking=True)
        copies = {file: {key: self._copies[file, key] for key in of} for file, of in snapshot.tensors.items()}
        if not on_gpu:
            return replace(snapshot, tensors=copies), lambda: None
        copied = torch.cuda.Event()  # type: ignore[no-untyped-call]
        copied.record()
        return replace(snapshot, tensors=copies), copied.synchronize
