"""The documentation agrees with specs, code and files. Adding a dataset alone breaks no test here."""

import re
import shutil
from dataclasses import fields
from pathlib import Path

import pytest

from pubmill.recipes import FinetuningRecipe
from pubmill.specs import DatasetSpec, LocalFile, Specs, load
from tests import generated_pages, house_picture, spec_reference
from tests.printed import documents
from tests.unit.test_imports import ROOMS


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return (root / "docs/datasets.md").read_text()


def own_files(spec: DatasetSpec) -> list[LocalFile]:
    return [file for file in spec.sources.values() if isinstance(file, LocalFile)]


def test_files_to_bring_are_listed_with_where_to_apply(page: str, full_specs: Specs) -> None:
    rows = dict(re.findall(r"^\| `([a-z0-9-]+)` \| (`[^|]+\|[^|]+)\|$", page, re.M))
    for name, spec in full_specs.datasets.items():
        for file in own_files(spec):
            assert re.sub("[56]([bB])", r"7\1", file.file) in rows[file.local], name
            assert (spec.apply or "") in rows[file.local]


def test_known_formats_are_listed_and_their_options_described(page: str, full_specs: Specs) -> None:
    sections = dict(re.findall(r"(?ms)^## (\w+)\n(.*?)(?=^## |\Z)", spec_reference.converters()))
    for name, spec in full_specs.datasets.items():
        converter = spec.converter.removeprefix("pubmill.convert.")
        [row] = re.findall(rf"^\| {spec.kind} \|.*$", page, re.M)
        assert f"`{converter}`" in row, name
        described = sections[converter.partition(":")[0]]
        described += "".join(sections[one] for one in re.findall(r"`pubmill\.convert\.(\w+)`", described))
        assert all(f"`{option}" in described or option in spec.splits for option in spec.options), name


def test_every_writer_of_published_forms_is_listed(root: Path, page: str) -> None:
    modules = [path for path in (root / "pubmill/convert").glob("*.py") if "\ndef write(" in path.read_text()]
    assert len(modules) > 5 and all(f"`{path.stem}:write`" in page for path in modules)


def test_the_example_is_the_real_spec(root: Path, page: str, full_specs: Specs) -> None:
    spec = full_specs.datasets["linnaeus"]
    for split, counts in spec.expect.items():
        assert f"{split}: {{{', '.join(f'{name}: {count}' for name, count in counts.items())}}}" in page
    assert spec.licence in page and f"converter: {spec.converter}" in page
    assert (root / "tests/datasets/linnaeus/expected.yaml").is_file()


@pytest.fixture(scope="module")
def finetuning(root: Path) -> str:
    return (root / "docs/finetuning.md").read_text()


def rows(page: str, heading: str) -> dict[str, list[str]]:
    """Return first cell -> other cells for each row of a section's table, without code marks."""
    section = page.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    cells = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| `")]
    return {first.split("`")[1]: [cell.strip() for cell in others] for first, *others in cells}


def test_every_setting_is_named(finetuning: str) -> None:
    of_the_dataset = {"task", "metric", "negative", "dummies"}
    table = finetuning.split("| what | settings |")[1].split("\n\n")[0]
    named = re.findall(r"`(\w+)`", table)
    assert sorted(named) == sorted({field.name for field in fields(FinetuningRecipe)} - of_the_dataset)


def test_protocols_are_listed(finetuning: str, full_specs: Specs) -> None:
    assert rows(finetuning, "The protocols").keys() == full_specs.protocols.keys()


def test_the_new_setting_of_the_page_is_sound(finetuning: str, root: Path, tmp_path: Path) -> None:
    """The setting is written into the protocol as the page shows, and all specs load."""
    [line] = re.findall(r"^  crf[+].*$", finetuning, re.M)
    shutil.copytree(root / "specs", tmp_path / "specs")
    path = tmp_path / "specs/protocols/blurb.yaml"
    path.write_text(path.read_text().replace("\n  standard: {}\n", f"\n  standard: {{}}\n{line}\n"))
    made = load(tmp_path / "specs", "full").protocols["blurb"].settings["crf+tagging=bioul"]
    assert made.values == {"crf": True, "tagging": "bioul"} and "bc5-disease/crf+tagging=bioul/" in finetuning


def test_the_picture_of_the_rooms_is_theirs() -> None:
    """It has every room, and no room imports one that is drawn before it."""
    drawn = [room for _, _, rooms in house_picture.LAYERS for room in rooms.split()]
    assert sorted(drawn) == sorted(ROOMS)
    for room, below in ROOMS.items():
        if room != "extras":
            above = set(drawn[: drawn.index(room)]) & set(below.split()) - {"extras"}
            assert not above, f"{room} is drawn below {above}"
    assert house_picture.PLACE.read_text() == house_picture.picture(), "python -m tests.house_picture --write"


FOLDERS = "benchmarks|docs|envs|profiles|pubmill|requirements|rules|scripts|specs|studies|tests"
PATH = re.compile(rf"(?<![\w/.-])(?:{FOLDERS})/[\w./@+-]*\w")
MODULE = re.compile(r"(?<![\w/.-])(?:pubmill|tests)(?!\.(?:json|sif)\b)(?:\.\w+)+")
EXAMPLES = {
    "specs/datasets/mine.yaml", "tests/datasets/mine", "specs/models/my-bert.yaml",
    "specs/models/my-first.yaml", "specs/pretraining/my-first.yaml", "specs/pretraining/my-modernbert.yaml",
    "studies/mine.yaml", "studies/my-first.yaml", "specs/pretraining/pubmedbert-base@20-percent.yaml",
    "benchmarks/pretraining.json", "tests/world/mirror",
}  # fmt: skip
"""Files that a reader would write, and those that a program writes."""
BUILT = {"docs/fidelity", "docs/reference", *(f"docs/{page}" for page in generated_pages.names())}
PLACEHOLDER = re.compile(r"\b[A-Z]{4,}\b|NN")


def missing_paths(text: str, root: Path) -> list[str]:
    """Paths in a text that do not exist below `root`; paths with a placeholder such as NAME are skipped."""
    found = {path for path in PATH.findall(text) if not PLACEHOLDER.search(path)} - EXAMPLES - BUILT
    return sorted(path for path in found if not (root / path).exists())


def missing_modules(text: str, root: Path) -> list[str]:
    """Dotted names in a text that are neither a module nor a name defined in one."""
    return sorted(name for name in set(MODULE.findall(text)) if not is_defined(name, root))


def is_defined(name: str, root: Path) -> bool:
    path = root / name.replace(".", "/")
    if path.is_dir() or path.with_suffix(".py").is_file():
        return True
    module = path.parent.with_suffix(".py")
    return module.is_file() and re.search(rf"(?m)^(def|class) {path.name}\b", module.read_text()) is not None


def pages(root: Path) -> list[Path]:
    return [path for path in documents(root) if path.is_file()]


def test_every_path_that_a_page_names_exists(root: Path) -> None:
    text = "in `pubmill/recipes.py` and `specs/models/NAME.yaml`"
    assert missing_paths(text, root) == ["pubmill/recipes.py"]
    missing = {path.name: missing_paths(path.read_text(), root) for path in pages(root)}
    assert {name: paths for name, paths in missing.items() if paths} == {}


def test_every_module_that_a_page_names_exists(root: Path) -> None:
    assert missing_modules("`pubmill.errors.PubmillError`, `pubmill.recipe`", root) == ["pubmill.recipe"]
    missing = {path.name: missing_modules(path.read_text(), root) for path in pages(root)}
    assert {name: modules for name, modules in missing.items() if modules} == {}


def test_architecture_lists_the_rooms_from_the_lowest_to_the_highest(root: Path) -> None:
    section = (root / "docs/architecture.md").read_text().split("\n## Rooms\n")[1].split("\n## ")[0]
    table = section.split("\n\n")[1]
    assert re.findall(r"(?m)^\| `(\w+)` \|", table) == list(ROOMS)
