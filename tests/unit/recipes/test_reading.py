"""Recipes on the command line are as strict as specs."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

from pubmill.errors import PubmillError
from pubmill.recipes import FinetuningRecipe, PretrainingRecipe, build, fits, read
from pubmill.recipes.corpora import EvaluatedDataset, IndexRecipe, ParsingRecipe
from pubmill.recipes.models import ExportRecipe, PretrainedWeights, ReleasedWeights, TrainingStart
from pubmill.recipes.recipe_types import OMIT_DEFAULT, PartialRecipe
from pubmill.recipes.writing import as_json, as_values

PRETRAINING: dict[str, Any] = {
    "architecture": {
        "family": "bert", "layers": 2, "hidden_size": 16, "attention_heads": 2, "intermediate_size": 32,
    },
    "objective": {"masking": "whole-word"},
    "optimisation": {"learning_rate": 1e-3},
    "sequence_length": 64,
    "batch_size": 8,
    "steps": 10,
}  # fmt: skip
EXPORT: dict[str, Any] = {
    "model": "m",
    "lowercase": True,
    "weights": {"kind": "pretraining", "recipe": "r", "step": 5, "start": {"recipe": "s", "step": 2}},
    "pretraining": PRETRAINING,
    "scale": "small",
}


@dataclass(frozen=True, kw_only=True)
class Part:
    name: str
    size: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Whole:
    """Every form of field that a recipe may have."""

    parts: tuple[Part, ...]
    by_name: dict[str, list[Part]] = field(default_factory=dict)
    pair: tuple[str, int] | None = None
    listed: tuple[str | tuple[str, ...], ...] = ()
    who: tuple[str, ...] | Literal["each"] = "each"
    sizes: dict[Literal["small", "large"], int] = field(default_factory=dict)
    one: Literal[1] | None = field(default=None, metadata=OMIT_DEFAULT)
    other: Any = None


def fault(recipe: type[Any], values: Any) -> str:
    with pytest.raises(PubmillError) as caught:
        read(recipe, json.dumps(values))
    return str(caught.value)


def test_json_text_and_a_file_give_the_same(tmp_path: Path) -> None:
    path = tmp_path / "recipe.json"
    path.write_text(json.dumps(PRETRAINING))
    made = read(PretrainingRecipe, json.dumps(PRETRAINING))
    assert made == read(PretrainingRecipe, str(path))
    assert made.architecture.layers == 2 and made.objective.masking_rate == 0.15


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stepps": 5}, "stepps: unknown key; PretrainingRecipe has the keys architecture, "),
        ({"steps": "many"}, "steps: expected an integer, found 'many'"),
        ({"steps": True}, "steps: expected an integer, found True"),
        (
            {"precision": "bf16"},
            "precision: expected 'auto' or 'float32' or 'bfloat16' or 'float16', found 'bf16'",
        ),
        ({"objective": {"masking": "none"}}, "objective.masking: expected 'whole-word' or "),
        ({"objective": 5}, "objective: expected an object, found 5"),
        ({"steps": 0}, "steps must be above 0, found 0"),
    ],
)
def test_wrong_values_are_reported(change: dict[str, Any], message: str) -> None:
    assert fault(PretrainingRecipe, PRETRAINING | change).startswith(
        f"--recipe: not a valid PretrainingRecipe:\n  {message}"
    )


def test_all_wrong_keys_are_reported_together_with_their_place() -> None:
    values = {"parts": [{"name": "a"}, {"nmae": "b"}, 3], "by_name": {"x": [{"name": 1}]}, "pair": ["a"]}
    assert fault(Whole, values).splitlines() == [
        "--recipe: not a valid Whole:",
        "  parts.1.nmae: unknown key; Part has the keys name, size",
        "  parts.1.name: missing",
        "  parts.2: expected an object, found 3",
        "  by_name.x.0.name: expected text, found 1",
        "  pair: expected a list of 2, found ['a']",
    ]


def test_nested_lists_dicts_tuples_and_unions_are_built() -> None:
    values = {
        "parts": [{"name": "a", "size": 2}, {"name": "b"}], "by_name": {"x": [{"name": "c"}]},
        "pair": ["p", 1], "listed": ["a", ["b", "c"]], "who": ["m"], "sizes": {"small": 3}, "one": 1,
        "other": [1, {"x": None}],
    }  # fmt: skip
    made = read(Whole, json.dumps(values))
    assert made == Whole(
        parts=(Part(name="a", size=2), Part(name="b")), by_name={"x": [Part(name="c")]}, pair=("p", 1),
        listed=("a", ("b", "c")), who=("m",), sizes={"small": 3}, one=1, other=[1, {"x": None}],
    )  # fmt: skip
    assert read(Whole, as_json(made)) == made
    assert read(Whole, '{"parts": []}') == Whole(parts=())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pair": ["a", "b"]}, "pair.1: expected an integer, found 'b'"),
        ({"listed": [["a", 1]]}, "listed.0.1: expected text, found 1"),
        ({"who": "all"}, "who: expected a list or 'each', found 'all'"),
        ({"sizes": {"huge": 1}}, "sizes: expected an object, found {'huge': 1}"),
        ({"one": True}, "one: expected 1 or null, found True"),
        ({"parts": {"name": "a"}}, "parts: expected a list, found {'name': 'a'}"),
    ],
)
def test_wrong_values_of_every_form_are_reported(change: dict[str, Any], message: str) -> None:
    assert fault(Whole, {"parts": []} | change) == f"--recipe: not a valid Whole:\n  {message}"


def test_an_object_is_read_as_the_class_of_its_kind() -> None:
    made = build(ExportRecipe, EXPORT, "here")
    start = TrainingStart(recipe="s", step=2)
    assert made.weights == PretrainedWeights(recipe="r", step=5, start=start)
    assert made.pretraining == build(PretrainingRecipe, PRETRAINING, "here")
    hub = {"kind": "hub", "id": "lab/bert", "revision": "f"}
    assert build(ExportRecipe, EXPORT | {"weights": hub}, "here").weights == ReleasedWeights(
        id="lab/bert", revision="f"
    )
    assert "weights.step: missing" in fault(
        ExportRecipe, EXPORT | {"weights": {"kind": "pretraining", "recipe": "r"}}
    )
    for weights in ({"kind": "dream"}, {"recipe": "r", "step": 5}):
        assert "weights: is not one of PretrainedWeights, RandomWeights, LocalWeights" in fault(
            ExportRecipe, EXPORT | {"weights": weights}
        )


def test_missing_keys_are_reported_and_a_search_may_supply_them() -> None:
    known = {
        "task": "tokens", "metric": "entity_f1", "head": "linear", "tagging": "bio",
        "labelled_subwords": "first", "epochs": 3,
    }  # fmt: skip
    with pytest.raises(PubmillError, match=r"learning_rate: missing\n  batch_size: missing"):
        read(FinetuningRecipe, json.dumps(known))
    made = read(FinetuningRecipe, json.dumps(known), {"batch_size": 16, "learning_rate": 1})
    assert made.batch_size == 16


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("nowhere.json", "neither JSON text nor a readable JSON file"),
        ("", "neither JSON text nor"),
        ('"parts": ' + "a" * 300, "neither JSON text nor"),
        ("{not json", "not valid JSON: .* at line 1"),
        ('{"similar": NaN}', "not valid JSON: NaN is not a number in JSON"),
        ('{"parts": [], "parts": []}', "not valid JSON: the key 'parts' occurs twice"),
        ('{"parts": ' + "[" * 100_000, "not valid JSON"),
        ('{"parts": ' + "9" * 5_000 + "}", "not valid JSON"),
    ],
)
def test_neither_text_nor_file(argument: str, message: str) -> None:
    with pytest.raises(PubmillError, match=f"--recipe: .*{message}"):
        read(Whole, argument)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[1]", "expected an object, found .1."),
        (b"null", "expected an object"),
        (b"\xff{", "cannot be read"),
    ],
)
def test_a_file_without_an_object_is_reported(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "recipe.json"
    path.write_bytes(content)
    with pytest.raises(PubmillError, match=rf"recipe\.json.*\s.*{message}"):
        read(Whole, str(path), {"one": 1})


def test_text_is_sorted_and_complete_but_for_omitted_defaults() -> None:
    recipe = IndexRecipe(datasets=(EvaluatedDataset(dataset="d", splits=("dev", "test"), pmids=False),))
    assert as_json(recipe) == '{"datasets": [{"dataset": "d", "pmids": false, "splits": ["dev", "test"]}]}'
    parsing = ParsingRecipe(source="s", kind="pmc")
    assert as_json([parsing]) == '[{"kind": "pmc", "source": "s"}]'
    assert as_values(parsing) == {"kind": "pmc", "source": "s"}
    unreadable = ParsingRecipe(source="s", kind="pmc", unreadable={"a": ("PMC1.1",)})
    assert '"unreadable": {"a": ["PMC1.1"]}' in as_json(unreadable)
    assert as_values(build(ExportRecipe, EXPORT, "here"))["weights"] == EXPORT["weights"]


def test_a_partial_recipe_is_written_with_its_own_keys_only() -> None:
    partial = PartialRecipe(FinetuningRecipe, {"task": "tokens", "epochs": 3})
    assert as_json([partial]) == '[{"epochs": 3, "task": "tokens"}]'
    with pytest.raises(ValueError, match="FinetuningRecipe has no keys epoch"):
        PartialRecipe(FinetuningRecipe, {"epoch": 3})


def test_only_recipes_are_written() -> None:
    for value in ({"path": Path("x")}, {"type": Part}, {"number": float("nan")}):
        with pytest.raises((TypeError, ValueError)):
            as_json(value)


def test_true_is_not_one_and_an_integer_is_a_number() -> None:
    assert fits(1, float) and not fits(True, int) and not fits(1.0, int)
    assert fits(1, Literal[1]) and not fits(True, Literal[1])


def test_what_is_no_dataclass_is_no_recipe() -> None:
    with pytest.raises(TypeError, match="<class 'int'> is not a recipe"):
        read(int, "{}")


@dataclass(frozen=True, kw_only=True)
class Nested:
    """A choice within a choice of lists."""

    limit: tuple[int | None, Literal["a", "b"] | int] | Literal["none"]


def test_the_types_of_a_choice_are_named_together() -> None:
    assert read(Nested, '{"limit": [null, "a"]}') == Nested(limit=(None, "a"))
    assert read(Nested, '{"limit": "none"}') == Nested(limit="none")
    for limit, message in (
        (["x", 1], "limit.0: expected an integer or null, found 'x'"),
        ([1, "c"], "limit.1: expected 'a' or 'b' or an integer, found 'c'"),
        ([1], "limit: expected a list of 2, found [1]"),
        ("all", "limit: expected a list of 2 or 'none', found 'all'"),
    ):
        assert fault(Nested, {"limit": limit}) == f"--recipe: not a valid Nested:\n  {message}"


@dataclass(frozen=True, kw_only=True)
class Listed:
    """Lists of choices."""

    many: dict[str, int | str]


def test_a_choice_in_a_mapping_is_named_with_its_key() -> None:
    assert read(Listed, '{"many": {"a": 1, "b": "x"}}') == Listed(many={"a": 1, "b": "x"})
    assert "many.b: expected an integer or text, found [1]" in fault(Listed, {"many": {"a": 1, "b": [1]}})


def test_a_list_fits_with_all_of_its_items() -> None:
    assert fits(["a", "b"], list[str]) and fits([], list[str])
    assert not fits(["a", 1], list[str]) and not fits("ab", list[str]) and not fits(("a",), list[str])
    assert fits(["a"], list[str] | None) and fits(None, list[str] | None) and not fits([1], list[str] | None)


@dataclass(frozen=True, kw_only=True)
class Kept:
    """The only class of its choice, which has a kind."""

    kind: Literal["kept"]


@dataclass(frozen=True, kw_only=True)
class Holder:
    """One object or none."""

    kept: Kept | None = None


def test_the_only_class_of_a_choice_says_what_is_wrong_in_it() -> None:
    assert read(Holder, '{"kept": {"kind": "kept"}}') == Holder(kept=Kept(kind="kept"))
    assert "kept.kind: expected 'kept', found 'lost'" in fault(Holder, {"kept": {"kind": "lost"}})
    assert "weights: expected an object or " in fault(ExportRecipe, EXPORT | {"weights": 5})


def test_a_long_name_of_a_file_is_cut_in_the_message() -> None:
    with pytest.raises(PubmillError) as error:
        read(Whole, "a" * 300)
    assert str(error.value).startswith("--recipe: '" + "a" * 199 + " is neither JSON text")
