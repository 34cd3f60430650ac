"""Operations and hours of printed pretrainings, by hand."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pubmill.cli.app import APP
from pubmill.errors import PubmillError
from pubmill.extras.compute.printed_costs import (
    PrintedCost,
    all_compute,
    as_rows,
    printed_costs,
    typed_compute,
)
from pubmill.pretraining.arithmetic import NetworkShape
from pubmill.specs import Specs, load
from tests.unit.programs import run_verb

PEAKS = {"V100": 125e12, "A100": 312e12, "H100": 989e12}


def test_figures_that_are_typed_in_are_multiplied() -> None:
    """149 M parameters and 55 B tokens in 5 hours of an H100 are more than its peak."""
    found = typed_compute(149e6, 55e9, None, "H100", 5.0)
    assert found.simple == 6 * 149e6 * 55e9 and found.products == (found.simple, found.simple)
    assert found.hours_at(989e12)[0] == pytest.approx(13.81, abs=0.01)
    assert as_rows([found], PEAKS)[1][-1] == "276%"
    longer = typed_compute(149e6, 55e9, (22, 768, 8192), "H100", 5.0)
    assert longer.products[1] - longer.products[0] == 12 * 22 * 768 * 8192 * 55e9


def test_the_printed_entry_of_pubmedbert_is_its_recipe(root: Path) -> None:
    found = {one.name: one for one in all_compute(load(root / "specs", "full"), printed_costs())}
    one = found["PubMedBERT"]
    tokens = 62_500 * 8192 * 512
    assert one.tokens == tokens and one.hours == 16 * 120
    # 12 layers of four matrices of 768 x 768 and two of 768 x 3,072, and 30,522 embeddings.
    assert one.simple == 6 * (12 * (4 * 768**2 + 2 * 768 * 3072) + 30_522 * 768) * tokens
    least, most = one.products
    assert 4 < most / least < 5  # four times the tokens, and more attention
    assert len({name for name in found if name.startswith("BioMegatron")}) > 5


def test_layers_that_share_weights_count_each(root: Path) -> None:
    found = {one.name: one for one in all_compute(load(root / "specs", "full"), printed_costs())}
    one = found["BioM-ALBERT xxlarge"]
    assert 1 < one.products[1] / one.simple < 1.5
    assert as_rows([one], PEAKS)[1][-2:] == ["–", "–"]


def test_an_entry_predicts_15_percent_of_its_tokens_unless_it_says_otherwise(
    root: Path, tmp_path: Path
) -> None:
    """After attention the last layer has products of 8 x 8 and twice 8 x 16, the head of 8 x 8 and 100 x 8,
    at predicted tokens only: three times two operations each."""
    network = "{layers: 1, hidden: 8, intermediate: 16, embedding: 8, projected: false, pieces: 100}"
    entries = [
        f"{{name: {name}, source: b, network: {network}, tokens: 1e6, lengths: [8, 8]{more}}}"
        for name, more in (("own", ""), ("same", ", predicted: 0.15"), ("all", ", predicted: 1"))
    ]
    (tmp_path / "printed.yaml").write_text("pretrainings:\n" + "".join(f"  - {one}\n" for one in entries))
    costs = all_compute(load(root / "specs", "full"), printed_costs(tmp_path / "printed.yaml"))
    products = {one.name: one.products[0] for one in costs}
    own, same, every = (products[name] for name in ("own", "same", "all"))
    assert own == same and every - own == pytest.approx(0.85e6 * 6 * (8 * 8 + 2 * 8 * 16 + 8 * 8 + 100 * 8))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pretrainings: [{name: a, source: b, lengths: [1, 2], recpe: x}]", "recpe"),
        ("pretrainings: [{name: a, source: b, lengths: [1, 2], hours: many}]", "hours"),
        ("pretraining: []", "pretrainings"),
    ],
)
def test_a_wrong_entry_is_named(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "printed.yaml").write_text(text + "\n")
    with pytest.raises(PubmillError, match=message):
        printed_costs(tmp_path / "printed.yaml")


def test_an_unknown_gpu_is_named_with_those_that_are_known() -> None:
    with pytest.raises(PubmillError, match="no peak of a GPU B200 .* V100, A100, H100"):
        as_rows([typed_compute(1e6, 1e6, None, "B200", None)], PEAKS)


def test_the_command_prints_a_table_or_numbers(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    typed = ["audit", "compute", "--parameters", "149e6", "--tokens", "55e9", "--gpu", "H100", "--hours", "5"]
    assert "276%" in CliRunner().invoke(APP, typed).stdout
    [one] = json.loads(CliRunner().invoke(APP, [*typed, "--json"]).stdout)
    assert one["printed_gpu_hours"] == 5 and one["6nd"] == pytest.approx(6 * 149e6 * 55e9)
    done = CliRunner().invoke(APP, ["audit", "compute", "--parameters", "1e6"])
    assert isinstance(done.exception, PubmillError) and "--parameters without --tokens" in str(done.exception)


@pytest.mark.parametrize(
    ("words", "message"),
    [(["--tokens", "1e6"], "--tokens without --parameters"),
     (["--layers", "12"], "--layers without --hidden and --length"),
     (["--layers", "12", "--hidden", "768"], "--layers and --hidden without --length"),
     (["--hidden", "768", "--length", "512"], "--hidden and --length without --layers")],
)  # fmt: skip
def test_figures_that_belong_together_are_typed_together(words: list[str], message: str, root: Path) -> None:
    said = run_verb("audit", "compute", *words, checkout=root)
    assert (said.returncode, said.stderr) == (1, f"pubmill: error: {message}: give all of them, or none\n")


def test_attention_is_added_to_typed_figures(root: Path) -> None:
    typed = ["audit", "compute", "--parameters", "1e6", "--tokens", "2e9", "--json"]
    attended = ["--layers", "2", "--hidden", "8", "--length", "16"]
    simple, attention = 6 * 1e6 * 2e9, 12 * 2 * 8 * 16 * 2e9
    for words, products in ((typed, [simple] * 2), ([*typed, *attended], [simple, simple + attention])):
        [one] = json.loads(run_verb(*words, checkout=root).stdout)
        assert (one["products"], one["gpu"], one["printed_gpu_hours"]) == (products, "A100", None)


def test_without_figures_all_printed_pretrainings_are_listed(root: Path) -> None:
    head, *lines = run_verb("audit", "compute", checkout=root).stdout.splitlines()
    assert head.split()[:3] == ["pretraining", "tokens", "6ND"]
    assert len(lines) > len(printed_costs()) and any(line.startswith("PubMedBERT ") for line in lines)


def test_a_file_that_is_no_yaml_is_named_with_the_line(tmp_path: Path) -> None:
    (tmp_path / "printed.yaml").write_text("pretrainings: []\npretrainings: []\n")
    with pytest.raises(PubmillError, match=r"^printed\.yaml:2: .*pretrainings"):
        printed_costs(tmp_path / "printed.yaml")


SHAPE = NetworkShape(layers=1, hidden=2, intermediate=3, embedding=2, projected=False, pieces=5)


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"recipe": "no-such"}, r"printed\.yaml: no recipe no-such in specs/pretraining"),
     ({"tokens": 1e6}, r"printed\.yaml, x: expected a recipe, or network and tokens"),
     ({"network": SHAPE}, r"printed\.yaml, x: expected a recipe, or network and tokens"),
     ({}, r"printed\.yaml, x: expected a recipe, or network and tokens")],
)  # fmt: skip
def test_an_entry_without_what_it_costs_is_named(
    changes: dict[str, Any], message: str, full_specs: Specs
) -> None:
    one = PrintedCost(name="x", source="y", lengths=(1, 2), **changes)
    with pytest.raises(PubmillError, match=f"^{message}$"):
        next(all_compute(full_specs, [one]))


def test_a_network_costs_its_products_over_the_tokens(full_specs: Specs) -> None:
    """Hours are those of all GPUs; the longest sequences have the most attention."""
    one = PrintedCost(name="x", source="y", lengths=(8, 16), network=SHAPE, tokens=1e6, hours=3.0, gpus=4)
    made = next(all_compute(full_specs, [one]))
    least, most = made.products
    attention = 3 * 2 * 2 * 2 * 1e6  # forward and backward, scores and sums, 2 operations a product, hidden
    assert (made.tokens, made.hours, made.gpu) == (1e6, 12.0, "A100")
    assert most - least == pytest.approx(attention * (16 - 8))
    alone = next(all_compute(full_specs, [replace(one, hours=None)]))
    assert alone.hours is None and as_rows([alone], PEAKS)[1][-2:] == ["–", "–"]
