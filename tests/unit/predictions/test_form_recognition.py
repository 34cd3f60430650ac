"""The form of predictions, from their first lines."""

import gzip
from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.predictions.forms import form_of, read_text


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ('{"id": "1", "label": "a"}', "jsonl"), ('{"example_id": "1", "label": "a"}\n', "jsonl"),
        ('\n{"a": 1}\n{"b": 2}', "jsonl"), ('{"1": "a"}', "json"), ('{"1": "a"}\n\n', "json"),
        ('{\n"id": "1"}', "json"), ('[{"id": "1"}]', "json"), ('{"documents": []}', "bioc-json"),
        ('{"documents": []}\n{"documents": []}', "bioc-json"),
        ('{"source": "", "documents" : [3]}', "bioc-json"),
        (" <collection/>", "bioc-xml"), ("7|t|Flu", "pubtator"), ("7|a|Flu", "pubtator"), ("flu\tO", "conll"),
        ("flu\tyes", "blurb-tsv"), ("7|b|Flu", None), ("\n \n", None),
    ],
)  # fmt: skip
def test_forms_are_recognised(text: str, form: str | None) -> None:
    if form:
        assert form_of(text, "f") == form
        return
    with pytest.raises(PubmillError, match="f: the file has none of the known forms"):
        form_of(text, "f")


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    for content in (b"\xef\xbb\xbfa\r\nb", gzip.compress(b"\xef\xbb\xbfa\r\nb")):
        (tmp_path / "file").write_bytes(content)
        assert read_text(tmp_path / "file") == "a\nb"
