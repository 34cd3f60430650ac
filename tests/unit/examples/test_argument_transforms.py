"""Entity transforms: spans are correct for all texts and overlapping mentions."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubmill.errors import PubmillError
from pubmill.examples.argument_transforms import Transformed, dummies, markers
from pubmill.examples.kinds import Entity

TYPES = {"GENE": "@GENE$", "DRUG": "@DRUG$", "": "@$"}
OVERLAP = "@GENE-DRUG$"
OUTSIDE = chr(0xE000)
"""From it on characters are kept for marks; the texts below have none of them."""

Case = tuple[str, list[Entity]]


@st.composite
def texts_with_entities(draw: st.DrawFn) -> Case:
    """Any text; its entities nest, cross, touch and repeat each other often, since places are few."""
    text = draw(st.text(st.characters(exclude_categories=["Cs", "Co"]), min_size=1, max_size=30))
    places = st.sampled_from(sorted({0, len(text), *draw(st.lists(st.integers(0, len(text)), max_size=4))}))
    spans = draw(st.lists(st.tuples(places, places).filter(lambda s: s[0] != s[1]), max_size=7))
    return text, [
        Entity(start=min(span), end=max(span), type=draw(st.sampled_from(sorted(TYPES)))) for span in spans
    ]


def clusters(entities: list[Entity]) -> list[set[int]]:
    """Entities joined by shared characters, over any number of steps: from the definition, pair by pair."""
    joined = [{i} for i in range(len(entities))]
    for i, one in enumerate(entities):
        for j, other in enumerate(entities):
            if i != j and max(one.start, other.start) < min(one.end, other.end):
                both = next(c for c in joined if i in c) | next(c for c in joined if j in c)
                joined = [c for c in joined if not c & both] + [both]
    return joined


def pointed_at(made: Transformed) -> list[str]:
    return [made.text[start:end] for start, end in made.spans]


def unmarked(text: str) -> str:
    return "".join(c for c in text if c < OUTSIDE or c > chr(0xF8FF))


@given(texts_with_entities())
def test_marks_stand_around_their_mentions_and_never_cross(case: Case) -> None:
    """Each mark of each entity has two characters of its own."""
    text, entities = case
    made = markers(text, entities, [("", "")] * len(entities))
    assert made == Transformed(text, [(e.start, e.end) for e in entities])
    own = [[chr(0xE000 + 4 * i + n) for n in range(4)] for i in range(len(entities))]
    marks = [("".join(four[:2]), "".join(four[2:])) for four in own]
    made = markers(text, entities, marks)
    assert unmarked(made.text) == text
    assert [unmarked(found) for found in pointed_at(made)] == [text[e.start : e.end] for e in entities]
    for (start, end), (opening, closing) in zip(made.spans, marks, strict=True):
        assert made.text[:start].endswith(opening) and made.text[end:].startswith(closing)
        assert (made.text.count(opening), made.text.count(closing)) == (1, 1)
    placed = list(enumerate(zip(entities, made.spans, strict=True)))
    for (i, (inner, within)), (j, (outer, around)) in permutations(placed, 2):
        if outer.start <= inner.start and inner.end <= outer.end:
            equal = (inner.start, inner.end) == (outer.start, outer.end)
            (from_, to), (start, end) = (within, around) if equal and i < j else (around, within)
            assert from_ <= start - 2 < end + 2 <= to
        if inner.end <= outer.start:
            assert within[1] + 2 <= around[0] - 2


@given(texts_with_entities())
def test_dummies_stand_for_mentions_that_share_characters_and_nothing_else_changes(case: Case) -> None:
    """Each span points at its dummy, dummies are in the order of the text, and all other text is left."""
    text, entities = case
    made = dummies(text, entities, TYPES, OVERLAP)
    alone = {i: len(cluster) == 1 for cluster in clusters(entities) for i in cluster}
    expected = [TYPES[entity.type] if alone[i] else OVERLAP for i, entity in enumerate(entities)]
    assert pointed_at(made) == expected
    together = [{i for i, other in enumerate(made.spans) if other == span} for span in made.spans]
    assert together == [next(c for c in clusters(entities) if i in c) for i in range(len(entities))]

    covered = {place for entity in entities for place in range(entity.start, entity.end)}
    written = {place for start, end in made.spans for place in range(start, end)}
    rest = "".join(c for place, c in enumerate(text) if place not in covered)
    assert "".join(c for place, c in enumerate(made.text) if place not in written) == rest

    first = {
        span: min(e.start for e, s in zip(entities, made.spans, strict=True) if s == span)
        for span in made.spans
    }
    assert sorted(first) == sorted(first, key=first.__getitem__)


@pytest.mark.parametrize(("text", "spans", "dummied", "marked"), [
    ("IL-2 binds aspirin.", [(11, 18, "DRUG"), (0, 4, "GENE")],
     "@GENE$ binds @DRUG$.", "[2]IL-2[/2] binds [1]aspirin[/1]."),
    ("aspirin kinase", [(0, 7, "DRUG"), (0, 14, "GENE")], "@GENE-DRUG$", "[2][1]aspirin[/1] kinase[/2]"),
    ("abc", [(0, 2, "GENE"), (1, 3, "DRUG")], "@GENE-DRUG$", "[1]a[2]b[/1]c[/2]"),
    ("abc", [(0, 1, "GENE"), (1, 3, "DRUG")], "@GENE$@DRUG$", "[1]a[/1][2]bc[/2]"),
    ("ab", [(0, 2, "GENE"), (0, 2, "GENE")], "@GENE-DRUG$", "[1][2]ab[/2][/1]"),
    ("ab", [], "ab", "ab"),
])  # fmt: skip
def test_by_hand(text: str, spans: list[tuple[int, int, str]], dummied: str, marked: str) -> None:
    entities = [Entity(start=start, end=end, type=kind) for start, end, kind in spans]
    assert dummies(text, entities, TYPES, OVERLAP).text == dummied
    marks = [(f"[{i}]", f"[/{i}]") for i in range(1, len(entities) + 1)]
    assert markers(text, entities, marks).text == marked


@pytest.mark.parametrize(("spans", "dummied"), [
    ([(0, 7, "DRUG"), (0, 14, "GENE")], "@DRUG-GENE$ x"),
    ([(0, 14, "GENE"), (0, 7, "DRUG")], "@GENE-DRUG$ x"),
    ([(3, 14, "GENE"), (0, 7, "GENE")], "@GENE-GENE$ x"),
    ([(0, 7, "DRUG"), (7, 14, "GENE")], "@DRUG$@GENE$ x"),
])  # fmt: skip
def test_an_overlaps_dummy_may_name_both_types(spans: list[tuple[int, int, str]], dummied: str) -> None:
    entities = [Entity(start=start, end=end, type=kind) for start, end, kind in spans]
    assert dummies("aspirin kinase x", entities, TYPES, "@{}-{}$").text == dummied


def test_missing_dummies_are_reported() -> None:
    entities = [Entity(start=0, end=3, type="GENE")] * 3
    with pytest.raises(PubmillError, match=r"3 mentions overlap; the dummy @\{\}-\{\}\$ is for 2"):
        dummies("abc", entities, TYPES, "@{}-{}$")
    entities = [Entity(start=0, end=1, type=kind) for kind in ("GENE", "VIRUS", "CELL")]
    with pytest.raises(PubmillError, match="CELL, VIRUS; add it to `dummies`"):
        dummies("abc", entities, TYPES, OVERLAP)
