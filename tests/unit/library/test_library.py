"""The library: names of `pubmill` for other programs."""

import gzip
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pandas
import pytest

import pubmill
from pubmill import load_dataset, read_jats, read_medline, score
from pubmill.errors import PubmillError
from pubmill.examples.kinds import KINDS, SequenceExample, TokensExample, write_examples
from tests.unit.prediction.toy_annotators import fake

CITATION = b"""<?xml version="1.0"?><PubmedArticleSet><PubmedArticle><MedlineCitation>
<PMID Version="1">7</PMID><Article><Journal><JournalIssue><PubDate><Year>1999</Year></PubDate></JournalIssue>
</Journal><ArticleTitle>A gene.</ArticleTitle></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>
"""
ARTICLE = """<article><front><article-meta><article-id pub-id-type="pmcid">PMC12</article-id><title-group>
<article-title>On genes</article-title></title-group></article-meta></front>
<body><sec><title>Methods</title><p>We looked.</p></sec></body></article>"""


def sentence(number: int, *labels: str) -> TokensExample:
    return TokensExample(id=str(number), document=None, words=["a"] * len(labels), labels=list(labels))


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A results folder with one converted dataset."""
    folder = tmp_path / "demo" / "datasets" / "toy"
    folder.mkdir(parents=True)
    write_examples(folder / "test.jsonl.gz", [sentence(1, "B", "O"), sentence(2, "O", "B")])
    (folder / "card.json").write_text(json.dumps({"kind": "tokens", "access": "public"}))
    return tmp_path / "demo"


def test_a_pubmed_file_is_streamed(tmp_path: Path) -> None:
    path = tmp_path / "pubmed26n0001.xml.gz"
    path.write_bytes(gzip.compress(CITATION))
    [citation] = read_medline(str(path))
    assert (citation.pmid, citation.published, citation.title) == ("7", "1999", "A gene.")
    unpacked = tmp_path / "efetch.xml"
    deleted = b"<DeleteCitation><PMID Version='1'>31</PMID></DeleteCitation></PubmedArticleSet>"
    unpacked.write_bytes(CITATION.replace(b"</PubmedArticleSet>", deleted))
    [same, deletion] = read_medline(unpacked)
    assert same == citation and (deletion.pmid, deletion.deleted) == ("31", True)
    frame = pandas.DataFrame(read_medline(unpacked))
    assert frame["pmid"].tolist() == ["7", "31"] and frame["deleted"].tolist() == [False, True]
    for other, fault in ((tmp_path, "Is a directory"), (tmp_path / "x", "No such")):
        with pytest.raises(PubmillError, match=f"{other} can't be read: {fault}"):
            read_medline(other)
    unpacked.rename(path)
    with pytest.raises(PubmillError, match="truncated or damaged gzip"):
        list(read_medline(path))


def test_an_article_is_read_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "PMC12.1.xml"
    path.write_text(ARTICLE)
    article = read_jats(path)
    assert (article.id, article.title, article.body) == ("pmc:12", "On genes", (("Methods", "We looked."),))
    with pytest.raises(PubmillError, match="PMC"):
        read_jats(path, pmcid=13)
    other = tmp_path / "article.xml"
    for name in ("2021-test.xml", "PMC12-draft.xml", "PMC012xxxxxx.xml", "article.xml"):
        path = path.rename(tmp_path / name)
        with pytest.raises(PubmillError, match="its name is not that of PMC's files"):
            read_jats(path)
    assert read_jats(other, pmcid=12) == article
    with pytest.raises(PubmillError, match="can't be read: No such file"):
        read_jats(tmp_path / "PMC1.xml")


def test_a_dataset_can_be_iterated_over_again(results: Path) -> None:
    splits = load_dataset("toy", results)
    assert splits.keys() == {"test"}
    assert list(splits["test"]) == list(splits["test"]) == [sentence(1, "B", "O"), sentence(2, "O", "B")]
    assert splits["test"].to_hugging_face()["labels"] == [["B", "O"], ["O", "B"]]
    test = load_dataset("toy", results, split="test")
    assert len(test) == 2 and test[1] == sentence(2, "O", "B") and test[:1] == [test[0]]
    assert test["id"] == ["1", "2"]
    assert test.to_pandas()["labels"].tolist() == [["B", "O"], ["O", "B"]]
    assert list(test.to_pandas()) == test.column_names
    with pytest.raises(PubmillError, match="no field 'label'; examples have id, document, words, labels"):
        test["label"]
    with pytest.raises(PubmillError, match="toy has no split 'validation'; it has test"):
        load_dataset("toy", results, split="validation")
    with pytest.raises(PubmillError, match=r"has no card\.json: .* not converted there.*nearest first: toy$"):
        load_dataset("others", results)


def test_scores_are_those_of_records(results: Path) -> None:
    test = load_dataset("toy", results)["test"]
    assert score(test, [["B", "O"], ["O", "O"]])["entity_f1"] == pytest.approx(2 / 3)
    with pytest.raises(PubmillError, match="2 examples but 1 predictions"):
        score(test, [["B", "O"]])
    pair = SequenceExample(id="3", document=None, text="a", label="yes")
    with pytest.raises(PubmillError, match="examples of 2 kinds"):
        score([*test, pair], [["O", "O"], ["O", "O"], "yes"])
    assert score([pair], ["yes"], negative="no")["micro_f1"] == 1.0
    for label in ("gene", "b-Gene", "E-Gene", ""):
        with pytest.raises(PubmillError, match=f"prediction 1: '{label}' is none of O, B, I"):
            score(test, [["B", "O"], ["O", label]])


def test_a_tagger_returns_the_mentions_of_each_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pubmill.library import tagger

    def capitals(example: TokensExample) -> list[str]:
        return ["B-Gene" if word[0].isupper() else "O" for word in example.words]

    made = fake("tokens", capitals, labels=["B-Gene", "O"])
    monkeypatch.setattr(tagger, "load_task_model", lambda folder, device: made)
    monkeypatch.setattr(tagger, "read_facts", lambda folder: SimpleNamespace(argument_types=[]))
    find = pubmill.Tagger(tmp_path)
    assert [(m.text, m.start, m.end, m.type) for m in find("the BRCA1 gene")] == [("BRCA1", 4, 9, "Gene")]
    assert [len(mentions) for mentions in find.tag(["A b", "", "C D"])] == [1, 0, 2]
    made.recipe.task = "sequence"
    with pytest.raises(PubmillError, match="a tagger needs one for tokens"):
        pubmill.Tagger(tmp_path)


def test_names_are_documented_and_load_nothing_before_they_are_used(root: Path) -> None:
    page = (root / "docs/library.md").read_text()
    assert all(f"`{name}(" in page for name in pubmill._HOMES)
    assert pubmill._HOMES.keys() < set(dir(pubmill)) and KINDS
    with pytest.raises(AttributeError, match="no attribute 'read_medlin'"):
        pubmill.read_medlin  # noqa: B018
    code = (
        "import sys, pubmill\n"
        "assert not {'torch', 'lxml', 'numpy'} & sys.modules.keys()\n"
        "from pubmill import read_medline, load_dataset, score, load_table, judge, draw_verdicts\n"
        "assert 'torch' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0


@pytest.mark.parametrize(("content", "message"), [
    ("[", "not valid JSON"), ("[]", "its `kind` is none of tokens, "), ('{"kind": "x"}', "its `kind`"),
    ('{"kind": ["tokens"], "access": "public"}', "its `kind`"), ('{"access": 5, "kind": "tokens"}', ""),
])  # fmt: skip
def test_a_damaged_card_is_reported(results: Path, content: str, message: str) -> None:
    card = results / "datasets/toy/card.json"
    card.write_text(content)
    with pytest.raises(PubmillError, match=rf"card\.json.*{message}"):
        load_dataset("toy", results)
