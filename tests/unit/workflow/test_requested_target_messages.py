"""Messages on requested targets that no rule can make."""

from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.specs import load
from pubmill.specs.study import Study
from pubmill.stages import Graph, checked_graph
from pubmill.workflow.requested_targets import check_asked

PATTERNS = {
    "convert": ["results/full/datasets/{dataset}/card.json"],
    "report": ["results/full/reports/mine.html"],
    "export_model": ["results/full/models/{model}/config.json"],
}


@pytest.fixture(scope="module")
def targets(root: Path) -> Graph:
    study = Study(study="mine", title="mine", scale="full", tables=("gu2020/table06",))
    return checked_graph(study, load(root / "specs", "full"))


def message(targets: Graph, root: Path, file: str, *, lost: bool = True, many: tuple[str, ...] = ()) -> str:
    """Return the message on one requested file, or on rules that make many files."""
    files = [file] if file else []
    with pytest.raises(PubmillError) as error:
        check_asked(files, files if lost else [], many, PATTERNS, targets, root / "studies")
    return str(error.value)


@pytest.mark.parametrize(
    "file",
    [
        "results/full/datasets/bc2gm/card.json",
        "results/full/corpora/parsed/blocks/pubmed/1.json",
        "results/full/pretraining/tokens/pubmed-abstracts/pubmed-uncased/ids.bin",
        "results/full/runs/blurb/selected/bc2gm/standard.json",
        "results/full/runs/off-the-shelf/pubmedbert-base/bc2gm/as-it-is/final/seed-1.json",
        "results/full/tables/gu2020/gu2020-table06.comparisons.json",
        "elsewhere/datasets/none/card.json",
    ],
)
def test_targets_that_exist_pass(targets: Graph, root: Path, file: str) -> None:
    """Folders that name no spec are no mistakes."""
    check_asked([file], [], [], PATTERNS, targets, root / "studies")


@pytest.mark.parametrize(
    ("path", "kind", "name"),
    [
        ("tables/gu2020/gu2020-table66.html", "table", "gu2020/table66"),
        ("pages/datasets/bc2gn.html", "dataset", "bc2gn"),
        ("runs/blrub/bert-base-uncased/bc2gm/standard/final/seed-1.json", "protocol", "blrub"),
        ("runs/blurb/bert-base-uncasde/bc2gm/standard/final/seed-1.json", "model", "bert-base-uncasde"),
        ("runs/blurb/bert-base-uncased/bc2gn/standard/final/seed-1.json", "dataset", "bc2gn"),
        ("vocabs/nonesuch/on/bc2gm.json", "vocabulary", "nonesuch"),
        ("vocabs/pubmed-uncased/on/bc2gn.json", "dataset", "bc2gn"),
        ("corpora/pubmed-abstract/stats.json", "corpus", "pubmed-abstract"),
        ("pretraining/tokens/none/pubmed-uncased/ids.bin", "corpus", "none"),
        ("runs/none/selected/bc2gm/standard.json", "protocol", "none"),
        ("pretraining/pubmedbert-bsae/step-1/state.json", "recipe of pretraining", "pubmedbert-bsae"),
        ("models/nonesuch/config.json", "model", "nonesuch"),
        ("datasets/nonesuch/card.json", "dataset", "nonesuch"),
    ],
)
def test_a_name_without_spec_is_named(targets: Graph, root: Path, path: str, kind: str, name: str) -> None:
    found = message(targets, root, f"results/full/{path}", lost=False)
    assert f"results/full/{path}: there is no {kind} {name!r}" in found


def test_a_rule_with_wildcards_names_one_of_its_files(targets: Graph, root: Path) -> None:
    found = message(targets, root, "", many=("convert",))
    assert found.startswith("rule convert makes many files")
    assert found.endswith("request one of them by its path: results/full/datasets/{dataset}/card.json")


def test_the_path_of_another_scale_has_its_command(targets: Graph, root: Path) -> None:
    found = message(targets, root, "results/demo/datasets/bc2gm/card.json")
    assert "the configuration has scale full, but the path has scale demo. Run: .venv/bin/pubmill" in found
    assert "results/demo/datasets/bc2gm/card.json" in found.partition("Run: ")[2]


def test_the_table_of_another_study_has_its_command(targets: Graph, root: Path) -> None:
    file = "results/full/tables/tinn2021/tinn2021-table08.html"
    assert "this is a table of study tinn2021. Run: .venv/bin/pubmill" in message(targets, root, file)
    assert "The nearest:" in message(targets, root, file.replace("/tinn2021/", "/unheard-of/"))


@pytest.mark.parametrize(
    ("file", "nearest"),
    [
        ("results/full/datasets/bc2gm/crad.json", "results/full/datasets/{dataset}/card.json"),
        ("convrt", "convert"),
        ("TABLE06", "results/full/tables/mine/gu2020-table06.html"),
        ("bc2gn", "results/full/datasets/bc2gm/card.json"),
        ("bert-base-uncasde", "results/full/models/bert-base-uncased/config.json"),
    ],
)
def test_a_misspelt_target_lists_the_nearest(targets: Graph, root: Path, file: str, nearest: str) -> None:
    found = message(targets, root, file)
    assert f"{file}: no rule has this name, and no rule makes this file. The nearest:\n" in found
    assert nearest in [line.strip() for line in found.splitlines()[1:]]
