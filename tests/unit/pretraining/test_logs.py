"""Lines of the log of a pretraining, and the progress that they print."""

import sys
from pathlib import Path

import pytest

from pubmill.pretraining.segments import event_writer, log_line, means, progress_line, write_events
from pubmill.recipes.objectives import Term

TERMS = (Term("mlm", 1.0, "masked"), Term("nsp", 0.5, "pairs", chooses=True))
SUMS = {
    "masked": 4, "mlm_loss": 8.0, "pairs": 2, "nsp_loss": 3.0, "nsp_correct": 1, "cut": 7, "tokens": 60,
    "padded": 80, "flops": 500.0, "seconds": 2.0,
}  # fmt: skip


def test_losses_are_means_per_label_and_weigh_as_the_objective_says() -> None:
    assert means(TERMS, SUMS) == {"mlm_loss": 2.0, "nsp_loss": 1.5, "nsp_accuracy": 0.5}
    line = log_line(TERMS, SUMS, 10, 1e-4, 1000.0)
    assert line == {
        "step": 10, "loss": 2.75, "mlm_loss": 2.0, "nsp_loss": 1.5, "nsp_accuracy": 0.5,
        "learning_rate": 1e-4,
        "cut_tokens": 7, "padding": 0.25, "tokens_per_second": 30.0, "mfu": 0.25,
    }  # fmt: skip


def test_a_term_without_labels_has_no_mean_and_adds_nothing() -> None:
    sums = SUMS | {"pairs": 0, "nsp_loss": 0.0, "nsp_correct": 0}
    assert means(TERMS, sums) == {"mlm_loss": 2.0, "nsp_loss": None, "nsp_accuracy": None}
    assert log_line(TERMS, sums, 10, 1e-4, 1000.0)["loss"] == 2.0


def test_progress_estimates_the_time_left_from_the_time_spent() -> None:
    line = log_line(TERMS, SUMS | {"tokens": 2468.0}, 10, 1e-4, 1000.0)
    assert progress_line(line, 40, 100, 600.0) == (
        "step 10/40 (of 100)  loss 2.750  1,234 tokens/s  MFU 25%  30 min left"
    )


def test_tensorboard_shows_every_measure_that_has_a_value(tmp_path: Path) -> None:
    board = event_writer(tmp_path, 0)
    write_events(board, {"step": 3, "loss": 2.5, "nsp_loss": None})
    [events] = tmp_path.iterdir()
    assert b"loss" in events.read_bytes()  # before it is closed: training may be killed
    board.close()
    assert b"nsp_loss" not in events.read_bytes() and b"step" not in events.read_bytes()


def test_without_tensorboard_the_log_alone_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    assert event_writer(tmp_path / "events", 1) is None
    assert "no TensorBoard here (pip install tensorboard): log.jsonl alone" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
