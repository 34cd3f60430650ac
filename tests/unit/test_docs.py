"""What the documentation says of datasets is what the specs say. A new spec alone breaks nothing here."""

import re
from pathlib import Path

import pytest

from pubmill.specs import DatasetSpec, LocalFile, Specs, load


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return (root / "docs/datasets.md").read_text()


@pytest.fixture(scope="module")
def all_specs(root: Path) -> Specs:
    return load(root / "specs", "full")


def told(page: str) -> dict[str, tuple[str, str]]:
    """Dataset -> task and access, as the page's table says; of `a@1` to `a@3` each one between too."""
    rows = re.findall(
        r"^\| (`[^|]+`) \| ([a-z-]+) \| [^|]* \| (public|registration|credentialed) \|$", page, re.M
    )
    found = {}
    for names, task, access in rows:
        ends = re.findall(r"`([^`]+)`", names)
        found |= dict.fromkeys(between(*ends) if len(ends) == 2 else ends, (task, access))
    return found


def between(first: str, last: str) -> list[str]:
    start = re.search(r"\d+(?=[a-z-]*$)", first)
    end = re.search(r"\d+(?=[a-z-]*$)", last)
    assert start and end
    numbers = range(int(start[0]), int(end[0]) + 1)
    return [f"{first[: start.start()]}{number}{first[start.end() :]}" for number in numbers]


def test_the_table_of_datasets_is_true(page: str, all_specs: Specs) -> None:
    listed = told(page)
    assert len(listed) > 50
    for name, facts in listed.items():
        spec = all_specs.datasets[name]
        assert (spec.task, spec.access) == facts, name


def test_the_datasets_of_all_tables_are_listed(page: str, all_specs: Specs) -> None:
    tables = [*all_specs.tables.values(), *all_specs.dataset_tables.values()]
    named = {row.dataset for table in tables for row in table.rows if row.dataset in all_specs.datasets}
    assert named <= told(page).keys()


def own_files(spec: DatasetSpec) -> list[LocalFile]:
    return [file for file in spec.sources.values() if isinstance(file, LocalFile)]


def test_files_to_bring_are_listed_with_where_to_apply(page: str, all_specs: Specs) -> None:
    rows = dict(re.findall(r"^\| `([a-z0-9-]+)` \| (`[^|]+\|[^|]+)\|$", page, re.M))
    for name in told(page):
        spec = all_specs.datasets[name]
        for file in own_files(spec):
            assert re.sub("[56]([bB])", r"7\1", file.file) in rows[file.local], name
            assert (spec.apply or "") in rows[file.local]


def test_known_formats_are_listed(page: str, all_specs: Specs) -> None:
    for name in told(page):
        spec = all_specs.datasets[name]
        (row,) = re.findall(rf"^\| `{spec.converter.removeprefix('pubmill.convert.')}` \|.*$", page, re.M)
        assert f"| {spec.kind} |" in row
        assert all(f"`{option}`" in row or option in spec.splits for option in spec.options), (name, row)


def test_the_example_is_the_real_spec(root: Path, page: str, all_specs: Specs) -> None:
    spec = all_specs.datasets["linnaeus"]
    for split, counts in spec.expect.items():
        assert f"{split}: {{{', '.join(f'{name}: {count}' for name, count in counts.items())}}}" in page
    assert spec.licence in page and f"converter: {spec.converter}" in page
    assert (root / "tests/datasets/linnaeus/expected.yaml").is_file()
