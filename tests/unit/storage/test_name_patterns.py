"""Refused names, and compressed lists of paths."""

import shutil
from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from pubmill.errors import PubmillError
from pubmill.recipes.recipe_types import LocalKey, Name
from pubmill.specs import load
from pubmill.specs.spec_types import FileName, FilePath, Https
from pubmill.storage.name_patterns import FILE, PATH, SPEC, URL, fits

HOSTILE = (
    "x;touch P;y", "$(x)", "`x`", "a b'c", "..", "../x", "-x", "{x}", "x\n", "\x1b[2J", "x\x00", "a" * 300,
)  # fmt: skip
"""Names that no kind of name may be."""


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_refused(name: str) -> None:
    assert not any(fits(pattern, name) for pattern in (SPEC, FILE, URL))
    for kind in (Name, LocalKey, FileName, FilePath, Https):
        with pytest.raises(ValidationError):
            TypeAdapter(kind).validate_python(name)


def test_ordinary_names_are_taken() -> None:
    assert fits(SPEC, "ebm-pico@scibert") and fits(FILE, "2014 training-PHI_Gold.tar.gz")
    assert fits(PATH, "a/b.c")
    assert TypeAdapter(Https).validate_python("https://a.org:8080/x%20y/(z)..v1;w")
    for url in ("https://../x", "https://a/../../x", "https://a/x/..", "https://a/{x}", "https://a@b/"):
        with pytest.raises(ValidationError):
            TypeAdapter(Https).validate_python(url)


def test_specs_in_odd_places_and_included_names_are_refused(root: Path, tmp_path: Path) -> None:
    specs = Path(shutil.copytree(root / "specs", tmp_path / "specs"))
    places = (
        "tables/x;touch P;y/table06.yaml", "tables/table06.yaml", "models/x/bert.yaml", "datasets/a b.yaml",
    )  # fmt: skip
    for place in places:
        (specs / place).parent.mkdir(exist_ok=True)
        (specs / place).write_text(f"name: {Path(place).stem}\n")
    (specs / "models/odd.yaml").write_text("include: ../datasets/bc2gm\nname: odd\n")
    with pytest.raises(PubmillError) as caught:
        load(specs, "demo")
    for place in places:
        assert f"'specs/{place}': expected" in str(caught.value)
    assert "odd.yaml:1: expected the name of a spec, found '../datasets" in str(caught.value)
