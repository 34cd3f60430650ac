"""The documentation's site: its pages and their links, without mkdocs. `make docs` builds it."""

import re
from pathlib import Path

import pytest

from tests import generated_pages
from tests.site_links import PAGES, links, place_of, repository, rewritten


def pages_by_hand(root: Path) -> list[str]:
    docs = root / "docs"
    found = {str(path.relative_to(docs)) for path in docs.rglob("*.md")} - generated_pages.names()
    return [*PAGES.values(), *sorted(found)]


def test_every_page_is_in_the_navigation_once(root: Path) -> None:
    found = re.findall(r"^ +- (\S+\.md)$", (root / "mkdocs.yml").read_text(), re.M)
    assert sorted(found) == sorted([*pages_by_hand(root), *generated_pages.names()])


def test_every_link_leads_to_a_stored_file(root: Path) -> None:
    """Generated pages are not stored, so a link to one would lead nowhere in the repository."""
    generated = {f"docs/{page}" for page in generated_pages.names()}
    for page in pages_by_hand(root):
        text = (root / place_of(page)).read_text()
        lost = [target for target in links(text, page) if target in generated or not (root / target).exists()]
        assert lost == [], page
        named = re.findall(r"`(docs/[\w/-]+\.md)`", text)
        assert [one for one in named if one not in generated and not (root / one).is_file()] == [], page


def test_pages_by_hand_stay_short(root: Path) -> None:
    words = sum(len((root / place_of(page)).read_text().split()) for page in pages_by_hand(root))
    assert words <= 28_500, "cut what nobody acts on before adding"


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("https://example.org/lab/pubmill.git\n", "https://example.org/lab/pubmill"),
        ("https://me:secret@example.org/lab/pubmill", "https://example.org/lab/pubmill"),
        ("git@example.org:lab/pubmill.git", "https://example.org/lab/pubmill"),
        ("ssh://git@example.org/lab/pubmill.git", "https://example.org/lab/pubmill"),
        ("/srv/git/pubmill", ""),
        ("", ""),
    ],
)
def test_the_site_links_to_the_page_of_its_repository(remote: str, address: str) -> None:
    assert repository(remote) == address


@pytest.mark.parametrize(
    ("page", "link", "made"),
    [
        ("index.md", "[a](docs/reruns.md)", "[a](reruns.md)"),
        ("index.md", "[a](CONTRIBUTING.md#rooms)", "[a](contributing.md#rooms)"),
        ("reruns.md", "[a](../CONTRIBUTING.md)", "[a](contributing.md)"),
        ("reruns.md", "[a](planning.md)", "[a](planning.md)"),
        ("faq.md", "[a](../README.md#two-commands)", "[a](index.md#two-commands)"),
        ("faq.md", "[a](../profiles/gpu/config.yaml)", "[a](files/profiles/gpu/config.yaml.txt)"),
        ("reference/filters.md", "[a](../selection.md)", "[a](../selection.md)"),
        ("datasets.md", "[a](../tests/datasets/linnaeus)", "a"),
        ("faq.md", "see `docs/running.md`", "see [`docs/running.md`](running.md)"),
        ("faq.md", "see `docs/nowhere.md`", "see `docs/nowhere.md`"),
        ("faq.md", "| `a\\|b` | c\\|d |", "| `a|b` | c\\|d |"),
        (
            "faq.md",
            "[a](nowhere.md) [b](https://x.org/y) [c](#d)",
            "[a](nowhere.md) [b](https://x.org/y) [c](#d)",
        ),
    ],
)
def test_links_are_written_for_the_site(page: str, link: str, made: str) -> None:
    assert rewritten(link, page) == made
