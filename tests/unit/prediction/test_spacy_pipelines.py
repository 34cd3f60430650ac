"""Predictions of a finished spaCy pipeline, on pipelines that are made here."""

import json
import pickle
import sys
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.examples.kinds import TokensExample, write_examples
from pubmill.metrics import SCORERS
from pubmill.metrics.records import score_run
from pubmill.prediction.spacy_pipelines import annotate, check_folder, load_pipeline, pipeline_sha256
from pubmill.recipes.scoring import AnnotationRecipe, ScoringRecipe
from pubmill.storage.files import read_jsonl_gz
from tests.unit.programs import run_program

spacy = pytest.importorskip("spacy", reason="spaCy, whose pipelines these tests are of, isn't installed")

PATTERNS = [
    {"label": "DISEASE", "pattern": [{"LOWER": "breast"}, {"LOWER": "cancer"}]},
    {"label": "DISEASE", "pattern": "ataxia"},
    {"label": "CHEMICAL", "pattern": "aspirin"},
]
SENTENCES = [
    (["Aspirin", "and", "aspirin", "in", "breast", "cancer"], ["O", "O", "O", "O", "B", "I"]),
    (["ataxia", "ataxia", "of", "breast-cancer's", "."], ["B", "B", "O", "B", "O"]),
    (["severe", "ataxia"], ["B", "I"]),
]
DISEASE = AnnotationRecipe(types={"DISEASE": ""})


@pytest.fixture
def pipeline(tmp_path: Path) -> Path:
    """Rules that find diseases and chemicals."""
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns(PATTERNS)
    nlp.to_disk(tmp_path / "pipeline")
    return tmp_path / "pipeline"


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    """A test split of three sentences."""
    made = [
        TokensExample(id=str(number), document=None, words=words, labels=labels)
        for number, (words, labels) in enumerate(SENTENCES)
    ]
    write_examples(tmp_path / "test.jsonl.gz", made)
    return tmp_path / "test.jsonl.gz"


def labels_of(pipeline: Path, examples: Path, recipe: AnnotationRecipe = DISEASE) -> list[str]:
    predictions, _ = annotate(recipe, pipeline, "rules", examples, "test")
    return [" ".join(row["labels"]) for row in predictions]


def test_entities_become_labels_of_the_words_that_are_given(pipeline: Path, examples: Path) -> None:
    assert labels_of(pipeline, examples) == ["O O O O B I", "B B O O O", "O B"]
    both = AnnotationRecipe(types={"DISEASE": "Disease", "CHEMICAL": "Drug"})
    first, second, _ = labels_of(pipeline, examples, both)
    assert first == "O O B-Drug O B-Disease I-Disease"
    assert second == "B-Disease B-Disease O O O"
    _, report = annotate(DISEASE, pipeline, "rules", examples, "test")
    assert report["encoded"] == {"entities_taken": 4, "entities_left_out": 1}


def test_empty_splits_and_unknown_labels_are_refused(pipeline: Path, examples: Path, tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match="label Disease; its labels are entity_ruler: CHEMICAL, DISEASE"):
        labels_of(pipeline, examples, AnnotationRecipe(types={"Disease": ""}))
    write_examples(tmp_path / "test.jsonl.gz", [])
    with pytest.raises(PubmillError) as caught:
        annotate(DISEASE, pipeline, "rules", tmp_path / "test.jsonl.gz", "test")
    assert str(caught.value) == f"{tmp_path}/test.jsonl.gz has no examples; convert the dataset again"


def test_all_parts_of_the_pipeline_work_in_turn(tmp_path: Path, examples: Path) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns(PATTERNS)
    later = nlp.add_pipe("entity_ruler", name="later", config={"overwrite_ents": True})
    later.add_patterns([{"label": "DISEASE", "pattern": [{"LOWER": "severe"}, {"LOWER": "ataxia"}]}])
    nlp.to_disk(tmp_path / "two")
    assert labels_of(tmp_path / "two", examples)[2] == "B I"


def test_a_statistical_pipeline_gives_the_same_labels_each_time(tmp_path: Path, examples: Path) -> None:
    """Its weights, which spaCy packs, aren't taken for a pickle."""
    nlp = spacy.blank("en")
    nlp.add_pipe("ner").add_label("DISEASE")
    nlp.initialize()
    nlp.to_disk(tmp_path / "ner")
    once = labels_of(tmp_path / "ner", examples)
    assert once == labels_of(tmp_path / "ner", examples)
    assert [len(labels.split()) for labels in once] == [6, 5, 2]


def test_what_is_written_is_scored_as_a_fine_tuned_run_is(pipeline: Path, examples: Path) -> None:
    output = examples.with_name("seed-1.predictions.jsonl.gz")
    given = ("--recipe", json.dumps({"types": {"DISEASE": ""}}), "--pipeline", pipeline, "--model", "rules")
    further = ("--examples", examples, "--split", "test", "--output", examples.with_name("runs.json"))
    run_program("annotate", *given, *further)
    assert [row["id"] for row in read_jsonl_gz(output)] == ["0", "1", "2"]
    recipe = ScoringRecipe(
        model="rules", dataset="d", protocol="off-the-shelf", setting="as-it-is", scale="full", seed=1,
        split="test", kind="tokens", metric="entity_f1", versions={},
    )  # fmt: skip
    training = examples.with_name("seed-1.training.json")
    record, _ = score_run(recipe, SCORERS["tokens"], output, examples, training)
    # 5 mentions, 4 predicted: 3 as they are, and one whose boundary is wrong
    assert record.metrics and record.counts
    assert record.metrics["entity_f1"] == pytest.approx(2 * 3 / (5 + 4))
    assert record.metrics["relaxed_f1"] == pytest.approx(2 * 4 / (5 + 4))
    assert (record.dev_score, record.failed) == (None, None)
    assert (record.dev_split, record.max_length) == (None, None)
    assert record.encoded == {"entities_taken": 4, "entities_left_out": 1}
    assert record.packages["spacy"] == spacy.__version__
    assert record.model_sha256 == pipeline_sha256(pipeline)
    assert record.recipe["pipeline"]["parts"] == ["entity_ruler"]


@pytest.mark.parametrize("name", ["hooks.py", "vocab/x.PKL", "ner/lib.so", "weights.pt"])
def test_a_folder_with_programs_or_pickles_is_refused(pipeline: Path, name: str) -> None:
    (pipeline / name).parent.mkdir(exist_ok=True)
    (pipeline / name).write_text("")
    with pytest.raises(PubmillError, match=f"contains {name}, a program or a pickle"):
        load_pipeline(pipeline)


class Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return print, ("a pickle was run",)


PICKLED = [
    *(pickle.dumps({"a": Evil()}, protocol) for protocol in range(6)),
    b"(S'a'\nios\nmkdir\n.",
    b"(cos\nmkdir\no.",
]


def test_a_pickle_of_any_protocol_is_known_by_its_instructions(pipeline: Path) -> None:
    """Text is no pickle, and a package no pipeline."""
    for content in PICKLED:
        (pipeline / "vocab/lookups.bin").write_bytes(content)
        with pytest.raises(PubmillError, match=r"contains vocab/lookups\.bin"):
            load_pipeline(pipeline)
    for content in (b"in\nof\nthe\n", b"cat\ndog\nmouse\n", b"import re\n", b"[]", b"{}", b"(1)"):
        (pipeline / "vocab/lookups.bin").write_bytes(content)
        check_folder(pipeline)
    with pytest.raises(PubmillError, match=r"it has no config\.cfg; .*/pipeline is one"):
        check_folder(pipeline.parent)


def test_a_damaged_file_of_a_pipeline_is_reported_without_a_traceback(pipeline: Path) -> None:
    config = (pipeline / "config.cfg").read_bytes()
    unknown = config.replace(b"before_creation = null", b'before_creation = {"@callbacks": "os.system"}')
    assert unknown != config
    for file, content in (
        ("config.cfg", b""), ("config.cfg", b'[nlp]\nlang = "en"\npipeline = ["x"]\n'),
        ("config.cfg", b"[paths\n"), ("config.cfg", unknown), ("vocab/lookups.bin", b"\x05"),
        ("vocab/key2row", b"\x05"), ("vocab/strings.json", b"5"), ("entity_ruler/patterns.jsonl", b"5\n"),
    ):  # fmt: skip
        before = (pipeline / file).read_bytes()
        (pipeline / file).write_bytes(content)
        with pytest.raises(PubmillError, match=f"^{pipeline}: spaCy .* can't load this pipeline"):
            load_pipeline(pipeline)
        (pipeline / file).write_bytes(before)
    load_pipeline(pipeline)


def test_the_hash_is_of_names_and_contents_and_spacy_is_needed(
    pipeline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = pipeline_sha256(pipeline)
    assert before == pipeline_sha256(pipeline)
    strings = pipeline / "vocab/strings.json"
    strings.rename(strings.with_name("other.json"))
    renamed = pipeline_sha256(pipeline)
    strings.with_name("other.json").write_text("[]")
    assert len({before, renamed, pipeline_sha256(pipeline)}) == 3
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(PubmillError, match="`make setup` installs it"):
        load_pipeline(pipeline)
