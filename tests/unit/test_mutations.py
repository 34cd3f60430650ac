"""The mutation check: which changes it makes, which tests it runs, and what it calls a survivor."""

from pathlib import Path

import pytest

from tests.mutations.points import immaterial, mutations
from tests.mutations.trials import survivors

ROOT = Path(__file__).resolve().parents[2]
CHECKOUT = {
    "pubmill/__init__.py": "", "pubmill/sums/__init__.py": "",
    "pubmill/sums/counting.py": (
        "def doubled(number):\n    return number + number\n\n\ndef is_many(number):\n    return number > 10\n"
    ),
    "tests/__init__.py": "", "tests/conftest.py": "", "tests/unit/__init__.py": "",
    "tests/unit/sums/__init__.py": "",
    "tests/unit/sums/test_words.py": (
        "from pubmill.sums.counting import doubled, is_many\n\n\ndef test_words():\n"
        "    assert doubled(3) == 6 and not is_many(9) and is_many(12)\n"
    ),
    "tests/unit/sums/test_other.py": "def test_nothing():\n    pass\n",
}  # fmt: skip


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name, text in CHECKOUT.items():
        path = tmp_path / "checkout" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "checkout"


def changes(folder: Path, text: str) -> list[tuple[str, str]]:
    (folder / "module.py").write_text(text)
    return [(found.old, found.new) for found in mutations(folder, Path("module.py"))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = a < b", [("a < b", "(a <= b)")]), ("x = a is None", [("a is None", "(a is not None)")]),
        ("x = a + b ** c", [("a + b ** c", "(a - b ** c)"), ("b ** c", "(b * c)")]),
        ("x += y", [("x += y", "x -= y")]), ("x = a and b", [("a and b", "(a or b)")]),
        ("x = not a", [("not a", "(a)")]), ("x = a if b else c", [("b", "(not b)")]),
        ("if ready(): pass", [("ready()", "(not ready())")]), ("x = [a for a in b if a]", [("a", "(not a)")]),
        ("x = {'é': 3, 'b': True}", [("3", "(4)"), ("True", "(False)")]),
    ],
)  # fmt: skip
def test_operators_constants_and_conditions_are_changed(
    tmp_path: Path, text: str, expected: list[tuple[str, str]]
) -> None:
    assert changes(tmp_path, text) == expected


@pytest.mark.long
def test_only_what_no_test_notices_survives(checkout: Path) -> None:
    found = mutations(checkout, Path("pubmill/sums/counting.py"))
    before = {path: path.read_text() for path in checkout.rglob("*.py")}
    left = survivors(checkout, found[:2])  # a sum becomes a difference, which is noticed, then this
    assert [(one.old, one.new) for one in left] == [("number > 10", "(number >= 10)")]
    assert {path: path.read_text() for path in checkout.rglob("*.py")} == before


@pytest.mark.parametrize("file", sorted(immaterial()))
def test_listed_lines_exist_once_and_are_left_out(file: str) -> None:
    lines = [line.strip() for line in (ROOT / file).read_text(encoding="utf-8").splitlines()]
    assert {line: lines.count(line) for line in immaterial()[file]} == dict.fromkeys(immaterial()[file], 1)
    left = {lines[mutation.line - 1] for mutation in mutations(ROOT, Path(file))}
    assert left and not left & immaterial()[file]
