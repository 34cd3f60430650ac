"""PyTorch settings of both training programs: device, exactness, number format."""

import os
import random
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Literal

import torch
from torch.utils.benchmark import Timer

from pubmill.errors import PubmillError
from pubmill.hardware.provenance import cpu_info
from pubmill.recipes import Precision

STRICT = "PUBMILL_DETERMINISTIC"
"""Environment variable: 1 refuses CUDA operations with results that differ between runs."""
HIDDEN = ("", "-1", "NoDevFiles")
"""Values of CUDA_VISIBLE_DEVICES that hide all GPUs; older versions of Slurm set the last one."""
ARCHITECTURE = re.compile(r"(sm|compute)_(\d+)")
SECONDS = 30
"""Timeout of nvidia-smi in seconds."""
NumberFormat = Literal["float32", "bfloat16", "float16"]
MEASURED = {"cpu": 512, "cuda": 8192}
"""Rows and columns of the matrices for the measurement of a device's rate."""
TENSOR_CORES = (7, 0)
"""Compute capability of the oldest GPUs with tensor cores: Volta, which have float16 but no bfloat16."""
NATIVE_BFLOAT16 = {"avx512_bf16", "amx_bf16", "bf16"}
"""Processor flags: Intel's and AMD's two, and ARM's."""


def gpu_is_used(environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether to compute on a GPU. Raises a `PubmillError` if this machine has a GPU that PyTorch
    cannot use, unless CUDA_VISIBLE_DEVICES hides it: training never falls back to the processor unnoticed."""
    if torch.cuda.is_available():
        _check_kernels(torch.cuda.get_device_capability(), torch.cuda.get_arch_list())
        return True
    if environment.get("CUDA_VISIBLE_DEVICES", "hides none").split(",")[0] in HIDDEN:
        return False
    driver = _nvidia_driver()
    named = (name for name in ("SLURM_JOB_GPUS", "CUDA_VISIBLE_DEVICES") if environment.get(name))
    listed = "listed by nvidia-smi" if driver else None
    if evidence := next((f"{name}={environment[name]}" for name in named), listed):
        advice = f"Update the driver to one that supports CUDA {torch.version.cuda}"
        if torch.version.cuda is None:
            advice = "Install the build for GPUs with `make setup CUDA=1`"
        elif driver is None:
            advice = "Install the driver, or start the container with its GPUs (`docker run --gpus all`)"
        raise PubmillError(
            f"this machine has a GPU ({evidence}) that PyTorch cannot use. Expected: a build of PyTorch for "
            f"CUDA and a driver that supports it; found: {_torch_build()}, "
            f"{f'NVIDIA driver {driver}' if driver else 'no working nvidia-smi'}. {advice}, "
            'or set CUDA_VISIBLE_DEVICES="" to compute on the processor'
        )
    return False


def emptiest_gpu() -> torch.device:
    """Return the GPU with most free memory, of several a random one of those: a machine's simultaneous
    fine-tunings use all its GPUs. Their number is decided elsewhere (profiles/gpu: `gpu_slots`)."""
    count = torch.cuda.device_count()
    if count == 1:
        return torch.device("cuda", 0)
    free = [round(torch.cuda.mem_get_info(number)[0] / 2**31) for number in range(count)]
    return torch.device("cuda", random.choice([n for n, one in enumerate(free) if one == max(free)]))


def _check_kernels(capability: tuple[int, int], built: Sequence[str]) -> None:
    """Raise a `PubmillError` if PyTorch has no kernels for GPUs of this compute capability. `built`: "sm_80"
    are kernels for 8.0 to 8.9; "compute_90" is code that the driver compiles for 9.0 and newer GPUs. Builds
    for other makers' GPUs list neither."""
    targets = [(kind, divmod(int(number), 10)) for kind, number in ARCHITECTURE.findall(" ".join(built))]
    same = any(kind == "sm" and made[0] == capability[0] and made <= capability for kind, made in targets)
    if same or not targets or any(kind == "compute" and made <= capability for kind, made in targets):
        return
    old = capability < min(made for _, made in targets)
    build = f"PyTorch {torch.__version__.partition('+')[0]} for CUDA 12.6" if old else "a newer PyTorch"
    source = ": the wheels at https://download.pytorch.org/whl/cu126" if old else ""
    raise PubmillError(
        f"{_torch_build()} has no kernels for this GPU ({torch.cuda.get_device_name()}, compute capability "
        f"{'.'.join(map(str, capability))}); it was built for {', '.join(built)}. Install {build}{source}, "
        'or set CUDA_VISIBLE_DEVICES="" to compute on the processor'
    )


def _nvidia_driver() -> str | None:
    """Return the version of the NVIDIA driver; None without a driver or GPU."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return None
    command = [program, "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS)
    except (OSError, subprocess.SubprocessError):
        return None
    lines = answer.stdout.split()
    return lines[0] if lines else None


def _torch_build() -> str:
    cuda = torch.version.cuda
    return f"PyTorch {torch.__version__} {f'for CUDA {cuda}' if cuda else 'for processors only'}"


def configure_cuda(deterministic: bool) -> None:
    """Configure CUDA in this process; call it before the first CUDA operation.

    float32 products are exact (no TF32), also in recurrent layers, and products in half precision are added
    in float32. `deterministic` prefers deterministic kernels, except in attention's backward pass, for which
    PyTorch takes them only if they are required (`attention_backward.cu`): equal seeds then give results that
    differ in the last digits. With the environment variable `STRICT`, all are deterministic: PyTorch raises a
    RuntimeError that names an operation that is not.
    """
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    # cuDNN's attention gives NaN gradients with masks at some lengths on H100 (pytorch#196678, #174245) and
    # builds a plan for each new shape.
    torch.backends.cuda.enable_cudnn_sdp(False)
    if strict() or deterministic:
        # Must be set before the first matrix product; without it, products may differ between runs.
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(strict() or deterministic, warn_only=not strict())
    leave_uninitialized_memory()


def leave_uninitialized_memory() -> None:
    """Keep deterministic algorithms from filling new memory, which takes time and is never read."""
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]


def strict() -> bool:
    """Return whether the environment variable `STRICT` requires deterministic CUDA operations. Raises a
    `PubmillError` for any value except 0 and 1."""
    value = os.environ.get(STRICT, "0")
    if value not in ("0", "1"):
        raise PubmillError(f"{STRICT} is {value!r}; expected 1 (deterministic operations only) or 0")
    return value == "1"


def cuda_settings(device: torch.device) -> dict[str, str | bool]:
    """Return `{"deterministic", "tf32"}` for the records of a run on a GPU; empty on a processor.
    `deterministic`: "required", "preferred" or "no"."""
    if device.type != "cuda":
        return {}
    modes = ("no", "preferred", "required")
    return {
        "deterministic": modes[torch.get_deterministic_debug_mode()],
        "tf32": torch.backends.cuda.matmul.allow_tf32 or torch.backends.cudnn.allow_tf32,
    }


def to_device(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Return the tensor on the device; copies to a GPU are asynchronous."""
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)


def choose_precision(wanted: Precision, device: torch.device) -> NumberFormat:
    """Return the number format of matrix products; weights and optimiser are always in float32. `auto` is
    bfloat16 where the device multiplies it natively (a step of pretraining is then about twice as fast on 2
    cores with avx512_bf16), else float16 on GPUs with tensor cores, else float32: emulated, both are slower.
    Raises a `PubmillError` for bfloat16 on a GPU without it; a processor without it emulates it slowly."""
    if wanted == "bfloat16" and device.type == "cuda" and not multiplies_bfloat16(device):
        raise PubmillError("precision: this GPU has no bfloat16; ask for float16, float32 or auto")
    if wanted != "auto":
        return wanted
    if multiplies_bfloat16(device):
        return "bfloat16"
    if device.type == "cuda" and torch.cuda.get_device_capability(device) >= TENSOR_CORES:
        return "float16"
    return "float32"


def autocast(device: torch.device, precision: str) -> AbstractContextManager[None]:
    """Return the context in which PyTorch computes products in this precision."""
    half = torch.float16 if precision == "float16" else torch.bfloat16
    return torch.autocast(device.type, half, enabled=precision != "float32")


def measured_rate(device: torch.device, precision: NumberFormat) -> float:
    """Return the operations a second of matrix products in this number format: with it, no table of devices
    is needed."""
    size, seeded = MEASURED[device.type], torch.Generator(device).manual_seed(0)
    # Random numbers: GPUs multiply equal ones faster than any that occur in training.
    left = torch.randn(size, size, device=device, generator=seeded).to(getattr(torch, precision))
    timer = Timer("left @ left", globals={"left": left}, num_threads=torch.get_num_threads())
    return float(2 * size**3 / min(timer.blocked_autorange(min_run_time=0.05).times))


def multiplies_bfloat16(device: torch.device) -> bool:
    """Whether a device has instructions for products of bfloat16."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if device.type != "cpu":
        return False
    flags = {flag for line in cpu_info("flags", "features") for flag in line.split()}  # ARM: features
    return bool(flags & NATIVE_BFLOAT16)
