"""A recording of a CUDA graph that fails, on a pretended device."""

import pytest
import torch

from pubmill.finetuning.recorded_steps import cuda_recorder
from tests.gpu.pretended_graphs import Graphs


@pytest.fixture
def graphs(monkeypatch: pytest.MonkeyPatch) -> Graphs:
    made = Graphs()
    for name, value in made.functions().items():
        monkeypatch.setattr(torch.cuda, name, value)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    return made


@pytest.mark.parametrize(
    ("cause", "raised", "message"),
    [
        (RuntimeError("operation not permitted"), RuntimeError, "previous error"),
        (torch.OutOfMemoryError("CUDA out of memory"), torch.OutOfMemoryError, "^CUDA out of memory$"),
    ],
)
def test_the_cause_is_raised_if_it_is_too_little_memory(
    graphs: Graphs, cause: Exception, raised: type[Exception], message: str
) -> None:
    """Stream, random numbers and memory are then as before, so that other work can be recorded."""
    record = cuda_recorder()

    def failing() -> None:
        raise cause

    for _ in range(2):
        with pytest.raises(raised, match=message):
            record(failing)
        assert graphs.stream == "usual" and not graphs.generator.state["recording"]
    assert len(graphs.invalidated) == len(set(map(id, graphs.invalidated))) == 2
    replay, made = record(lambda: 3)
    assert made == 3
    replay()
