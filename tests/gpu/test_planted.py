"""Faults that GPU paths have had, planted again: the checks that find them need no GPU.

A failed recording of a CUDA graph is planted in `test_traces.py`.
"""

import json
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from benchmarks import pretraining as benchmark
from benchmarks.pretraining_ways import Ours, make_packed
from pubmill.pretraining import segments
from pubmill.pretraining.computation import Computation
from pubmill.pretraining.distributed import World
from pubmill.pretraining.engine import Pretraining
from pubmill.pretraining.masking import read_vocabulary
from pubmill.pretraining.methods import COMPILED, PLAIN, UNPADDED, Methods, slower
from pubmill.pretraining.packed_tokens import PackedTokens
from tests.unit.pretraining import flash_reference
from tests.unit.pretraining.toy_pretraining import RECIPE, make_data

EXAMPLES: dict[str, tuple[Any, ...]] = {}
"""Custom operations of the package -> arguments; an operation that is not here fails the test."""
REGISTERED = """
import importlib, json, sys
from pathlib import Path
import torch, torch._dynamo, torch._inductor, transformers
def names():
    return {name for name in torch._C._dispatch_get_all_op_names() if not name.startswith("transformers::")}
root, before = Path(sys.argv[1]), names()
for room in ("pretraining", "finetuning", "optimisers", "hardware"):
    for path in sorted((root / "pubmill" / room).rglob("*.py")):
        try:
            importlib.import_module(".".join(path.relative_to(root).with_suffix("").parts))
        except ModuleNotFoundError as error:
            assert error.name == "triton", error
own = names() - before
planted = torch.library.custom_op("planted::operation", mutates_args=(), schema="(Tensor x) -> Tensor")
planted(lambda x: x + 1)
print(json.dumps([sorted(own), sorted(names() - before - own)]))
"""
"""Names of operations that importing the package registers, and of a planted one."""


def check_operation(name: str, arguments: tuple[Any, ...]) -> None:
    """Call an operation as PyTorch calls it; raise what is wrong with its schema, kernels or gradients."""
    namespace, _, operation = name.partition("::")
    torch.library.opcheck(getattr(getattr(torch.ops, namespace), operation).default, arguments)


@pytest.mark.long
def test_every_registered_operation_works_as_pytorch_calls_it(root: Path) -> None:
    done = subprocess.run([sys.executable, "-c", REGISTERED, root], capture_output=True, text=True, cwd=root)
    assert done.returncode == 0, done.stderr
    own, planted = json.loads(done.stdout.splitlines()[-1])
    assert planted == ["planted::operation"]
    assert own == sorted(EXAMPLES)
    for name, arguments in EXAMPLES.items():
        check_operation(name, arguments)


@pytest.mark.parametrize("apart", [True, False])
def test_an_operation_that_returns_views_of_one_storage_is_found(apart: bool) -> None:
    """PyTorch refuses them at each call: "may not alias"."""

    def halves(values: Tensor) -> tuple[Tensor, Tensor]:
        first, second = values.clone().chunk(2)
        return (first.clone(), second.clone()) if apart else (first, second)

    name = f"planted::{'apart' if apart else 'views'}"
    made = torch.library.custom_op(name, halves, mutates_args=())
    made.register_fake(halves)
    if apart:
        check_operation(name, (torch.ones(4),))
    else:
        with pytest.raises(Exception, match="alias"):
            check_operation(name, (torch.ones(4),))


@pytest.fixture
def eager_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """torch.compile without a C++ compiler; compiled functions are this test's own."""
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="eager"))
    flash_reference.use_own_cache(monkeypatch)
    torch.compiler.reset()


@pytest.mark.long
@pytest.mark.parametrize("planted", [False, True])
def test_a_benchmark_beyond_the_limit_of_compiled_variants_is_found(
    planted: bool, eager_compiler: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dynamo compiles a function for few sizes; later rows would be those of eager layers."""
    flash_reference.use(monkeypatch, COMPILED)
    cases = [replace(benchmark.CASES[0].tiny(), at_once=tokens) for tokens in (512, 768, 1024)]
    packed, reset = make_packed(200), torch.compiler.reset
    if planted:
        monkeypatch.setattr(torch.compiler, "reset", lambda: None)
    found = []
    with torch._dynamo.config.patch(recompile_limit=2):
        for case in cases:
            try:
                row = benchmark.measure(case.name, case, partial(Ours, case.recipe(), packed), 0.0)
                found.append("compiled" in row.methods)
            except RuntimeError as error:
                found.append(False)
                assert "compiled layers do not work here" in str(error)
    reset()
    assert found == [True, True, not planted]


def is_silent(work: Pretraining, planned: Methods, messages: str) -> bool:
    """Return whether other methods than the planned ones run, and log or record do not have the reason."""
    told = work.computation.refused is not None and work.computation.refused in messages
    return work.computation.methods != planned and not told


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_data(tmp_path_factory.mktemp("data"))


@pytest.mark.parametrize("working", [COMPILED, UNPADDED, PLAIN])
@pytest.mark.parametrize("planted", [False, True])
def test_a_silent_fallback_is_found(
    working: Methods, planted: bool, data: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    flash_reference.use(monkeypatch, COMPILED)
    compute = Computation._compute_losses

    def computing(self: Computation, *given: Any) -> Any:
        if self.methods not in (working, PLAIN):
            raise RuntimeError("no kernel image is available")
        return compute(self, *given)

    monkeypatch.setattr(Computation, "_compute_losses", computing)
    if planted:
        monkeypatch.setattr(
            Computation, "_refuse_methods", lambda self, fault: self._use(slower(self.methods))
        )
    packed = PackedTokens(data / "tokens")
    cpu = torch.device("cpu")
    flash_reference.compile_nothing(monkeypatch)
    work = Pretraining(RECIPE, packed, read_vocabulary(data, packed.special), World(cpu))
    assert work.computation.methods == working
    assert is_silent(work, COMPILED, capsys.readouterr().err) == (planted and working != COMPILED)
    work.world = World(torch.device("cuda", 0))
    segment = segments.Segment(tokens=data / "tokens", vocab=data, output=data / "s", to=1)
    recorded = segments.origin_of(work, segment, packed)["hardware"]
    assert (recorded["layers"], recorded["methods_refused"]) == (working.layers, work.computation.refused)
