"""Published forms as the predictions of a system: the highest score, and less if the labels are shifted."""

from dataclasses import replace
from pathlib import Path

import pytest

from pubmill.convert.dataset import convert
from pubmill.convert.exports import publish
from pubmill.examples.kinds import KINDS, read_examples
from pubmill.predictions.scores import scored
from pubmill.predictions.submission import read_submission, recipe_of
from tests.acceptance.conftest import Converted, mostly_weekly
from tests.acceptance.test_tokens_real import ebm_tree
from tests.dataset_specs import conversion_of, inputs_of, published_of, spec_of
from tests.world.archives import tarball

PUBLIC = (
    "bc2gm", "bc5-chem", "bc5-disease", "biosses", "chemprot@blurb", "ddi@blurb", "ebm-pico", "gad@blurb",
    "hoc@blurb", "jnlpba", "ncbi-disease", "pubmedqa",
)  # fmt: skip
"""BLURB's datasets, except BioASQ's, which needs an application."""


@pytest.fixture
def datasets(name: str, shared: Path, converted: Converted, tmp_path: Path) -> Path:
    """Folder with the converted dataset `name`."""
    if not (shared / "oracles").is_dir():
        pytest.skip(f"no output of BLURB's generator: {shared}/oracles is absent")
    folder = tmp_path / "submissions"
    folder.mkdir()
    if name != "ebm-pico":
        (folder / name).symlink_to(converted(name))
        return folder
    # The archive of EBM PICO is not at hand: its tree, from BLURB's output of two splits
    archive = folder / "ebm.tar.gz"
    archive.write_bytes(tarball(ebm_tree(shared / "oracles/ebm-pico")))
    recipe = conversion_of("ebm-pico")
    expect = {split: recipe.expect[split] for split in ("dev", "test")}
    inputs = inputs_of("ebm-pico", shared / "mirror") | {"archive": archive}
    convert(replace(recipe, splits=("dev", "test"), expect=expect), inputs, folder / "ebm-pico")
    return folder


def score(name: str, path: Path, datasets: Path) -> float:
    """Return the main metric of a file of predictions, in points."""
    folder = datasets / name
    recipe = replace(recipe_of(folder, dummies=spec_of(name).dummies), split="test")
    examples = list(read_examples(folder / "test.jsonl.gz", KINDS[recipe.kind]))
    found = scored(path, recipe, examples, read_submission(path, recipe, examples, datasets))
    assert found.left_aside() == []
    return 100 * found.metrics[recipe.metric]


def shifted(text: str) -> str:
    """Return a table whose labels are rotated by half of the rows: some files are sorted by label."""
    rows = [line.split("\t") for line in text.splitlines()]
    header = rows[0][-1] in ("index", "label", "score")
    labelled = [row for row in rows[header:] if len(row) > 1]
    column = 0 if rows[0][0] == "labels" else -1
    labels = [row[column] for row in labelled]
    half = len(labels) // 2
    for row, label in zip(labelled, labels[half:] + labels[:half], strict=True):
        row[column] = label
    return "".join("\t".join(row) + "\n" for row in rows)


@pytest.mark.parametrize("name", mostly_weekly(PUBLIC, "biosses", "pubmedqa", "bc5-disease", "ddi@blurb"))
def test_the_published_form_of_every_public_dataset(name: str, datasets: Path, tmp_path: Path) -> None:
    file = published_of(name).files["test"]
    publish(replace(published_of(name), files={"test": file}), datasets / name, tmp_path)
    path = tmp_path / file.name
    assert f"{score(name, path, datasets):.2f}" == "100.00"
    path.write_text(shifted(path.read_text(encoding="utf-8")), encoding="utf-8")
    assert score(name, path, datasets) < 99
