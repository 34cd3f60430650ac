"""Memory of fine-tuning steps of full-size models on the pretended device.

See "Fine-tuning on a GPU" in benchmarks/README.md.
"""

import pytest

from tests.gpu.conftest import Trace
from tests.gpu.rooflines import H100

PEAKS = {
    "blurb, BERT-base": 20e9,
    "tinn2021, BERT-large": 45e9,
    "shin2020, questions, BERT-large": 70e9,
    "alrowili2021, questions, ALBERT-xxlarge": 70e9,
}
"""Most bytes of a step with the largest batch of a protocol."""
DIVIDED = {"shin2020, questions, BERT-large", "alrowili2021, questions, ALBERT-xxlarge"}
TOO_LARGE = "alrowili2021, questions, ALBERT-xxlarge, at once"


@pytest.mark.long
@pytest.mark.weekly
def test_the_largest_batches_fit_into_the_devices_memory(trace: Trace) -> None:
    found = trace("trace_finetuning_memory.py", *PEAKS, TOO_LARGE)
    assert found[TOO_LARGE]["peak"] > H100.memory
    for case, most in PEAKS.items():
        assert found[case]["peak"] <= most < H100.memory
        assert found[case]["refused"] is None
        assert (found[case]["parts"] > 1) == (case in DIVIDED)
