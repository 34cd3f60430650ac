"""Links of the documentation's site: the hook of mkdocs.yml.

Pages are written for the checkout, where README.md links to docs/reruns.md, and that to ../CONTRIBUTING.md.
Generated pages are not stored, so pages name them as code, which becomes a link here.
Run by mkdocs in an environment of its own (`make docs`), so it imports only the standard library and mkdocs.
"""

import posixpath
import re
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""Pages outside docs/ -> their place in the site."""
LINK = re.compile(r"\[([^\]]*)\]\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)")

NAMED = re.compile(r"(?<!\[)`(docs/[\w/-]+\.md)`(?!\])")

BAR_IN_CODE = re.compile(r"`[^`\n]*\\\|[^`\n]*`")
"""Code of a table with an escaped bar, as GitHub wants it; Python-Markdown shows the backslash."""


def place_of(page: str) -> str:
    """Return the place in the checkout of a page of the site."""
    return {place: page for page, place in PAGES.items()}.get(page, f"docs/{page}")


def links(text: str, page: str) -> list[str]:
    folder = posixpath.dirname(place_of(page))
    return [posixpath.normpath(posixpath.join(folder, path)) for _, path, _ in LINK.findall(text)]


def rewritten(text: str, page: str) -> str:
    """Return the text of a page with links to the site's pages, and to copies of other files.

    A link to a folder becomes plain text; a link to nothing stays, for mkdocs to report.
    """

    def rewrite(found: re.Match[str]) -> str:
        label, _, anchor = found.groups()
        [target] = links(found[0], page)
        if (ROOT / target).is_dir():
            return label
        if not (ROOT / target).is_file():
            return found[0]
        there = posixpath.relpath(in_site(target), posixpath.dirname(page) or ".")
        return f"[{label}]({there}{anchor or ''})"

    def link(found: re.Match[str]) -> str:
        there = posixpath.relpath(in_site(found[1]), posixpath.dirname(page) or ".")
        return f"[`{found[1]}`]({there})" if (ROOT / found[1]).is_file() else found[0]

    text = BAR_IN_CODE.sub(lambda code: code[0].replace("\\|", "|"), text)
    return NAMED.sub(link, LINK.sub(rewrite, text))


def in_site(target: str) -> str:
    """Return the place in the site of a file of the checkout."""
    if target in PAGES:
        return PAGES[target]
    return target.removeprefix("docs/") if target.startswith("docs/") else f"files/{target}.txt"


def repository(remote: str) -> str:
    """Return the address of a repository's page, for what `git remote get-url` prints; empty if that is no
    address with a page."""
    address = re.sub(r"^(?:ssh://)?git@([^/:]+)[:/]", r"https://\1/", remote.strip()).removesuffix(".git")
    found = re.fullmatch(r"(https://)(?:[^@/]+@)?([^@\s]+/[^@\s]+)", address)
    return found[1] + found[2] if found else ""


def on_config(config: Any) -> Any:
    """Link the site to the repository that this is a clone of: in the footer, as the theme's own link
    (`repo_url`) asks its host for numbers of stars."""
    remote = subprocess.run(
        ["git", "remote", "get-url", "origin"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout
    if page := repository(remote):
        config["extra"]["social"] = [
            {"icon": "fontawesome/brands/git-alt", "link": page, "name": "Repository"}
        ]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages outside docs/, and the files that pages link to."""
    from mkdocs.structure.files import File

    for page, place in PAGES.items():
        files.append(File.generated(config, place, content=(ROOT / page).read_text()))
    named = {
        target
        for one in list(files.documentation_pages())
        for target in links(one.content_string, one.src_uri)
    }
    for target in sorted(named):
        if in_site(target).startswith("files/") and (ROOT / target).is_file():
            files.append(File.generated(config, in_site(target), content=(ROOT / target).read_text()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    return rewritten(markdown, page.file.src_uri)
