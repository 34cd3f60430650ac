"""One assertion for each rejection reason."""

from typing import Any

import pytest

from pubmill.corpus.filters import rejection
from pubmill.corpus.shards import Document
from pubmill.errors import PubmillError
from pubmill.recipes import read
from pubmill.recipes.corpora import SelectionRecipe


def document(words: int = 128, published: str = "2001", languages: tuple[str, ...] = ("eng",)) -> Document:
    sections = (("TWO WORDS", "w " * words),) if words else ()
    return Document(id="pmid:1", title="A title", published=published, languages=languages, sections=sections)


def of(**fields: Any) -> Document:
    return Document(id="pmid:1", sections=(("", "some words"),), **fields)


@pytest.mark.parametrize(
    ("given", "settings", "reason"),
    [
        (document(), {}, None),
        (of(flags=("unreadable",)), {}, "unreadable"),
        (document(0), {}, "no_abstract"),
        (document(128), {"min_words": 128}, None),
        (document(127), {"min_words": 128}, "too_short"),
        (document(9), {"max_words": 9}, None),
        (document(10), {"max_words": 9}, "too_long"),
        (document(), {"languages": ("eng",)}, None),
        (document(languages=("fre", "eng")), {"languages": ("eng",)}, None),
        (document(languages=("fre",)), {"languages": ("eng",)}, "language"),
        (document(languages=()), {"languages": ("eng",)}, "unknown_language"),
        (document(), {"published_from": 2001, "published_to": 2001}, None),
        (document(), {"published_from": 2002}, "published_before"),
        (document(), {"published_to": 2000}, "published_after"),
        (document(published=""), {"published_to": 2000}, "unknown_year"),
        (document(0, languages=()), {"min_words": 5, "languages": ("eng",)}, "no_abstract"),
        (document(3, languages=("fre",)), {"min_words": 5, "languages": ("eng",)}, "language"),
        (Document(id="mimic:1", flags=("error",), sections=(("", "a"),)), {}, "error_note"),
        (of(types=("Physician", "x")), {"types": ("Physician",)}, None),
        (of(types=("Nursing",)), {"types": ("Physician",)}, "type"),
        (of(types=()), {"types": ("Physician",)}, "type"),
        (of(types=("Review", "Letter")), {"without_types": ("Letter",)}, "unwanted_type"),
        (of(types=()), {"without_types": ("Letter",)}, None),
        (of(), {"requires": ("title", "abstract")}, "no_title"),
        (of(title="T"), {"requires": ("title", "abstract", "body")}, "no_body"),
        (of(title="T", body=(("", "b"),)), {"requires": ("title", "abstract", "body")}, None),
        (of(date="2001-05-01"), {"dated_from": "2001-05-01", "dated_to": "2001-05-01"}, None),
        (of(date="2001-04-30"), {"dated_from": "2001-05-01"}, "dated_before"),
        (of(date="2001-05-02"), {"dated_to": "2001-05-01"}, "dated_after"),
        (of(date="2001"), {"dated_from": "2001-05-01", "dated_to": "2001-06-01"}, None),
        (of(date="2000"), {"dated_from": "2001-05-01"}, "dated_before"),
        (of(), {"dated_to": "2001-05-01"}, "unknown_date"),
    ],
)
def test_first_reason(given: Document, settings: dict[str, Any], reason: str | None) -> None:
    assert rejection(given, SelectionRecipe(**settings)) == reason


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("{", "not valid JSON"),
        ('{"min_word": 5}', "min_word: unknown key"),
        ('{"min_words": "many"}', "min_words: expected an integer or null, found 'many'"),
        ('{"dated_to": "May"}', "dated_to must be a day, YYYY-MM-DD"),
        ('{"parts": ["title"]}', "parts.0: expected 'abstract' or 'body'"),
    ],
)
def test_bad_recipe(argument: str, message: str) -> None:
    with pytest.raises(PubmillError, match=f"--recipe.*\\s*{message}"):
        read(SelectionRecipe, argument)
