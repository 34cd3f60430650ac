"""Precision: `auto` is bfloat16 only where the device has it, and asking is obeyed or refused."""

from pathlib import Path

import pytest
import torch

from pubmill.errors import PubmillError
from pubmill.hardware import precision
from pubmill.hardware.precision import choose_precision, cpu_flags

CPU, GPU = torch.device("cpu"), torch.device("cuda")


@pytest.mark.parametrize(
    "flags, expected",
    [
        ({"avx2", "avx512_bf16"}, "bfloat16"),
        ({"amx_bf16"}, "bfloat16"),
        ({"asimd", "bf16"}, "bfloat16"),
        ({"avx2", "avx512f"}, "float32"),
        (set(), "float32"),
    ],
)
def test_auto_follows_the_processor(monkeypatch: pytest.MonkeyPatch, flags: set[str], expected: str) -> None:
    monkeypatch.setattr(precision, "cpu_flags", lambda: flags)
    assert choose_precision("auto", CPU) == expected
    assert choose_precision("float32", CPU) == "float32"
    assert choose_precision("bfloat16", CPU) == "bfloat16"


@pytest.mark.parametrize("native", [True, False])
def test_a_gpu_that_only_emulates_bfloat16_does_not_count(
    monkeypatch: pytest.MonkeyPatch, native: bool
) -> None:
    monkeypatch.setattr(
        torch.cuda, "is_bf16_supported", lambda including_emulation=True: native or including_emulation
    )
    assert choose_precision("auto", GPU) == ("bfloat16" if native else "float32")
    assert choose_precision("float32", GPU) == "float32"
    if native:
        assert choose_precision("bfloat16", GPU) == "bfloat16"
    else:
        with pytest.raises(PubmillError, match="no bfloat16"):
            choose_precision("bfloat16", GPU)


@pytest.mark.parametrize(
    "text, flag",
    [("processor\t: 0\nflags\t\t: fpu avx512_bf16\n", "avx512_bf16"), ("Features\t: fp bf16\n", "bf16")],
)
def test_flags_are_read_as_linux_lists_them(tmp_path: Path, text: str, flag: str) -> None:
    (tmp_path / "cpuinfo").write_text(text)
    assert flag in cpu_flags(tmp_path / "cpuinfo")
    assert cpu_flags(tmp_path / "elsewhere") == set()
