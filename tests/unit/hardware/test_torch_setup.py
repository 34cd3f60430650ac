"""GPUs that PyTorch cannot use, settings of CUDA, and what Triton needs; no GPU is needed."""

import os
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from pubmill.errors import PubmillError
from pubmill.finetuning.predicting import choose_device
from pubmill.hardware import torch_setup
from pubmill.hardware.compilers import compiler_fault, fault_of_kernels
from pubmill.hardware.torch_setup import choose_precision, configure_cuda, cuda_settings, gpu_is_used
from pubmill.pretraining.distributed import join

VARIABLES = ("SLURM_JOB_GPUS", "CUDA_VISIBLE_DEVICES", torch_setup.STRICT, "CUBLAS_WORKSPACE_CONFIG")


@pytest.fixture(autouse=True)
def no_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine whose programs are those of a folder, with a torch that sees no GPU."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    return tmp_path


def add_nvidia_smi(folder: Path, script: str) -> None:
    program = folder / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


CUDA_13 = ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120", "compute_120"]


@pytest.mark.parametrize(
    ("capability", "built", "advice"),
    [
        ((7, 0), CUDA_13, "Install PyTorch 9.9 for CUDA 12.6: the wheels at "),
        ((10, 0), ["sm_70", "sm_90a"], "Install a newer PyTorch, or set CUDA_VISIBLE_DEVICES"),
        ((7, 0), ["sm_70", "sm_90"], None),
        ((8, 9), CUDA_13, None),  # kernels for 8.0 run on 8.6 and 8.9
        ((12, 1), CUDA_13, None),
        ((13, 0), CUDA_13, None),  # compiled by the driver
        ((9, 4), ["gfx942"], None),
    ],
)
def test_a_gpu_that_the_build_has_no_kernels_for_is_an_error(
    capability: tuple[int, int], built: list[str], advice: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    functions = {"is_available": True, "get_device_capability": capability, "get_arch_list": built}
    for name, value in (functions | {"get_device_name": "Tesla V100"}).items():
        monkeypatch.setattr(torch.cuda, name, lambda value=value: value)
    monkeypatch.setattr(torch, "__version__", "9.9+cu130")
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    if advice is None:
        assert gpu_is_used({})
        return
    with pytest.raises(PubmillError) as error:
        gpu_is_used({})
    gpu = f"(Tesla V100, compute capability {'.'.join(map(str, capability))})"
    assert f"PyTorch 9.9+cu130 for CUDA 13.0 has no kernels for this GPU {gpu}" in str(error.value)
    assert f"it was built for {', '.join(built)}. {advice}" in str(error.value)


def test_without_any_sign_of_a_gpu_the_processor_computes(no_gpu: Path) -> None:
    assert not gpu_is_used({})
    add_nvidia_smi(no_gpu, "echo 'NVIDIA-SMI has failed'; exit 9")
    assert not gpu_is_used({})
    add_nvidia_smi(no_gpu, "echo; exit 0")
    assert not gpu_is_used({})
    add_nvidia_smi(no_gpu, "echo 550.54.15")  # a GPU that is hidden
    for hidden in ("", "-1", "-1,0", "NoDevFiles"):
        assert not gpu_is_used({"CUDA_VISIBLE_DEVICES": hidden, "SLURM_JOB_GPUS": "0"})


@pytest.mark.parametrize(
    ("environment", "driver", "cuda", "fault"),
    [
        ({"SLURM_JOB_GPUS": "0,1"}, "550.54.15", None, r"\(SLURM_JOB_GPUS=0,1\).*NVIDIA driver 550.54.15\."),
        (
            {"CUDA_VISIBLE_DEVICES": "3"}, "550.54.15", None,
            r"\(CUDA_VISIBLE_DEVICES=3\).* for processors only",
        ),
        ({}, "550.54.15\\n560.1", None, r"\(listed by nvidia-smi\).*550.54.15\. .*`make setup CUDA=1`"),
        ({}, "470.1", "13.0", r"NVIDIA driver 470\.1\. Update the driver .*CUDA 13\.0"),
        ({"SLURM_JOB_GPUS": "0"}, None, "13.0", r"for CUDA 13\.0, no working nvidia-smi\. .*--gpus all"),
    ],
)  # fmt: skip
def test_a_gpu_that_torch_does_not_see_is_an_error(
    environment: dict[str, str], driver: str | None, cuda: str | None, fault: str, no_gpu: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    if driver:
        add_nvidia_smi(no_gpu, f"printf '{driver}\\n'")
    monkeypatch.setattr(torch.version, "cuda", cuda)
    with pytest.raises(PubmillError, match=fault):
        gpu_is_used(environment)


def test_both_training_programs_ask(no_gpu: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_nvidia_smi(no_gpu, "echo 550.54.15")
    for begin in (choose_device, join):
        with pytest.raises(PubmillError, match="PyTorch cannot use"):
            begin()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert choose_device() == join().device == torch.device("cpu")


@pytest.fixture
def settings() -> Iterator[None]:
    """Put back what `configure_cuda` changes in this process."""
    deterministic: Any = torch.utils.deterministic
    mode, filled = torch.get_deterministic_debug_mode(), deterministic.fill_uninitialized_memory
    yield
    torch.set_deterministic_debug_mode(mode)
    torch.utils.deterministic.fill_uninitialized_memory = filled  # type: ignore[attr-defined]
    torch.backends.cuda.enable_cudnn_sdp(True)
    torch.backends.cudnn.allow_tf32 = True


@pytest.mark.parametrize(
    ("value", "deterministic", "recorded"),
    [("0", False, "no"), ("0", True, "preferred"), ("1", False, "required")],
)
def test_how_cuda_computes(
    settings: None, monkeypatch: pytest.MonkeyPatch, value: str, deterministic: bool, recorded: str
) -> None:
    """Products are added exactly, and in one workspace if they are to repeat; the user's own is kept."""
    monkeypatch.setenv(torch_setup.STRICT, value)
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":16:8")
    configure_cuda(deterministic)
    assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":16:8"
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG")
    products: Any = torch.backends.cuda.matmul
    products.allow_bf16_reduced_precision_reduction = True
    products.allow_fp16_reduced_precision_reduction = True
    configure_cuda(deterministic)
    workspace = os.environ.pop("CUBLAS_WORKSPACE_CONFIG", None)
    assert workspace == (None if recorded == "no" else ":4096:8")
    assert not products.allow_bf16_reduced_precision_reduction
    assert not products.allow_fp16_reduced_precision_reduction
    assert cuda_settings(torch.device("cuda")) == {"deterministic": recorded, "tf32": False}
    assert cuda_settings(torch.device("cpu")) == {}
    torch.backends.cudnn.allow_tf32 = True
    assert cuda_settings(torch.device("cuda"))["tf32"]
    assert not torch.backends.cuda.cudnn_sdp_enabled()
    assert not torch.utils.deterministic.fill_uninitialized_memory  # type: ignore[attr-defined]
    monkeypatch.setenv(torch_setup.STRICT, "yes")
    with pytest.raises(PubmillError, match="PUBMILL_DETERMINISTIC is 'yes'; expected 1"):
        configure_cuda(deterministic)


CPU, GPU = torch.device("cpu"), torch.device("cuda")


@pytest.mark.parametrize("flags", ["avx2 avx512_bf16", "amx_bf16", "asimd bf16", "avx2 avx512f", ""])
def test_auto_follows_the_processor(monkeypatch: pytest.MonkeyPatch, flags: str) -> None:
    monkeypatch.setattr(torch_setup, "cpu_info", lambda *names: [flags])
    assert choose_precision("auto", CPU) == ("bfloat16" if "bf16" in flags else "float32")
    for precision in ("float32", "bfloat16", "float16"):
        assert choose_precision(precision, CPU) == precision
        with torch_setup.autocast(CPU, precision):
            assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == getattr(torch, precision)


@pytest.mark.parametrize(
    ("native", "capability", "expected"),
    [
        (True, (9, 0), "bfloat16"), (False, (7, 5), "float16"), (False, (7, 0), "float16"),
        (False, (6, 1), "float32"),
    ],
)  # fmt: skip
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


def test_a_compiler_and_the_headers_of_python_are_found_or_named_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compiler stands on the path or is named by CC."""
    program = tmp_path / "bin/gcc"
    program.parent.mkdir()
    program.touch(0o755)
    (tmp_path / "Python.h").touch()
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    assert compiler_fault({"PATH": str(program.parent)}) is None
    assert compiler_fault({"PATH": "/nowhere", "CC": str(program)}) is None
    fault = compiler_fault({"PATH": str(program.parent), "CC": "icc"})
    assert fault and fault.startswith("no C compiler (icc), which Triton needs")
    fault = compiler_fault({"PATH": "/nowhere"})
    assert fault and "no C compiler (gcc or clang)" in fault and "install gcc" in fault
    monkeypatch.setenv("PATH", "/nowhere")
    found = fault_of_kernels(RuntimeError("failed to compile\nmore"))
    assert found == f"RuntimeError: failed to compile; {fault}"
    (tmp_path / "Python.h").unlink()
    fault = compiler_fault({"PATH": str(program.parent)})
    assert fault and "no headers of Python" in fault and "python3-dev" in fault
