"""Seconds of kernels that are written down here, without the pretended device."""

from dataclasses import replace

import pytest

from tests.gpu.kernel_traces import Kernel
from tests.gpu.rooflines import H100, fused, roofline

DEVICE = replace(H100, products=1e12, attention=(1e12, 5e11), bandwidth=1e9, kernel=1e-6, start=1e-9)
MEGABYTE = 10**6


def kernel(
    name: str, reads: list[int], writes: list[int], flops: float = 0.0, region: int | None = None
) -> Kernel:
    """Storages are numbered and have a megabyte each."""
    read, written = ([(number, MEGABYTE) for number in storages] for storages in (reads, writes))
    return Kernel(name, 1, flops, read, written, False, region)


def test_a_kernel_takes_its_arithmetic_or_its_traffic() -> None:
    product = kernel("mm", [1, 2], [3], flops=5e9)
    small = kernel("mm", [1, 2], [3], flops=1e9)
    assert roofline([product], DEVICE)["products"] == pytest.approx(5e-3)
    assert roofline([small], DEVICE)["products"] == pytest.approx(3e-3)
    assert roofline([kernel("embedding", [1], [2])], DEVICE)["rest"] == pytest.approx(2e-3)
    assert roofline([replace(small, reads=[], writes=[], flops=0.0)], DEVICE)["seconds"] == pytest.approx(
        1e-6
    )


def test_a_scatter_touches_only_its_values() -> None:
    scatter = replace(kernel("index_put", [1, 2], [3]), reads=[(1, 50 * MEGABYTE), (2, MEGABYTE)])
    assert roofline([scatter], DEVICE)["rest"] == pytest.approx(2e-3)


def test_attention_has_its_own_rates() -> None:
    both = [kernel("flash_attention", [], [], 1e9), kernel("flash_attention_backward", [], [], 1e9)]
    assert roofline(both, DEVICE)["attention"] == pytest.approx(3e-3)


def test_the_host_may_be_slower_than_the_device() -> None:
    slow = replace(DEVICE, start=1.0)
    assert roofline([kernel("mm", [1], [2])] * 2, slow)["seconds"] == pytest.approx(2.0)


def test_a_compiled_region_is_one_kernel_between_two_products() -> None:
    trace = [
        kernel("mm", [1], [2], region=0),
        kernel("add", [2, 3], [4], region=0),
        kernel("gelu", [4], [5], region=0),
        kernel("mm", [5], [6], region=0),
        kernel("add", [6], [7]),
        kernel("mul", [7], [8]),
    ]
    names = [found.name for found in fused(trace)]
    assert names == ["mm", "fused", "mm", "add", "mul"]
    # 4 is read by no later kernel
    assert fused(trace)[1].reads == [(2, MEGABYTE), (3, MEGABYTE)]
    assert fused(trace)[1].writes == [(5, MEGABYTE)]


def test_what_is_read_later_is_written() -> None:
    trace = [
        kernel("add", [1], [2], region=0),
        kernel("gelu", [2], [3], region=0),
        kernel("mul", [2, 3], [4]),
    ]
    assert fused(trace)[0].writes == [(2, MEGABYTE), (3, MEGABYTE)]


def test_two_regions_are_not_fused_and_reductions_over_rows_are_extra() -> None:
    two = [kernel("add", [1], [2], region=0), kernel("mul", [2], [3], region=1)]
    assert len(fused(two)) == 2
    bias = [kernel("gelu_backward", [1], [2], region=-1), kernel("sum", [2], [3], region=-1)]
    assert [found.bytes for found in fused(bias)] == [2 * MEGABYTE, MEGABYTE]


def test_layer_norm_reads_its_inputs_again_for_the_gradients_of_its_weights() -> None:
    norm = [kernel("native_layer_norm_backward", [1, 2], [3], region=-1), kernel("mm", [3], [4], region=-1)]
    assert [found.bytes for found in fused(norm)[:2]] == [3 * MEGABYTE, 4 * MEGABYTE]
