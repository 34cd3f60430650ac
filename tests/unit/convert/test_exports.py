"""Published forms: bytes that must be the published ones, the generic TSV, and forms for every kind."""

import hashlib
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubmill.convert.exports import WriterOptions, publish, write_rows
from pubmill.convert.tsv import WRITTEN, write
from pubmill.errors import PubmillError
from pubmill.examples import kinds
from pubmill.metrics import dev_scores
from pubmill.recipes.datasets import PublishedFile, PublishedRecipe
from pubmill.recipes.finetuning import Dummies
from pubmill.specs import DatasetSpec
from pubmill.specs.dataset_specs import TASKS
from pubmill.stages.dataset_recipes import published_recipe
from tests.world.part import CANARY

TEXT = "IL-2 binds aspirin."
DRUG, GENE = kinds.Entity(start=11, end=18, type="DRUG"), kinds.Entity(start=0, end=4, type="GENE")
EXAMPLES = [
    kinds.SequenceExample(id="a", document="1", text=TEXT, label="binds", entities=[DRUG, GENE]),
    kinds.SequenceExample(id="b", document=None, text="α β", text_pair="γ", label="0"),
]
DUMMIES = Dummies(types={"DRUG": "@DRUG$", "GENE": "@GENE$"}, overlap="@DRUG-GENE$")
BYTES = "index\tsentence\tlabel\na\t@GENE$ binds @DRUG$.\tbinds\nb\tα β\t0\n".encode()
OPTIONS = {"columns": ["id", "dummies", "label"], "header": ["index", "sentence", "label"]}
RECIPE = PublishedRecipe(
    dataset="toy", kind="sequence", access="public", writer="pubmill.convert.tsv:write", options=OPTIONS,
    dummies=DUMMIES,
    files={
        "train": PublishedFile(name="train.tsv", sha256=hashlib.sha256(BYTES).hexdigest()),
        "test": PublishedFile(name="test.tsv", sha256=None),
    },
)  # fmt: skip
CELLS = st.text(st.characters(exclude_characters="\t\n\r", exclude_categories=["Cs"]))


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    folder = tmp_path / "examples"
    kinds.write_examples(folder / "train.jsonl.gz", EXAMPLES)
    kinds.write_examples(folder / "test.jsonl.gz", EXAMPLES[1:])
    return folder


def test_files_are_written_by_the_options_of_their_split_and_compared(tmp_path: Path, examples: Path) -> None:
    results = publish(RECIPE, examples, tmp_path / "out")
    assert (tmp_path / "out/train.tsv").read_bytes() == BYTES
    test = (tmp_path / "out/test.tsv").read_bytes()
    assert test == "index\tsentence\tlabel\nb\tα β\t0\n".encode()
    assert results == {
        "train": {"name": "train.tsv", "sha256": hashlib.sha256(BYTES).hexdigest(), "equal": True},
        "test": {"name": "test.tsv", "sha256": hashlib.sha256(test).hexdigest(), "equal": None},
    }
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["test.tsv", "train.tsv"]
    options = {**OPTIONS, "header": None, "train": {"header": OPTIONS["header"]}}
    publish(replace(RECIPE, options=options), examples, tmp_path / "out")
    assert (tmp_path / "out/train.tsv").read_bytes() == BYTES
    assert (tmp_path / "out/test.tsv").read_bytes() == "b\tα β\t0\n".encode()


def test_other_bytes_are_reported_and_not_written(tmp_path: Path, examples: Path) -> None:
    files = {"test": RECIPE.files["test"], "train": PublishedFile(name="train.tsv", sha256="0" * 64)}
    with pytest.raises(PubmillError) as caught:
        publish(replace(RECIPE, files=files), examples, tmp_path / "out")
    message = str(caught.value)
    assert (
        f"train (train.tsv): expected sha256 {'0' * 64}, found {hashlib.sha256(BYTES).hexdigest()}" in message
    )
    assert "test (" not in message
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("change", "message"), [
    ({"writer": "pubmill.convert.tsv:nothing"}, "no writer"),
    ({"writer": "pubmill.convert.nowhere:write"}, "no writer"),
    ({"writer": "os:system"}, "specs/datasets/toy.yaml: there is no writer"),
    ({"dummies": None}, "no `dummies`"),
    ({"dummies": Dummies(types={"GENE": "@G$"}, overlap="@")}, "no dummy .* for entities of type DRUG"),
    ({"kind": "tokens"}, "train.jsonl.gz:1: example a: not a TokensExample"),
    ({"options": {"columns": []}}, "(?s)toy, train: published.options.*columns is .*datasets/toy.yaml"),
    ({"options": {"columns": ["id", "word"]}}, "'word'. unknown; known are .*'dummies'"),
    ({"options": {"columns": ["id", "score"]}}, "but 'SequenceExample' object has no attribute 'score'"),
    ({"options": {**OPTIONS, "test": 5}}, "the option `test` is 5"),
    ({"files": {"dev": PublishedFile(name="dev.tsv", sha256=None)}}, "dev.jsonl.gz does not exist"),
])  # fmt: skip
def test_recipes_are_checked(tmp_path: Path, examples: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(PubmillError, match=message):
        publish(replace(RECIPE, **change), examples, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("mark", ["\t", "\n", "\r"])
def test_what_a_table_cannot_hold_is_reported_by_its_example_and_without_its_text(mark: str) -> None:
    example = kinds.SequenceExample(id="x7", document=None, text=f"{CANARY}{mark}", label="l")
    with pytest.raises(PubmillError, match="example x7 has a tab or line feed") as caught:
        list(write([example], WriterOptions({"columns": ["text"]}, None)))
    assert CANARY not in str(caught.value)


@given(st.lists(st.tuples(CELLS, CELLS.filter(bool), CELLS, st.none() | CELLS)))
def test_every_cell_comes_back_from_its_column(rows: list[tuple[str, str, str, str | None]]) -> None:
    examples = [
        kinds.SequenceExample(id=name, document=pair, text=text, text_pair=pair, label=label)
        for name, text, label, pair in rows
    ]
    columns = ["number", "id", "text", "label", "text_pair", "document"]
    assert {*WRITTEN} - {*columns} == {"score", "dummies"}  # which are tried elsewhere
    text = "".join(write(examples, WriterOptions({"columns": columns, "header": None}, None)))
    assert [tuple(line.split("\t")) for line in text.split("\n")[:-1]] == [
        (str(number), name, text, label, pair or "", pair or "")
        for number, (name, text, label, pair) in enumerate(rows)
    ]


@pytest.mark.parametrize(("score", "written"), [(2.4, "2.4"), (0.0, "0.0"), (1 / 3, "0.3333333333333333")])
def test_scores_are_written_so_that_they_can_be_read_back(score: float, written: str) -> None:
    example = kinds.RegressionExample(id="a", document=None, text="t", text_pair="p", score=score)
    assert "".join(write([example], WriterOptions({"columns": ["score"]}, None))) == f"{written}\n"


NESTED = kinds.MultilabelExample(
    id="1", document="7", text="Ann. é", labels=["a"],
    sentences=[kinds.LabelledSentence(start=0, end=4, labels=["a"])],
)  # fmt: skip
GENERAL: dict[str, tuple[kinds.Example, str]] = {
    "tokens": (
        kinds.TokensExample(id="1", document="7", words=["é", "b"], labels=["B-x", "O"]),
        "-DOCSTART- 7\n\né\tB-x\nb\tO\n\n",
    ),
    "sequence": (
        EXAMPLES[0],
        f"id\tdocument\ttext\ttext_pair\tdummies\tlabel\na\t1\t{TEXT}\t\t@GENE$ binds @DRUG$.\tbinds\n",
    ),
    "regression": (
        kinds.RegressionExample(id="1", document=None, text="a", text_pair="b", score=0.5),
        "id\tdocument\ttext\ttext_pair\tscore\n1\t\ta\tb\t0.5\n",
    ),
    "multilabel": (
        NESTED,
        '{"document": "7", "id": "1", "labels": ["a"], '
        '"sentences": [{"end": 4, "labels": ["a"], "start": 0}], "text": "Ann. é"}\n',
    ),
    "mentions": (
        kinds.MentionsExample(id="1", document=None, words=["a", "b"], mentions=[kinds.WordSpan(0, 2, "x")]),
        '{"document": null, "id": "1", "mentions": [{"after": 2, "first": 0, "type": "x"}], '
        '"words": ["a", "b"]}\n',
    ),
}


@pytest.mark.parametrize("kind", GENERAL)
def test_a_kind_has_a_general_form(tmp_path: Path, kind: str) -> None:
    """Only its owner may read it of a dataset that isn't public."""
    task = TASKS[kind][0]
    metric = dev_scores(kind, task)[0]
    spec = DatasetSpec.model_validate(
        {"name": "toy", "kind": kind, "task": task, "domain": "biomedical", "splits": ["test"], "expect": {},
         "sources": {"test": {"local": "toy", "file": "a.tsv"}}, "access": "credentialed", "licence": "none",
         "apply": "https://example.org/apply", "converter": "pubmill.convert.tsv:read",
         "dummies": asdict(DUMMIES) if kind == "sequence" else None, "metric": metric, "negative": None,
         "version": 1}
    )  # fmt: skip
    recipe = published_recipe("toy", spec)
    example, written = GENERAL[kind]
    kinds.write_examples(tmp_path / "test.jsonl.gz", [example])
    [result] = publish(recipe, tmp_path, tmp_path / "out").values()
    assert result["name"] == ("test.tsv" if kind in ("tokens", "sequence", "regression") else "test.jsonl")
    assert (tmp_path / "out" / result["name"]).read_text() == written
    assert (tmp_path / "out" / result["name"]).stat().st_mode & 0o777 == 0o600
    with pytest.raises(PubmillError, match="no options"):
        list(write_rows([example], WriterOptions({"columns": ["id"]}, None)))


def test_a_form_that_does_not_fit_the_kind_is_refused() -> None:
    data = SimpleNamespace(name="toy", kind="span", splits=("train",), published=None)
    with pytest.raises(PubmillError, match=r"no labelled words.*export it as jsonl"):
        published_recipe("toy", data, "conll")  # type: ignore[arg-type]
