"""Precision: `auto` is the fastest format that the device has, and asking is obeyed or refused."""

from pathlib import Path

import pytest
import torch

from pubmill.errors import PubmillError
from pubmill.hardware import precision
from pubmill.hardware.precision import autocast, choose_precision, cpu_flags

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
    assert choose_precision("float16", CPU) == "float16"


@pytest.mark.parametrize(
    ("native", "capability", "expected"),
    [
        (True, (9, 0), "bfloat16"),
        (False, (7, 5), "float16"),
        (False, (7, 0), "float16"),
        (False, (6, 1), "float32"),
    ],
)
def test_a_gpu_that_only_emulates_bfloat16_has_float16_if_it_has_tensor_cores(
    monkeypatch: pytest.MonkeyPatch, native: bool, capability: tuple[int, int], expected: str
) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    monkeypatch.setattr(
        torch.cuda, "is_bf16_supported", lambda including_emulation=True: native or including_emulation
    )
    assert choose_precision("auto", GPU) == expected
    assert choose_precision("float32", GPU) == "float32"
    assert choose_precision("float16", GPU) == "float16"
    if native:
        assert choose_precision("bfloat16", GPU) == "bfloat16"
    else:
        with pytest.raises(PubmillError, match="no bfloat16; ask for float16"):
            choose_precision("bfloat16", GPU)


@pytest.mark.parametrize("precision", ["float32", "bfloat16", "float16"])
def test_products_are_computed_in_the_format(precision: str) -> None:
    with autocast(CPU, precision):
        product = torch.ones(2, 2) @ torch.ones(2, 2)
    assert product.dtype == getattr(torch, precision)


@pytest.mark.parametrize(
    "text, flag",
    [("processor\t: 0\nflags\t\t: fpu avx512_bf16\n", "avx512_bf16"), ("Features\t: fp bf16\n", "bf16")],
)
def test_flags_are_read_as_linux_lists_them(tmp_path: Path, text: str, flag: str) -> None:
    (tmp_path / "cpuinfo").write_text(text)
    assert flag in cpu_flags(tmp_path / "cpuinfo")
    assert cpu_flags(tmp_path / "elsewhere") == set()
