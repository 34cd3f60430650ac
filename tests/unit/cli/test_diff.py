"""`pubmill diff`: what is compared, and in which form it is printed."""

import pytest

from pubmill.inspection.diff import differences, sides
from tests.unit.cli.conftest import Said


@pytest.fixture
def compared(started: Said, monkeypatch: pytest.MonkeyPatch) -> Said:
    """Run `pubmill diff WORDS`, where sides are named instead of read."""
    monkeypatch.setattr(sides, "Context", lambda root, study, config: f"{study} {config}")
    monkeypatch.setattr(sides, "side_of", lambda word, context: f"{word} ({context})")
    monkeypatch.setattr(differences, "differences", lambda one, other: f"{one} to {other}")
    monkeypatch.setattr(differences, "as_json", lambda found: f"JSON of {found}\n")
    monkeypatch.setattr(differences, "print_differences", lambda console, found: print(found))
    monkeypatch.setattr("pubmill.cli.diff_command._print_days", lambda *about: print("days", *about))

    def said(*words: str) -> str:
        return started("diff", *words)

    return said


def test_sides_are_compared_with_the_recipes_of_a_study(compared: Said) -> None:
    assert compared("demo", "gu2020") == "demo (demo []) to gu2020 (demo [])\n"
    words = ("demo", "gu2020", "--study", "small", "--config", "results=there", "--json")
    context = "small ['results=there']"
    assert compared(*words) == f"JSON of demo ({context}) to gu2020 ({context})\n"


@pytest.mark.parametrize(
    ("words", "results"),
    [("", "results/demo"), ("--study gu2020", "results/full"), ("--config results=there", "there/demo")],
)
def test_two_locks_are_days_of_a_corpus(compared: Said, words: str, results: str) -> None:
    assert compared("a.lock", "b.lock", *words.split()) == f"days a.lock b.lock False {results}\n"
    assert compared("a.lock", "b.lock", "--json", *words.split()) == f"days a.lock b.lock True {results}\n"


@pytest.mark.parametrize("words", [("a.lock", "demo"), ("demo", "a.lock")])
def test_one_lock_is_a_side_as_any_other(compared: Said, words: tuple[str, str]) -> None:
    context = "(demo [])"
    assert compared(*words) == f"{words[0]} {context} to {words[1]} {context}\n"
