"""Croissant metadata: what the format requires, existing files, no files of datasets that are not public.

Every file of the demo was checked with mlcroissant 1.1.1, which also read examples by it.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from pubmill.examples.kinds import KINDS, optional_fields
from pubmill.recipes.report import PageRecipe
from pubmill.report.croissant import metadata, to_croissant
from tests.unit.report.test_dataset_pages import page, recipe

TASKS = {
    "tokens": "ner",
    "sequence": "relation",
    "multilabel": "classification",
    "regression": "similarity",
    "span": "factoid",
    "relations": "document-relation",
    "mentions": "nested-ner",
}
REQUIRED = {"@context", "@type", "conformsTo", "name", "description", "url", "license", "citeAs", "version"}
"""Properties that Croissant 1.1 requires, so far as they are known: nobody states a date of publication."""


def public(kind: str, **changes: Any) -> PageRecipe:
    source = {"role": "archive", "place": "https://example.org/a.zip", "url": "https://example.org/a.zip"}
    record = "sources/local/drugs/corpus.zip.source.json"
    sources = [{**source, "check": None, "record": record}]
    return recipe(
        kind=kind, task=TASKS[kind], access="public", apply=None, sources=sources, negative=None, **changes
    )


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_public_dataset_has_its_files_and_the_fields_of_its_examples(tmp_path: Path, kind: str) -> None:
    made = page(tmp_path, public(kind))
    found = json.loads(to_croissant(made))
    assert found.keys() >= REQUIRED and found["version"] == "3.0.0"
    source, *converted = found["distribution"]
    assert (source["contentUrl"], source["sha256"]) == ("https://example.org/a.zip", "5" * 64)
    pages = tmp_path / "pages/datasets"
    for file, split in zip(converted, ("train", "test"), strict=True):
        path = (pages / file["contentUrl"]).resolve()
        assert path == tmp_path.resolve() / f"datasets/drugs@blurb/{split}.jsonl.gz"
        assert file["sha256"] == made.card.examples_sha256[split]
    ids = {file["@id"] for file in converted}
    for records in found["recordSet"]:
        columns = {field["source"]["extract"]["column"] for field in records["field"]}
        assert columns >= {"id", "document"} and records["key"]["@id"] in {f["@id"] for f in records["field"]}
        always = {*KINDS[kind].__dataclass_fields__} - optional_fields(KINDS[kind])
        assert always <= columns <= {*KINDS[kind].__dataclass_fields__}
        assert {field["source"]["fileObject"]["@id"] for field in records["field"]} <= ids


def test_the_parts_of_lists_of_mentions_are_described(tmp_path: Path) -> None:
    train, _ = metadata(page(tmp_path, public("sequence")))["recordSet"]
    fields = {field["name"]: field for field in train["field"]}
    assert "text_pair" not in fields and fields["label"]["dataType"] == "sc:Text"
    entities = fields["entities"]
    assert entities["isArray"] and "dataType" not in entities
    parts = {part["name"]: (part["dataType"], part["source"]["transform"]) for part in entities["subField"]}
    assert parts["start"] == ("sc:Integer", {"jsonPath": "$[*].start"}) and parts["type"][0] == "sc:Text"
    words = metadata(page(tmp_path, public("tokens")))["recordSet"][0]["field"]
    assert {f["name"]: f["arrayShape"] for f in words if "isArray" in f} == {"words": "-1", "labels": "-1"}


@pytest.mark.parametrize("access", ["registration", "local", "credentialed"])
def test_a_dataset_that_is_not_public_has_no_files(tmp_path: Path, access: str) -> None:
    found = metadata(page(tmp_path, recipe(access=access, domain="clinical")))
    assert not found.keys() & {"distribution", "recordSet"}
    assert found["url"] == "https://example.org/apply" and found["license"] == "the licence of the drugs"
    assert "notes" in found["rai:personalSensitiveInformation"][0]
    assert found["rai:dataLimitations"] == ["Table 3 prints 99.", "3 inputs of test are also in train"]
    assert "sha256" not in to_croissant(page(tmp_path, recipe(access=access)))


def test_made_up_files_are_said_to_be(tmp_path: Path) -> None:
    made = page(tmp_path, public("tokens", made_up=True, scale_title="demo scale, made-up data"))
    assert "demo scale, made-up data" in metadata(made)["description"]
    assert "demo scale" not in metadata(page(tmp_path, public("tokens")))["description"]


def test_only_downloaded_files_and_inputs_that_are_repeated_are_described(tmp_path: Path) -> None:
    overlaps = [
        {"split": "test", "with": "train", "texts": 0, "documents": None},
        {"split": "test", "with": "dev", "texts": 2, "documents": None},
    ]
    made = page(tmp_path, public("tokens"), overlaps=overlaps)
    assert "2 inputs of test are also in dev" in metadata(made)["rai:dataLimitations"]
    assert not any("0 inputs" in text for text in metadata(made)["rai:dataLimitations"])
    own = made.sources[0].model_copy(update={"role": "own", "url": None})
    more = made.model_copy(update={"sources": (own, *made.sources)})
    names = [file["@id"] for file in metadata(more)["distribution"]]
    assert names == [file["@id"] for file in metadata(made)["distribution"]]
