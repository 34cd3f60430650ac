"""Examples and their files: round trips, and errors in lines that never quote their text."""

import gzip
import json
import os
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pubmill.errors import PubmillError
from pubmill.examples import kinds
from tests.world.part import CANARY

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
SOME = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
DOCUMENT = st.none() | SOME
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
LABELS = st.lists(SOME, unique=True, max_size=3).map(sorted)
NOVELTY = st.sampled_from([[], ["Novel"], ["No"]])
GOOD = b'{"document": null, "id": "a", "labels": ["O"], "words": ["w"]}\n'


@st.composite
def examples_of(draw: st.DrawFn, kind: str, name: str) -> kinds.Example:
    """A sound example of a kind."""
    of: dict[str, Any] = {"id": name, "document": draw(DOCUMENT)}
    text, words = draw(SOME), draw(st.lists(SOME, min_size=1, max_size=4))

    def places(within: str, shortest: int, most: int = 3) -> list[tuple[int, int]]:
        starts = draw(st.lists(st.integers(0, len(within) - shortest), max_size=most))
        return [(start, draw(st.integers(start + shortest, len(within)))) for start in starts]

    if kind == "tokens":
        labels = [draw(st.sampled_from("O B I B-x I-x-y".split())) for _ in words]
        row = st.lists(st.integers(-(2**70), 2**70), min_size=len(words), max_size=len(words))
        layers = draw(st.dictionaries(SOME, row, max_size=2))
        return kinds.TokensExample(**of, words=words, labels=labels, layers=layers)
    if kind == "sequence":
        entities = [
            kinds.Entity(start=s, end=e, type=draw(TEXT), id=draw(DOCUMENT)) for s, e in places(text, 1)
        ]
        pair, label = draw(DOCUMENT), draw(TEXT)
        return kinds.SequenceExample(**of, text=text, text_pair=pair, label=label, entities=entities)
    if kind == "multilabel":
        text = draw(TEXT)
        found = places(text, 0)
        sentences = [kinds.LabelledSentence(start=s, end=e, labels=draw(LABELS)) for s, e in found]
        return kinds.MultilabelExample(**of, text=text, labels=draw(LABELS), sentences=sentences)
    if kind == "regression":
        ratings, score = draw(st.lists(NUMBER, max_size=3)), draw(NUMBER)
        pair = draw(TEXT)
        return kinds.RegressionExample(**of, text=draw(TEXT), text_pair=pair, score=score, ratings=ratings)
    if kind == "span":
        answers = [kinds.Answer(text=text[start:end], start=start) for start, end in places(text, 1)]
        question, group = draw(TEXT), draw(DOCUMENT)
        return kinds.SpanExample(**of, question=question, context=text, answers=answers, group=group)
    if kind == "relations":
        spans = places(text, 1)
        concepts = draw(st.lists(SOME, unique=True, min_size=len(spans), max_size=len(spans)))
        placed = zip(spans, concepts, strict=True)
        entities = [kinds.Entity(start=s, end=e, type="x", id=one) for (s, e), one in placed]
        pairs = [[one, other] for one, other in combinations(concepts, 2)]
        stated = [[*pair, draw(SOME), *draw(NOVELTY)] for pair in pairs]
        return kinds.RelationsExample(
            **of, text=text, entities=entities, pairs=pairs, relations=sorted(stated)
        )
    mentions = {(*place, draw(TEXT)) for place in places("w" * len(words), 1, 4)}
    return kinds.MentionsExample(
        **of, words=words, mentions=[kinds.WordSpan(*one) for one in sorted(mentions)]
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("examples")


@pytest.mark.parametrize("kind", kinds.KINDS)
@settings(max_examples=30)
@given(data=st.data())
def test_what_is_written_is_read_back(kind: str, data: st.DataObject, folder: Path) -> None:
    names = data.draw(st.lists(SOME, unique=True, max_size=3))
    examples = [data.draw(examples_of(kind, name)) for name in names]
    assert [example.fault() for example in examples] == [None] * len(examples)
    kinds.write_examples(folder / "once.jsonl.gz", examples)
    again = list(kinds.read_examples(folder / "once.jsonl.gz", kinds.KINDS[kind]))
    assert again == examples
    kinds.write_examples(folder / "twice.jsonl.gz", iter(again))
    assert (folder / "once.jsonl.gz").read_bytes() == (folder / "twice.jsonl.gz").read_bytes()


RELATED: dict[str, Any] = {
    "text": "ab",
    "entities": [{"start": n, "end": n + 1, "type": "T", "id": name} for n, name in enumerate("xy")],
    "pairs": [["x", "y"]],
    "relations": [],
}
ENTITY, SENTENCE = (
    kinds.Entity(start=0, end=1, type="T", id="T1"),
    kinds.LabelledSentence(start=0, end=1, labels=[]),
)
ANSWER = kinds.Answer(text="a", start=1)
SOUND: list[kinds.Example] = [
    kinds.TokensExample(id="a", document=None, words=["w", "v"], labels=["B", "I-x"]),
    kinds.TokensExample(id="a", document=None, words=["w"], labels=["O"], layers={"raw": [3]}),
    kinds.SequenceExample(id="a", document="1", text="t", label=""),
    kinds.SequenceExample(id="a", document=None, text="t", text_pair="p", label="l", entities=[ENTITY]),
    kinds.MultilabelExample(id="a", document=None, text="", labels=[]),
    kinds.MultilabelExample(id="a", document=None, text="t", labels=["l"], sentences=[SENTENCE]),
    kinds.RegressionExample(id="a", document=None, text="t", text_pair="p", score=0, ratings=[]),
    kinds.RegressionExample(id="a", document=None, text="t", text_pair="p", score=2.5, ratings=[2, 3]),
    kinds.SpanExample(id="a", document=None, question="q", context="c", answers=[]),
    kinds.SpanExample(
        id="a", document=None, question="q", context="ca", answers=[ANSWER], group="g", golds=["Z", "z z"]
    ),
]
OPTIONAL = {"layers", "text_pair", "entities", "sentences", "ratings", "group", "golds", "items"}


def line_of(path: Path, example: kinds.Example) -> dict[str, Any]:
    kinds.write_examples(path, [example])
    row: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return row


def test_tokens_without_layers_are_written_as_ever(tmp_path: Path) -> None:
    """These bytes are what models were fine-tuned on; another form would run them all again."""
    line_of(
        tmp_path / "a.jsonl.gz",
        kinds.TokensExample(id="dev-1", document=None, words=["α", "b"], labels=["B-x", "O"]),
    )
    assert gzip.decompress((tmp_path / "a.jsonl.gz").read_bytes()).decode() == (
        '{"document": null, "id": "dev-1", "labels": ["B-x", "O"], "words": ["α", "b"]}\n'
    )


def without_empty(value: Any) -> Any:
    """Nothing tells an empty optional field from one that is left out."""
    if isinstance(value, dict):
        return {key: without_empty(inner) for key, inner in value.items() if inner not in (None, [], {})}
    return [without_empty(inner) for inner in value] if isinstance(value, list) else value


def broken(row: dict[str, Any]) -> list[Any]:
    """Ways in which a line of one kind can be out of form: keys, types, and what contradicts itself."""
    others: list[Any] = [None, True, 7, -1, 0.5, CANARY, [CANARY], [[]], [None], {}, {CANARY: CANARY}]
    others.append({CANARY: [1, 2, 3]})
    found: list[Any] = [CANARY, [CANARY], None, 7, {}, {**row, CANARY: CANARY}]
    for name in row:
        if name not in OPTIONAL:
            found.append({key: value for key, value in row.items() if key != name})
        found += [{**row, name: other} for other in others]
    for name, value in row.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            found += [{**row, name: [inner]} for inner in broken(value[0])]
    return found


@pytest.mark.parametrize("example", SOUND, ids=lambda example: type(example).__name__)
def test_a_broken_line_is_reported_without_its_text(tmp_path: Path, example: kinds.Example) -> None:
    path, kind = tmp_path / "a.jsonl.gz", type(example)
    refused = 0
    for row in broken(line_of(path, example)):
        path.write_bytes(gzip.compress((json.dumps(row) + "\n").encode()))
        try:
            (read,) = kinds.read_examples(path, kind)
        except PubmillError as error:
            named = isinstance(row, dict) and row.get("id") == CANARY
            assert str(error).startswith(f"{path}:1:")
            assert named or CANARY not in str(error)
            refused += 1
        else:
            assert read.fault() is None
            assert without_empty(line_of(path, read)) == without_empty(row)
    assert refused > 20


ONE = {"text": "t", "label": "l"}
NONE: dict[str, Any] = {"text": "t", "labels": []}
PAIR = {"text": "t", "text_pair": "p"}
ASKED = {"question": "q", "context": "abc"}


@pytest.mark.parametrize(("kind", "row", "message"), [
    (kinds.TokensExample, {"words": ["w"], "labels": []}, "1 words but 0 labels"),
    (kinds.TokensExample, {"words": [], "labels": []}, "0 words but 0 labels"),
    (kinds.TokensExample, {"words": ["w"], "labels": ["X"]}, "list of BIO labels"),
    (kinds.TokensExample, {"labels": ["O"]}, "not a TokensExample with the keys"),
    (kinds.TokensExample, {"words": ["w"], "labels": ["O"], "layers": {"raw": [1, 2]}}, "a layer does not"),
    (kinds.SequenceExample, {"text": "t", "label": 1}, "label does not have the expected form"),
    (kinds.SequenceExample, {**ONE, "entities": [{"start": 0, "end": 2, "type": "T"}]}, "outside"),
    (kinds.SequenceExample, {**ONE, "entities": [{"start": 1, "end": 1, "type": "T"}]}, "outside"),
    (kinds.MultilabelExample, {"text": "t", "labels": ["b", "a"]}, "sorted"),
    (kinds.MultilabelExample, {"text": "t", "labels": ["a", "a"]}, "unique"),
    (kinds.MultilabelExample, {**NONE, "sentences": [{"start": 0, "end": 2, "labels": []}]}, "outside"),
    (kinds.RegressionExample, {**PAIR, "score": float("nan")}, "finite"),
    (kinds.RegressionExample, {**PAIR, "score": 10**400}, "finite"),
    (kinds.RegressionExample, {**PAIR, "score": 1, "ratings": [float("-inf")]}, "finite"),
    (kinds.SpanExample, {**ASKED, "answers": [{"text": "b", "start": 0}]}, "at its position"),
    (kinds.SpanExample, {**ASKED, "answers": [{"text": "c", "start": -1}]}, "at its position"),
    (kinds.SpanExample, {**ASKED, "answers": [{"text": "", "start": 1}]}, "at its position"),
    (kinds.RelationsExample, {**RELATED, "pairs": [["x", "z"]]}, "two concepts with mentions"),
    (kinds.RelationsExample, {**RELATED, "pairs": [["x"]]}, "two concepts with mentions"),
    (kinds.RelationsExample, {**RELATED, "relations": [["x", "y"]]}, "relations must be sorted"),
    (kinds.RelationsExample, {**RELATED, "relations": [["x", "y", "r", "New"]]}, "relations must be sorted"),
    (kinds.RelationsExample, {**RELATED, "relations": [["y", "x", "r"], ["x", "y", "r"]]}, "sorted"),
    (kinds.RelationsExample, {**RELATED, "text": ""}, "an entity lies outside"),
    (kinds.MentionsExample, {"words": ["w"], "mentions": [{"first": 0, "after": 2, "type": "T"}]}, "outside"),
    (kinds.MentionsExample, {"words": ["w"], "mentions": [{"first": 0, "after": 0, "type": "T"}]}, "outside"),
    (kinds.MentionsExample, {"words": ["w"], "mentions": 2 * [{"first": 0, "after": 1, "type": ""}]},
     "unique"),
    (kinds.MentionsExample, {"words": [], "mentions": []}, "no words"),
])  # fmt: skip
def test_unsound_examples(
    tmp_path: Path, kind: type[kinds.Example], row: dict[str, Any], message: str
) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress((json.dumps({"id": "a", "document": None, **row}) + "\n").encode()))
    with pytest.raises(PubmillError, match=rf"a\.jsonl\.gz:1: .*{message}.*; convert the dataset again"):
        list(kinds.read_examples(path, kind))


@pytest.mark.parametrize(("second", "message"), [
    (b"\n", ":2: not valid JSON"), (GOOD[:30], ":2: not valid JSON"),
    (GOOD[:-2] + b", Qzcanary}\n", ":2: not valid JSON"), (b"Qzcanary\xff\n", ": broken after line"),
    *((second, ":2: nested too deeply, or a number too long")
      for second in (b"[" * 100_000, b'{"id": ' + b"9" * 5000 + b"}\n")),
    (GOOD, ":2: example a: its id occurs for the second time"),
])  # fmt: skip
def test_lines_that_are_no_json_or_stand_there_twice(tmp_path: Path, second: bytes, message: str) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(GOOD + second))
    with pytest.raises(PubmillError) as caught:
        list(kinds.read_examples(path, kinds.TokensExample))
    assert str(caught.value).startswith(f"{path}{message}")
    assert CANARY not in str(caught.value)


@settings(max_examples=60)
@given(data=st.data())
def test_a_cut_or_altered_file_is_reported_or_is_the_same(data: st.DataObject, folder: Path) -> None:
    path = folder / "cut.jsonl.gz"
    examples = [
        kinds.TokensExample(id=str(n), document=None, words=["w", CANARY], labels=["O", "B"])
        for n in range(50)
    ]
    kinds.write_examples(path, examples)
    whole = path.read_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    altered = whole[:place]
    if data.draw(st.booleans()):
        altered += bytes([whole[place] ^ data.draw(st.integers(1, 255))]) + whole[place + 1 :]
    path.write_bytes(altered)
    try:
        assert list(kinds.read_examples(path, kinds.TokensExample)) == examples
    except PubmillError as error:
        assert str(error).startswith(str(path))
        assert CANARY not in str(error)


def test_half_a_surrogate_pair_is_reported_by_its_example_and_leaves_no_file(tmp_path: Path) -> None:
    examples = [
        kinds.SequenceExample(id=name, document=None, text=text, label="")
        for name, text in [("a", "t"), ("b", "\ud83d")]
    ]
    with pytest.raises(PubmillError, match="example 'b' holds half of a pair of surrogates"):
        kinds.write_examples(tmp_path / "a.jsonl.gz", examples)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(PubmillError, match="does not exist"):
        list(kinds.read_examples(tmp_path / "none.jsonl.gz", kinds.TokensExample))


def test_only_a_private_file_is_its_owners_alone(tmp_path: Path) -> None:
    example = kinds.TokensExample(id="1", document=None, words=["a"], labels=["O"])
    before = os.umask(0o022)
    try:
        kinds.write_examples(tmp_path / "open", [example])
        kinds.write_examples(tmp_path / "own", [example], private=True)
    finally:
        os.umask(before)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("open", "own")] == [0o644, 0o600]
