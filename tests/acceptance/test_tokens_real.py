"""Token datasets from real files: the known counts, and the published files byte for byte.

Where the original archive is not at hand (GENIA's and EBM-NLP's), it is put together again from published
files that were made from it, and must give these files back.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pytest

from pubmill.convert.dataset import convert
from pubmill.convert.ebm_nlp import FOLDERS, LAYERS
from pubmill.convert.exports import publish
from pubmill.examples.kinds import TokensExample, read_examples
from pubmill.recipes.datasets import ConversionRecipe
from pubmill.storage.files import sha256
from tests.acceptance.conftest import Converted, examples_of, mostly_weekly
from tests.dataset_specs import conversion_of, inputs_of, published_of, spec_of
from tests.world.archives import tarball

SPLITS = ("train", "dev", "test")
OF_BIOBERT_AND_MTL = ("linnaeus", "linnaeus@biobert", "species-800")
OF_BLURB = ("bc5-chem", "bc5-disease", "ncbi-disease", "bc2gm")
MTL_JNLPBA = (
    "raw.githubusercontent.com/cambridgeltl/MTL-Bioinformatics-2016/"
    "df0df02fae6dbb87d88ffcf323b9096528f06f84/data/JNLPBA"
)


@pytest.mark.parametrize("name", mostly_weekly([*OF_BIOBERT_AND_MTL, "jnlpba"], "species-800", "jnlpba"))
def test_counts_hold_and_the_published_bytes_come_back(
    name: str, converted: Converted, tmp_path: Path
) -> None:
    reported = publish(published_of(name), converted(name), tmp_path / "published")
    assert [reported[split]["equal"] for split in SPLITS] == [True] * 3


@pytest.mark.parametrize("name", mostly_weekly(OF_BLURB, "ncbi-disease"))
def test_the_published_form_is_what_blurbs_generator_writes(
    name: str, converted: Converted, shared: Path, tmp_path: Path
) -> None:
    """A reader that copies each line with its label's first letter, and blank lines unchanged."""
    publish(published_of(name), converted(name), tmp_path / "published")
    for split, source in inputs_of(name, shared / "mirror").items():
        rows = [line.split("\t") for line in source.read_text().split("\n")]
        lines = ["\t".join([row[0], row[1][0]]) if len(row) == 2 else row[0] for row in rows]
        assert (tmp_path / "published" / f"{split}.tsv").read_text() == "\n".join(lines)


@pytest.mark.weekly
def test_both_forms_of_linnaeus_have_the_same_sentences_and_mentions(converted: Converted) -> None:
    forms = [converted(name) for name in ("linnaeus", "linnaeus@biobert")]
    different = 0
    for split in SPLITS:
        pairs = zip(*(examples_of(folder, split, TokensExample) for folder in forms), strict=True)
        for one, other in pairs:
            different += one.words != other.words
            assert [label for label in one.labels if label != "O"] == [
                f"{label}-Species" for label in other.labels if label != "O"
            ]
    assert different == 455


def columns(path: Path) -> Iterator[list[str]]:
    """Return the lines of a published file, split at tabs; `[""]` is a blank line."""
    return (line.split("\t") for line in path.read_text(encoding="utf-8").split("\n")[:-1])


def as_iob2(published: Path, typed: Path | None) -> str:
    """Write GENIA's format: words and documents of the published form, with labels from a typed copy.

    Without such a copy every mention becomes a protein; the format then differs only in the labels' types.
    """
    labels = (row[1] for row in columns(typed) if len(row) == 2 and row[0] != "-DOCSTART-") if typed else None
    written = []
    for row in columns(published):
        if row[0].startswith("-DOCSTART- "):
            written.append(row[0].replace("-DOCSTART- ", "###MEDLINE:"))
        elif len(row) == 1:
            written.append("")
        else:
            label = next(labels) if labels else row[1] + ("" if row[1] == "O" else "-protein")
            assert label[0] == row[1]
            written.append(f"{row[0]}\t{label}")
    assert labels is None or next(labels, None) is None
    return "\n".join(written) + "\n"


@pytest.fixture(scope="module")
def genia(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """GENIA's two archives, with the types of dev and test; those of train are not available."""
    published, typed = inputs_of("jnlpba", shared / "mirror"), shared / "mirror" / MTL_JNLPBA
    train = as_iob2(published["train"], None)
    assert train.count("\n") == 465_497  # where BLURB's script cuts
    dev, test = (
        as_iob2(published[split], typed / name)
        for split, name in (("dev", "devel.tsv"), ("test", "test.tsv"))
    )
    folder = tmp_path_factory.mktemp("genia")
    files = {"training": {"Genia4ERtask2.iob2": train + dev}, "evaluation": {"Genia4EReval2.iob2": test}}
    for role, members in files.items():
        archive = tarball({name: text.encode() for name, text in members.items()})
        (folder / f"{role}.tar.gz").write_bytes(archive)
    return {role: folder / f"{role}.tar.gz" for role in files}


def without_types_of_train(recipe: ConversionRecipe) -> ConversionRecipe:
    """Return the recipe without the counts by type and those of protein alone, which need train's types."""
    known = ("sentences", "tokens", "documents")
    train = {measure: number for measure, number in recipe.expect["train"].items() if measure in known}
    return replace(recipe, expect={**recipe.expect, "train": train})


@pytest.mark.weekly
@pytest.mark.parametrize("name", ["jnlpba@typed", "jnlpba@protein"])
def test_the_counts_of_each_type_from_the_original_form(
    name: str, genia: dict[str, Path], tmp_path: Path
) -> None:
    """dev and test match the spec; train matches it except for its types."""
    recipe = conversion_of(name)
    counts = convert(without_types_of_train(recipe), genia, tmp_path / name)["counts"]
    assert counts["dev"]["mentions.protein"] == 2466 and counts["test"]["mentions.protein"] == 5067
    assert recipe.expect["train"]["mentions.protein"] == 27803
    if name == "jnlpba@typed":
        assert counts["train"]["mentions"] == 46750


@pytest.mark.weekly
def test_blurbs_files_come_back_from_the_original_form(genia: dict[str, Path], tmp_path: Path) -> None:
    recipe = without_types_of_train(conversion_of("jnlpba@typed"))
    untyped = replace(recipe, options={**recipe.options, "labels": "first_character"}, expect={})
    convert(untyped, genia, tmp_path / "untyped")
    reported = publish(published_of("jnlpba"), tmp_path / "untyped", tmp_path / "published")
    assert [reported[split]["equal"] for split in SPLITS] == [True] * 3


@pytest.mark.weekly
def test_the_typed_copies_are_read_without_document_names(shared: Path, tmp_path: Path) -> None:
    typed = shared / "mirror" / MTL_JNLPBA
    recipe = conversion_of("jnlpba@typed")
    expect = {
        split: {measure: number for measure, number in recipe.expect[split].items() if measure != "documents"}
        for split in ("dev", "test")
    }
    options = {"labels": "as_written", "documents": "unnamed"}
    copies = replace(recipe, options=options, splits=("dev", "test"), expect=expect)
    convert(copies, {"dev": typed / "devel.tsv", "test": typed / "test.tsv"}, tmp_path / "copies")


def documents_of(oracle: Path) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Return (PMID, [(word, label)]) for each document of a file in BLURB's format."""
    rows: dict[str, list[tuple[str, str]]] = defaultdict(list)
    pmid = ""
    for row in columns(oracle):
        if row[0].startswith("-DOCSTART- ("):
            pmid = row[0][len("-DOCSTART- (") : -1]
        elif len(row) == 2:
            rows[pmid].append((row[0], row[1]))
    yield from rows.items()


def ebm_tree(folder: Path) -> dict[str, bytes]:
    """Write EBM-NLP's tree for the two splits with known results, each word in the layer of its label."""
    files = {}
    for split in ("dev", "test"):
        for pmid, rows in documents_of(folder / f"{split}.tsv"):
            files[f"ebm_nlp_2_00/documents/{pmid}.tokens"] = "\n".join(word for word, _ in rows)
            for layer, label in LAYERS.items():
                name = f"ebm_nlp_2_00/annotations/aggregated/starting_spans/{layer}/{FOLDERS[split]}"
                flags = "\n".join(str(int(found == label)) for _, found in rows)
                files[f"{name}/{pmid}.AGGREGATED.ann"] = flags
    return {name: text.encode() for name, text in files.items()}


def test_ebm_pico_from_a_tree_like_the_original(shared: Path, tmp_path: Path) -> None:
    """Check all counts except those of train, BLURB's own bytes, and the layers behind the labels."""
    oracles, recipe = shared / "oracles/ebm-pico", conversion_of("ebm-pico")
    (tmp_path / "ebm.tar.gz").write_bytes(tarball(ebm_tree(oracles)))
    inputs = {**inputs_of("ebm-pico", shared / "mirror"), "archive": tmp_path / "ebm.tar.gz"}
    lists = [f"{split}_pmids" for split in SPLITS]
    assert [sha256(inputs[role]) for role in lists] == [
        spec_of("ebm-pico").sources[role].sha256 for role in lists
    ]
    expect = {split: recipe.expect[split] for split in ("dev", "test")}
    found = replace(recipe, splits=("dev", "test"), expect=expect)
    counts = convert(found, inputs, tmp_path / "ebm-pico")["counts"]
    assert counts["test"]["tokens_in_mentions"] == 16364 and counts["dev"]["tokens_in_mentions"] == 87308

    form = published_of("ebm-pico")
    known = replace(form, files={split: form.files[split] for split in expect})
    assert {
        reported["equal"] for reported in publish(known, tmp_path / "ebm-pico", tmp_path / "out").values()
    } == {True}

    for split in expect:
        examples = list(read_examples(tmp_path / f"ebm-pico/{split}.jsonl.gz", TokensExample))
        assert all(
            [label if flag else "O" for flag in example.layers[layer]]
            == [found if found == label else "O" for found in example.labels]
            for example in examples
            for layer, label in LAYERS.items()
        )
        listed = inputs[f"{split}_pmids"].read_text().split(",")
        assert [pmid for pmid, _ in groupby(examples, key=lambda example: example.document)] == listed
