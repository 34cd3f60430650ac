"""Files of PubMed that are new on the server, and the specs that name them."""

from pathlib import Path

import pytest

from pubmill import specs as all_specs
from pubmill.errors import PubmillError
from pubmill.inspection.pubmed_updates import (
    Files,
    SourceUpdate,
    _following,
    _numbers,
    check_updated,
    pubmed_sources,
    source_update,
    updated_specs,
    with_files,
)
from pubmill.specs import PubmedSource
from pubmill.storage.listings import PubmedYear

URL = "https://host/pubmed"


def server(folder: Path, baseline: list[str], updates: list[str], without_md5: tuple[str, ...] = ()) -> str:
    for place, names in (("baseline", baseline), ("updatefiles", updates)):
        (folder / "host/pubmed" / place).mkdir(parents=True, exist_ok=True)
        for name in names:
            path = folder / f"host/pubmed/{place}/pubmed{name}.xml.gz"
            path.touch()
            if name not in without_md5:
                path.with_name(f"{path.name}.md5").touch()
    return str(folder)


def source(baseline: tuple[str, ...], updates: tuple[str, ...] = ()) -> PubmedSource:
    files: dict[str, tuple[str, ...]] = {
        "baseline": baseline,
        **({"updatefiles": updates} if updates else {}),
    }
    return PubmedSource.model_validate({"name": "pubmed", "kind": "pubmed", "url": URL, "files": files})


def names(first: int, last: int, year: int = 26) -> list[str]:
    return [f"{year}n{number:04d}" for number in range(first, last + 1)]


def test_files_after_the_last_are_added(tmp_path: Path) -> None:
    mirror = server(tmp_path, names(1, 4), names(5, 9))
    found = source_update(source(("26n0001-26n0002", "26n0004"), ("26n0005-26n0006",)), mirror)
    assert found.new == {"baseline": ("26n0001-26n0002", "26n0004"), "updatefiles": ("26n0005-26n0009",)}
    assert found.added == tuple(f"updatefiles/pubmed26n{n:04d}.xml.gz" for n in (7, 8, 9))
    assert source_update(source(("26n0001-26n0004",), ("26n0005-26n0009",)), mirror).added == ()
    first = source_update(source(("26n0001-26n0004",)), mirror)
    assert first.new["updatefiles"] == ("26n0005-26n0009",)


def test_a_gap_or_a_file_without_md5_ends_what_is_taken(tmp_path: Path) -> None:
    mirror = server(tmp_path, names(1, 2), [*names(3, 4), *names(6, 7)])
    of = source(("26n0001-26n0002",), ("26n0003",))
    assert source_update(of, mirror).added == ("updatefiles/pubmed26n0004.xml.gz",)
    server(tmp_path, [], ["26n0005"], without_md5=("26n0005",))
    assert source_update(of, mirror).added == ("updatefiles/pubmed26n0004.xml.gz",)
    (tmp_path / "host/pubmed/updatefiles/pubmed26n0005.xml.gz.md5").touch()
    assert len(source_update(of, mirror).added) == 4


def test_a_baseline_of_a_later_year_replaces_all_files_once_it_is_whole(tmp_path: Path) -> None:
    of = source(("26n0001-26n0002",), ("26n0003",))
    mirror = server(tmp_path, [*names(1, 2), *names(1, 2, 27), "27n0004"], names(3, 3))
    assert source_update(of, mirror).added == ()
    server(tmp_path, ["27n0003"], names(5, 6, 27))
    found = source_update(of, mirror)
    assert found.new == {"baseline": ("27n0001-27n0004",), "updatefiles": ("27n0005-27n0006",)}
    assert len(found.added) == 6 and found.added[0] == "baseline/pubmed27n0001.xml.gz"


BEFORE: Files = {"baseline": ("26n0001-26n0002", "26n0004"), "updatefiles": ("26n0005",)}
AFTER: Files = {"baseline": ("26n0001-26n0002", "26n0004"), "updatefiles": ("26n0005-26n0007",)}
UPDATE = SourceUpdate("pubmed", BEFORE, AFTER, ())


def test_only_the_files_are_replaced_in_a_spec() -> None:
    flow = "files: {baseline: [26n0001-26n0002, 26n0004], updatefiles: [26n0005]}  # a remark\n"
    assert with_files(flow, UPDATE) == flow.replace("[26n0005]", "[26n0005-26n0007]")
    block = "    files:\n      baseline: [26n0001-26n0002,26n0004]\n      updatefiles: [ 26n0005 ]\nname: x\n"
    assert "updatefiles: [26n0005-26n0007]\nname: x\n" in with_files(block, UPDATE)
    other = flow.replace("26n0005", "26n0006").replace("26n0004", "26n0003")
    assert with_files(other, UPDATE) == other


def test_a_source_without_updates_gets_them() -> None:
    update = SourceUpdate(
        "p", {"baseline": ("26n0001",)}, {"baseline": ("26n0001",), "updatefiles": ("26n0002",)}, ()
    )
    assert with_files("{baseline: [26n0001]}", update) == "{baseline: [26n0001], updatefiles: [26n0002]}"
    assert with_files("files:\n  baseline: [26n0001]\n", update) == (
        "files:\n  baseline: [26n0001]\n  updatefiles: [26n0002]\n"
    )


@pytest.mark.parametrize("scale", ["full", "demo"])
def test_real_specs_are_found_and_read_back(specs: Path, scale: str) -> None:
    corpora = ["pubmed-abstracts", "pubmed-pmc"] if scale == "full" else ["pubmed-abstracts"]
    before = all_specs.load(specs, scale)
    (old,) = {repr(one.files): one for _, one in pubmed_sources(before, corpora)}.values()
    files = {str(folder): ranges for folder, ranges in old.files.items()}
    new = {**files, "updatefiles": (files["updatefiles"][0][:8] + "26n1999",)}
    updates = {"pubmed": SourceUpdate("pubmed", files, new, ())}
    with pytest.raises(PubmillError, match="Write them by hand .*26n1999"):
        check_updated(before, corpora, updates)
    for path, text in updated_specs(scale, corpora, specs, updates).items():
        path.write_text(text)
    check_updated(all_specs.load(specs, scale), corpora, updates)


def test_numbers_are_those_of_names_that_have_a_year_and_a_number() -> None:
    paths = ["baseline/pubmed26n0003.xml.gz", "README.txt", "updatefiles/pubmed27n0001.xml.gz"]
    assert _numbers([*paths, "updatefiles/pubmed26n0004.xml.gz"]) == {26: [3, 4], 27: [1]}


def test_without_a_listing_nothing_follows() -> None:
    assert _following(3, None) == []
    assert _following(3, PubmedYear(26, (1, 4, 5, 7), ())) == [4, 5]
    assert _following(3, PubmedYear(26, (5, 6), ())) == []
    without = PubmedYear(26, (4, 5, 6), ("updatefiles/pubmed26n0005.xml.gz",))
    assert _following(3, without) == [4]


def test_a_source_whose_folder_of_updates_is_empty_keeps_its_baseline(tmp_path: Path) -> None:
    found = source_update(source(("26n0001-26n0002",)), server(tmp_path, names(1, 2), []))
    assert (found.new, found.added) == ({"baseline": ("26n0001-26n0002",)}, ())
