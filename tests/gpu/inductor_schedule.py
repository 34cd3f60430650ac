"""How torch.compile schedules the functions of compiled layers on an H100 that is not there.

    LD_PRELOAD=LIBRARY python tests/gpu/inductor_schedule.py FUNCTION...

FUNCTION: a key of `FUNCTIONS`. Prints a JSON object, function -> {"forward", "backward"}: a list of
`[kind, size]` of each kernel, where the kind is "product" or "fused", and the size what it reads and
writes, in tensors (`TOKENS`, `WIDTH`) in bfloat16. Kernels that move little (the last steps of sums) are left
out. PyTorch's own compiler decides what it fuses and writes the kernels' text, which is not compiled further.
Needs Triton.
"""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
import torch._inductor.scheduler
from torch import Tensor
from torch._dynamo.device_interface import CudaInterface
from torch._functorch.aot_autograd import aot_function
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch._guards import TracingContext, tracing
from torch._inductor.compile_fx import fake_tensor_prop
from torch._inductor.debug import DebugContext
from torch._inductor.decomposition import select_decomp_table
from torch._inductor.fx_passes.joint_graph import joint_graph_passes
from torch._inductor.fx_passes.post_grad import post_grad_passes, view_to_reshape
from torch._inductor.graph import GraphLowering
from torch._inductor.scheduler import ExternKernelSchedulerNode
from torch._inductor.virtualized import V
from torch._subclasses.fake_tensor import FakeTensorMode
from triton.backends.compiler import GPUTarget
from triton.runtime import driver

from pubmill.pretraining.unpadded import PASSES, WORDS, Settings, after_attention, norm_embeddings
from tests.gpu import pretended_cuda
from tests.gpu.kernel_traces import PRODUCTS

TOKENS, WIDTH, INNER = 32_000, 1024, 4096
UNIT = 2 * TOKENS * WIDTH
SMALL = 0.05
Kernels = list[tuple[str, float]]


class Driver:
    """Triton's view of the device."""

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", 90, 32)

    def get_current_device(self) -> int:
        return 0

    def is_active(self) -> bool:
        return True


def pretend_for_compiler() -> FakeTensorMode:
    """Return the mode in which this process has the device; the compiler sees it too."""
    mode = pretended_cuda.pretend()
    vars(pretended_cuda.H100).update(
        warp_size=32, max_threads_per_multi_processor=2048, max_threads_per_block=1024,
        regs_per_multiprocessor=65536, shared_memory_per_block=49152, L2_cache_size=50 * 2**20,
        shared_memory_per_block_optin=232_448, gcnArchName="",
    )  # fmt: skip
    driver.set_active(Driver())
    torch.cuda._lazy_init = lambda: None
    device: Any = CudaInterface
    for interface in (device, device.Worker):
        interface.get_device_properties = staticmethod(lambda *given: pretended_cuda.H100)
    device.get_compute_capability = staticmethod(lambda *given: 90)
    vars(torch._inductor.scheduler).update(has_triton=lambda *given: True)
    return mode


def scheduled(
    function: Callable[..., Tensor], given: Sequence[Tensor], mode: FakeTensorMode
) -> dict[str, Kernels]:
    """Return the kernels of a function and of its backward pass."""
    found = dict[str, Kernels]()

    def compiler(part: str) -> Callable[..., Any]:
        def compile_part(graph: torch.fx.GraphModule, inputs: Sequence[Any]) -> Any:
            with tracing(TracingContext(mode)), V.set_fake_mode(mode):
                found[part] = kernels_of(graph, inputs, part == "backward")

            def run(values: list[Any]) -> Any:
                return graph(*values)

            run._boxed_call = True  # type: ignore[attr-defined]
            return run

        return compile_part

    def partition(graph: torch.fx.GraphModule, inputs: Sequence[Any], **settings: Any) -> Any:
        with V.set_fake_mode(mode):
            joint_graph_passes(graph)
        return min_cut_rematerialization_partition(graph, inputs, compiler="inductor", **settings)

    compiled = aot_function(
        function, compiler("forward"), compiler("backward"), partition, decompositions=select_decomp_table()
    )
    compiled(*given).sum().backward()
    return found


def kernels_of(graph: torch.fx.GraphModule, inputs: Sequence[Any], backward: bool) -> Kernels:
    """Lower a graph as torch.compile does, up to the text of its kernels."""
    view_to_reshape(graph)
    fake_tensor_prop(graph, inputs, True)
    post_grad_passes(graph, False)
    fake_tensor_prop(graph, inputs, True)
    lowering = GraphLowering(graph, example_inputs=inputs, is_backward=backward, graph_id=0)
    with V.set_graph_handler(lowering), V.set_debug_handler(DebugContext()):
        lowering.run(*inputs)
        lowering.codegen()
        _, nodes, _ = lowering.count_bytes()
    # The counts are numbers of 4 bytes.
    sizes = [(kind_of(node), round(4 * count / UNIT, 2)) for node, count in nodes]
    return [(kind, size) for kind, size in sizes if size > SMALL]


def kind_of(node: Any) -> str:
    if not isinstance(node, ExternKernelSchedulerNode):
        return "fused"
    name = (getattr(node.node, "python_kernel_name", None) or "").removesuffix(".default").rpartition(".")[2]
    return "product" if name in PRODUCTS else name


def tensor(*shape: int) -> Tensor:
    return torch.zeros(shape, dtype=torch.bfloat16, device="cuda").requires_grad_()


def layer(norms: int) -> tuple[Callable[..., Tensor], list[Tensor]]:
    """Return what follows attention in a layer of BERT-large, as a function of tensors, and these."""
    shapes = [(WIDTH, WIDTH), (WIDTH,), *[(WIDTH,)] * 2, (INNER, WIDTH), (INNER,), (WIDTH, INNER), (WIDTH,)]
    weights = [tensor(*shape) for shape in shapes + [(WIDTH,)] * 2 * (norms - 1)]
    seeds = torch.zeros(2, PASSES, WORDS, dtype=torch.int32, device="cuda")
    settings = Settings(16, 0.1, 0.1, 1e-12, "none")

    def after(context: Tensor, hidden: Tensor, seeds: Tensor, *weights: Tensor) -> Tensor:
        return after_attention(context, hidden, list(weights), seeds, settings)

    return after, [tensor(TOKENS, WIDTH), tensor(TOKENS, WIDTH), seeds, *weights]


def embeddings() -> tuple[Callable[..., Tensor], list[Tensor]]:
    seed = torch.zeros(PASSES, WORDS, dtype=torch.int32, device="cuda")

    def normed(words: Tensor, segments: Tensor, positions: Tensor, seed: Tensor, *norm: Tensor) -> Tensor:
        return norm_embeddings(words, [segments, positions], list(norm), seed, (0.1, 1e-12))

    return normed, [*(tensor(1, TOKENS, WIDTH) for _ in range(3)), seed, tensor(WIDTH), tensor(WIDTH)]


FUNCTIONS: dict[str, Callable[[], tuple[Callable[..., Tensor], list[Tensor]]]] = {
    "layer": lambda: layer(2),
    "layer, Megatron": lambda: layer(1),
    "embeddings": embeddings,
}


def main() -> None:
    torch.manual_seed(0)  # Before the device exists, which has no real numbers.
    found = {}
    with (mode := pretend_for_compiler()):
        for name in sys.argv[1:]:
            function, given = FUNCTIONS[name]()
            found[name] = scheduled(function, given, mode)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
