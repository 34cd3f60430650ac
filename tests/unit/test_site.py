"""The documentation's site: its pages and their links, without mkdocs. `make docs` builds it."""

import re
from pathlib import Path

import pytest

from tests.site_links import PAGES, links, place_of, repository, rewritten


def site_pages(root: Path) -> list[str]:
    docs = root / "docs"
    return [*PAGES.values(), *(str(path.relative_to(docs)) for path in sorted(docs.rglob("*.md")))]


def test_every_page_is_in_the_navigation_once(root: Path) -> None:
    found = re.findall(r"^ +- (\S+\.md)$", (root / "mkdocs.yml").read_text(), re.M)
    assert sorted(found) == sorted(site_pages(root))


def test_every_link_leads_to_a_file_of_the_checkout(root: Path) -> None:
    for page in site_pages(root):
        text = (root / place_of(page)).read_text()
        assert [target for target in links(text, page) if not (root / target).exists()] == [], page


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
        (
            "faq.md",
            "[a](nowhere.md) [b](https://x.org/y) [c](#d)",
            "[a](nowhere.md) [b](https://x.org/y) [c](#d)",
        ),
    ],
)
def test_links_are_written_for_the_site(page: str, link: str, made: str) -> None:
    assert rewritten(link, page) == made
