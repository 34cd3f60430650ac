"""Classes of kernels, and what nvidia-smi shows while they run."""

import pytest

from benchmarks.clocks import Clocks
from benchmarks.kernel_classes import CLASSES, class_of, kernels_of, longest, sums

NAMES = {
    "void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<cutlass::bfloat16_t>": "attention",
    "void at::native::multi_tensor_apply_kernel<at::native::FusedAdamMathFunctor<float>>": "optimiser",
    "nvjet_hsh_192x192_64x4_2x1_v_bz_coopB_NTT": "products",
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64": "products",
    "addmm": "products",
    "triton_poi_fused_gelu_gelu_backward_4": "GELU",
    "triton_red_fused_add_native_layer_norm_native_layer_norm_backward_7": "norm",
    "void at::native::vectorized_layer_norm_kernel<float>": "norm",
    "Memcpy DtoD (Device -> Device)": "rest",
    "embedding_dense_backward": "rest",
    "void at::native::reduce_kernel<128, 4, at::native::func_wrapper_t<sum_functor::lambda>>": "rest",
}


@pytest.mark.parametrize("name", NAMES)
def test_names_of_kernels_have_a_class(name: str) -> None:
    assert class_of(name) == NAMES[name]


def test_idle_is_the_time_between_kernels_that_may_overlap() -> None:
    kernels = [(10.0, 14.0, "mm"), (0.0, 5.0, "mm"), (2.0, 3.0, "gelu"), (4.0, 6.0, "flash_fwd")]
    assert sums(kernels) == dict.fromkeys(CLASSES, 0.0) | {
        "products": 9.0, "GELU": 1.0, "attention": 2.0, "idle": 4.0,
    }  # fmt: skip


def test_a_profile_has_the_classes_of_what_ran() -> None:
    import torch

    left = torch.ones(64, 64)
    kernels = kernels_of(lambda: torch.nn.functional.gelu(left @ left), 2)
    found = sums(kernels)
    assert found["products"] > 0 and found["GELU"] > 0 and found["attention"] == 0
    assert {"mm", "gelu"} <= {name for name, calls, _ in longest(kernels, 99) if calls == 2}


def test_clocks_are_medians_of_the_lines_that_have_numbers() -> None:
    clocks = Clocks()
    clocks.read("1980, 651.20\n1755, 699.9\n1700, [N/A]\n")
    assert clocks.clock == 1755.0 and clocks.power == pytest.approx(675.55)
    nothing = Clocks()
    nothing.read("No devices were found\n")
    assert (nothing.clock, nothing.power) == (None, None)
