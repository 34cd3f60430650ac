"""Errors of a training: those that would recur, and those that may pass."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from pubmill.errors import PubmillError, StopRequestedError

LONGEST = 300
PASSING = (MemoryError, ImportError, StopRequestedError, torch.OutOfMemoryError)
MACHINE = ("out of memory", "can't allocate memory", "cuda error", "cudnn", "cublas", "nccl", "no space left")
"""Parts of error messages that concern the machine: its memory, disk or GPUs."""
BAD_INDEX = "device-side assert"
"""Part of CUDA's message on an index out of range, which is no fault of the machine."""


class TrainingFailedError(PubmillError):
    """A training failed, and would fail again with the same model, data and recipe."""


@contextmanager
def lasting_errors(public: bool) -> Iterator[None]:
    """Raise lasting errors as a `TrainingFailedError`. Messages of other libraries may quote the data, so
    they are left out unless the data are `public`."""
    try:
        yield
    except Exception as error:
        if not is_lasting(error):
            raise
        if not isinstance(error, PubmillError):
            traceback.print_exc()
        raise TrainingFailedError(_reason(error, public)) from None


def is_lasting(error: Exception) -> bool:
    """Return whether repeating the same training would raise this error again. Errors of memory, disk and
    GPU, missing libraries and requests to stop may not recur; all others would."""
    if isinstance(error, OSError):
        return error.errno is None  # not by the system: transformers refuses a folder
    text = str(error).lower()
    on_machine = any(part in text for part in MACHINE) and BAD_INDEX not in text
    return not isinstance(error, PASSING) and not on_machine


def _reason(error: Exception, public: bool) -> str:
    text = " ".join(str(error).split())
    if not isinstance(error, PubmillError):
        place = traceback.extract_tb(error.__traceback__)[-1]
        text = text if public else f"{Path(place.filename).name}:{place.lineno}"
        text = f"{type(error).__name__}: {text}"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
