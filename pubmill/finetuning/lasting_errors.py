"""Errors of a training: those by the fault of model, recipe or data, which would recur, and all others, which
count as the machine's."""

import errno
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from pubmill.errors import PubmillError, StopRequestedError

LONGEST = 300
PASSING = (MemoryError, ImportError, StopRequestedError, torch.OutOfMemoryError)
LASTING = (
    PubmillError, ValueError, LookupError, TypeError, AttributeError, AssertionError, ArithmeticError,
    NotImplementedError,
)  # fmt: skip
"""Errors that code raises for what it was given."""
MACHINE = ("memory", "bad_alloc", "cuda error", "cudnn", "cublas", "nccl", "no space left", "os error")
"""Parts of error messages that concern the machine: its memory, disk or GPUs."""
BAD_INDEX = "device-side assert"
"""Part of CUDA's message on an index out of range, which is no fault of the machine."""
SHAPES = (BAD_INDEX, "size of tensor", "size mismatch", "shapes cannot be", "must match", "out of range")
"""Parts of messages of `RuntimeError` on tensors that do not fit one another."""


class TrainingFailedError(PubmillError):
    """A training failed, and would fail again with the same model, data and recipe."""


class MachineError(PubmillError):
    """A training failed for lack of memory or another fault of the machine; another try may succeed."""


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
        raise TrainingFailedError(reason_of(error, public)) from None


def is_lasting(error: BaseException) -> bool:
    """Return whether model, recipe or data are known to cause an error, so that repeating the same training
    would raise it again. What a fault of the machine led to, while it was handled, is none."""
    cause: BaseException | None = error
    while cause:
        text = str(cause).lower()
        named = any(part in text for part in MACHINE) and BAD_INDEX not in text
        of_system = isinstance(cause, OSError) and cause.errno not in (None, errno.ENOENT)
        if of_system or named or isinstance(cause, (*PASSING, MachineError)):
            return False
        cause = cause.__context__
    if isinstance(error, OSError):
        return error.errno is None  # not by the system: transformers refuses a folder
    of_shapes = isinstance(error, RuntimeError) and any(part in str(error).lower() for part in SHAPES)
    return of_shapes or isinstance(error, LASTING)


def reason_of(error: Exception, public: bool) -> str:
    """Return an error in one line, without the message of a library unless the data are `public`."""
    text = " ".join(str(error).split())
    if not isinstance(error, PubmillError):
        place = traceback.extract_tb(error.__traceback__)[-1]
        text = text if public else f"{Path(place.filename).name}:{place.lineno}"
        text = f"{type(error).__name__}: {text}"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
