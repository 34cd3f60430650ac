"""Methods of computing a step, of which a device or a version of PyTorch may lack the fast ones."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from typing import Any, Literal

import torch
import torch.nn.attention
from torch import Tensor, nn

from pubmill.hardware.torch_setup import strict
from pubmill.pretraining.distributed import OverlappedSums
from pubmill.pretraining.micro_batches import Part
from pubmill.pretraining.unpadded import GELU, add_gradient

LARGEST_HEAD, HEAD_MULTIPLE = 256, 8
"""Head sizes of the flash kernel: multiples of 8 up to 256."""
FLASH_CAPABILITY, HOPPER = (8, 0), 9
"""Least compute capability for the flash kernel (Ampere), and the major one for FlashAttention-3."""
FLASH_3_PACKAGE = "flash_attn_interface"
ROW_MULTIPLE = 64
SMALL = 2**16
"""Gradients of weights with fewer elements are added together, because each kernel has a minimum time."""
NEVER = -1e30
"""Logit of a piece that does not exist."""


@dataclass(frozen=True)
class Methods:
    """How a step is computed, for the records.

    `sequences`: "unpadded", concatenated with flash attention, or "padded". `weights`: copies in "bfloat16"
    of the float32 weights, so that all activations are in bfloat16, or "float32", of which PyTorch's autocast
    converts what matrix products need. `layers`: "compiled" by torch.compile, or "eager". `attention`:
    "usual", or FlashAttention-3 ("FA3"), which has no dropout.
    """

    sequences: Literal["unpadded", "padded"] = "padded"
    weights: Literal["bfloat16", "float32"] = "float32"
    layers: Literal["compiled", "eager"] = "eager"
    attention: Literal["usual", "FA3"] = "usual"

    def describe(self) -> str:
        """Return the methods as words."""
        others = "" if self.attention == "usual" else f" with {self.attention}"
        return f"{self.sequences} sequences, weights in {self.weights} and {self.layers} layers{others}"


PLAIN = Methods()
UNPADDED = Methods("unpadded", "bfloat16", "eager")
COMPILED = Methods("unpadded", "bfloat16", "compiled")
FLASH_3 = replace(COMPILED, attention="FA3")
SLOWER = {FLASH_3: COMPILED, COMPILED: UNPADDED}
"""Methods -> those to try where they do not work; after these, `PLAIN`."""


def fastest(networks: dict[str, Any], in_bfloat16: bool, device: torch.device) -> Methods:
    """Return the fastest methods that may work for these networks; `in_bfloat16`: whether all activations of
    the objective can be in bfloat16."""
    if device.type != "cuda" or not in_bfloat16:
        return PLAIN
    if torch.cuda.get_device_capability(device) < FLASH_CAPABILITY:
        return PLAIN
    if not all(map(_has_flash_sizes, networks.values())):
        return PLAIN
    return FLASH_3 if has_flash_3(networks, device) else COMPILED


def has_flash_3(networks: dict[str, Any], device: torch.device) -> bool:
    """Return whether attention may be FlashAttention-3: without dropout, on Hopper, where its package and
    PyTorch's registry are there, and unless determinism is required (its gradients of queries differ between
    runs even then, Dao-AILab/flash-attention#2244)."""
    configs = (network.config for network in networks.values())  # ModernBERT has no dropout in pretraining.
    dropped = any(getattr(config, "attention_probs_dropout_prob", 0.0) for config in configs)
    there = hasattr(torch.nn.attention, "restore_flash_attention_impl") and find_spec(FLASH_3_PACKAGE)
    hopper = torch.cuda.get_device_capability(device)[0] == HOPPER
    return not dropped and hopper and bool(there) and not strict()


def activate_attention(methods: Methods) -> None:
    """Let PyTorch compute flash attention by these methods; raises what FlashAttention-3's package raises."""
    if not hasattr(torch.nn.attention, "restore_flash_attention_impl"):
        return
    if methods.attention == "FA3":
        torch.nn.attention.activate_flash_attention_impl("FA3")
    elif torch.nn.attention.current_flash_attention_impl():
        torch.nn.attention.restore_flash_attention_impl()


def _has_flash_sizes(network: Any) -> bool:
    config = network.config
    head = config.hidden_size // config.num_attention_heads
    known = config.model_type == "modernbert" or config.hidden_act in GELU
    return head % HEAD_MULTIPLE == 0 and head <= LARGEST_HEAD and known


class Bfloat16Copies:
    """Copies of a learner's weights in bfloat16, with which it computes; gradients are added in float32.
    Copies of `vocabularies` (`vocabulary_rows`) have extra rows up to a multiple of `ROW_MULTIPLE`, because a
    GPU's fast matrix products need rows whose bytes are a multiple of 16. The softmax of the extra logits is
    0."""

    def __init__(self, learner: nn.Module, vocabularies: dict[int, float] | None = None) -> None:
        self.learner = learner
        self.weights: list[Tensor] = list(learner.parameters())
        fills = vocabularies or {}
        self.copies = [_copy_in_bfloat16(weight, fills.get(id(weight))) for weight in self.weights]
        self._parts = list[Tensor]()
        for copy, weight in zip(self.copies, self.weights, strict=True):
            self._parts.append(copy.detach()[: len(weight)])
            copy.float32 = weight  # type: ignore[attr-defined]  # See `unpadded.use_once`.
        self.refresh()
        copy_of = dict(zip(map(id, self.weights), self.copies, strict=True))
        # Weights and modules may be shared. torch.func.functional_call leaves copies in shared modules.
        self._places = [
            (module._parameters, name, weight, copy_of[id(weight)])
            for module in learner.modules()
            for name, weight in module._parameters.items()
            if weight is not None
        ]

    def refresh(self) -> None:
        """Copy the weights, after they have changed."""
        with torch.no_grad():
            torch._foreach_copy_(self._parts, self.weights)

    def __call__(self, part: Part) -> dict[str, Tensor]:
        """Return the learner's sums over a micro-batch."""
        for parameters, name, _, copy in self._places:
            parameters[name] = copy  # type: ignore[assignment]
        try:
            sums: dict[str, Tensor] = self.learner(part)
        finally:
            for parameters, name, weight, _ in self._places:
                parameters[name] = weight
        return sums

    def add_gradients(self) -> None:
        """Move the gradients of a micro-batch from the copies to the weights."""
        small = list[tuple[Tensor, Tensor]]()
        for weight, copy in zip(self.weights, self.copies, strict=True):
            if copy.grad is None:
                continue
            slope = copy.grad[: len(weight)]
            if weight.numel() < SMALL:
                small.append((weight, slope))
            else:
                add_gradient(weight, slope)
        _add_together(small)
        self.drop_gradients()

    def call_when_ready(self, sums: OverlappedSums) -> None:
        """Sum each gradient over the processes as soon as a step's last micro-batch has computed it."""
        for weight, copy in zip(self.weights, self.copies, strict=True):
            if any(weight is one for one in sums.weights):
                hook = partial(_move_gradient, weight, sums)
                copy.register_post_accumulate_grad_hook(hook)  # type: ignore[no-untyped-call]

    def drop_gradients(self) -> None:
        """Forget the gradients of a micro-batch."""
        for copy in self.copies:
            copy.grad = None


def _move_gradient(weight: Tensor, sums: OverlappedSums, copy: Tensor) -> None:
    """Move the gradient of a copy to its weight, if it is the last one of a step."""
    if sums.active and copy.grad is not None:
        add_gradient(weight, copy.grad[: len(weight)])
        copy.grad = None
        sums.add(weight)


def _add_together(gradients: list[tuple[Tensor, Tensor]]) -> None:
    """Add gradients in bfloat16 to those of their weights, by a few kernels for all of them."""
    if not gradients:
        return
    wide = [torch.empty_like(weight) for weight, _ in gradients]
    torch._foreach_copy_(wide, [slope for _, slope in gradients])
    sums, added = list[Tensor](), list[Tensor]()
    for (weight, _), slope in zip(gradients, wide, strict=True):
        if weight.grad is None:
            weight.grad = slope
        else:
            sums.append(weight.grad)
            added.append(slope)
    if sums:
        torch._foreach_add_(sums, added)


def vocabulary_rows(networks: Iterable[Any]) -> dict[int, float]:
    """Return id of each embedding, output weight or output bias -> value that fills its extra rows."""
    values = dict[int, float]()
    for network in networks:
        output = network.get_output_embeddings()
        for module in filter(None, (network.get_input_embeddings(), output)):
            values[id(module.weight)] = 0.0
        if output is not None and output.bias is not None:
            values[id(output.bias)] = NEVER
    return values


def _copy_in_bfloat16(weight: Tensor, fill: float | None) -> Tensor:
    """Return a tensor for a copy; with `fill`, its number of rows is a multiple of `ROW_MULTIPLE`."""
    rows = len(weight) if fill is None else -(-len(weight) // ROW_MULTIPLE) * ROW_MULTIPLE
    return weight.new_full((rows, *weight.shape[1:]), fill or 0.0, dtype=torch.bfloat16).requires_grad_()
