"""EBM-NLP's archive: words and layers combined by BLURB's recipe, and errors for inconsistent files."""

from collections import Counter
from pathlib import Path

import pytest

from pubmill.convert.ebm_nlp import LAYERS, read, write
from pubmill.convert.exports import WriterOptions
from pubmill.convert.source_files import ConverterInput
from pubmill.errors import PubmillError
from pubmill.examples.kinds import TokensExample
from tests.world.archives import tarball

ROOT = "ebm_nlp_2_00"
SPANS = f"{ROOT}/annotations/aggregated/starting_spans"
WORDS = "Rats on aspirin had less pain . No . 1 effect"
FLAGS = {
    "participants": "1 0 1 0 0 1 0 0 0 0 0",
    "interventions": "0 0 1 0 0 1 1 0 0 0 0",
    "outcomes": "0 0 0 0 1 1 0 0 0 1 1",
}
LABELS = "I-PAR O I-INT O I-OUT I-OUT I-INT O O I-OUT I-OUT".split()
TOKENS, LABELS_1 = f"{ROOT}/documents/1.tokens", f"{SPANS}/interventions/train/1.AGGREGATED.ann"


NO_LIST = "pmids.tsv:1: expected one line of distinct PMIDs"


@pytest.fixture
def files() -> dict[str, bytes]:
    """Archive members for documents by PMID, each annotated in a folder."""
    members = {f"{ROOT}/README.txt": "Read me"}
    for pmid, folder in {"1": "train", "2": "train", "30": "test/gold"}.items():
        members[f"{ROOT}/documents/{pmid}.tokens"] = "\n".join(WORDS.split())
        members[f"{ROOT}/documents/{pmid}.txt"] = WORDS
        for layer, flags in FLAGS.items():
            members[f"{SPANS}/{layer}/{folder}/{pmid}.AGGREGATED.ann"] = "\n".join(flags.split())
            members[f"{SPANS}/{layer}/test/crowd/{pmid}.AGGREGATED.ann"] = "not read"
            individual = SPANS.replace("aggregated", "individual")
            members[f"{individual}/{layer}/{folder}/{pmid}_A1.ann"] = "not read"
    return {name: text.encode() for name, text in members.items()}


def convert(
    folder: Path, files: dict[str, bytes], split: str = "dev", pmids: str = "2,1"
) -> tuple[list[TokensExample], Counter[str]]:
    (folder / "ebm.tar.gz").write_bytes(tarball(files))
    (folder / "pmids.tsv").write_text(pmids)
    inputs = {"archive": folder / "ebm.tar.gz", f"{split}_pmids": folder / "pmids.tsv"}
    left_out = Counter[str]()
    return list(read(ConverterInput(split, inputs, {}, left_out))), left_out


def test_words_and_layers_are_those_of_the_archive(tmp_path: Path, files: dict[str, bytes]) -> None:
    """Outcomes go before interventions, these before participants; sentences end after full stops."""
    examples, left_out = convert(tmp_path, files)
    assert [label for example in examples[:3] for label in example.labels] == LABELS
    assert not left_out
    sentences = [["Rats", "on", "aspirin", "had", "less", "pain", "."], ["No", "."], ["1", "effect"]]
    assert [example.words for example in examples] == sentences * 2
    assert [example.document for example in examples] == ["2"] * 3 + ["1"] * 3
    assert [example.id for example in examples] == [f"dev-{number:06d}" for number in range(1, 7)]
    for name, flags in FLAGS.items():
        assert [flag for example in examples[:3] for flag in example.layers[name]] == [
            int(flag) for flag in flags.split()
        ]


def test_test_is_of_experts_and_absent_layers_are_counted(tmp_path: Path, files: dict[str, bytes]) -> None:
    assert [example.document for example in convert(tmp_path, files, "test", "30")[0]] == ["30"] * 3
    with pytest.raises(PubmillError, match=r"ebm\.tar\.gz: 1 is listed, but has no annotations"):
        convert(tmp_path, files, "test", "1")
    del files[f"{SPANS}/outcomes/train/2.AGGREGATED.ann"]
    examples, left_out = convert(tmp_path, files)
    assert left_out == {"documents_without_outcomes": 1}
    assert examples[0].labels[4:6] == ["O", "I-INT"]
    assert examples[0].layers.keys() == {"participants", "interventions"}
    assert examples[3].layers.keys() == LAYERS.keys()


@pytest.mark.parametrize(("changed", "pmids", "message"), [
    *(({TOKENS: content}, "2,1", message)
      for content, message in ((b"Rats\non aspirin\n.", r"documents/1\.tokens:2: expected one word a line"),
                               (b"Rats\n\n.", r"documents/1\.tokens:2: expected one word a line"),
                               (b"", r"documents/1\.tokens:1: expected one word a line"),
                               (b"Rats\ncaf\xe9", r"documents/1\.tokens:2: not UTF-8"),
                               (b"Rats\n.", r"1 has 2 words, but 11 labels of"))),
    ({LABELS_1: b"0\n1"}, "2,1", "1 has 11 words, but 2 labels of interventions"),
    ({LABELS_1: b"0\n2"}, "2,1", r"interventions/train/1\.AGGREGATED\.ann:2: expected 0 or 1.*found '2'"),
    ({LABELS_1: b"0,0,1"}, "2,1", r"1\.AGGREGATED\.ann:1: expected 0 or 1, as in release 2\.00"),
    *(({}, pmids, NO_LIST) for pmids in ("", "1\n2\n", "1, 2", "1,,2", "1,2,1")),
    ({}, "1,5", "5 is listed, but has no documents/5.tokens"),
])  # fmt: skip
def test_other_files_and_lists_are_refused(
    tmp_path: Path, files: dict[str, bytes], changed: dict[str, bytes], pmids: str, message: str
) -> None:
    with pytest.raises(PubmillError, match=message):
        convert(tmp_path, {**files, **changed}, pmids=pmids)


def test_the_published_form(tmp_path: Path, files: dict[str, bytes]) -> None:
    examples, _ = convert(tmp_path, files)
    document = "".join(
        f"{word}\t{label}\n" + ("\n" if word == "." else "")
        for word, label in zip(WORDS.split(), LABELS, strict=True)
    )
    assert "".join(write(examples, WriterOptions({}, None))) == (
        f"-DOCSTART- (2)\n\n{document}-DOCSTART- (1)\n\n{document}"
    )
    with pytest.raises(PubmillError, match="no options"):
        list(write(examples, WriterOptions({"documents": "docstart"}, None)))
