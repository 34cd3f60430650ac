"""The documentation, its generated pages and the schemas agree with specs, code and files."""

import json
import posixpath
import re
import shutil
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from pubmill.corpus.filters import FILTERS
from pubmill.metrics import METRICS
from pubmill.metrics.scorers import PUBLISHED_SCORERS
from pubmill.new_specs.spec_files import FOLDER
from pubmill.recipes import FinetuningRecipe
from pubmill.specs import LocalFile, Specs, load, strict_yaml
from tests import generated_pages, spec_reference
from tests.printed import documents
from tests.schemas import outdated, schemas, yaml_files
from tests.spec_reference import PAGE_NAMES, PAGES, descriptions, keys, models
from tests.unit.test_imports import ROOMS


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return (root / "docs/datasets.md").read_text()


def test_files_to_bring_are_listed_with_where_to_apply(page: str, full_specs: Specs) -> None:
    rows = dict(re.findall(r"^\| `([a-z0-9-]+)` \| (`[^|]+\|[^|]+)\|$", page, re.M))
    for name, spec in full_specs.datasets.items():
        for file in (one for one in spec.sources.values() if isinstance(one, LocalFile)):
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


def test_the_picture_of_the_rooms_is_theirs(root: Path) -> None:
    """It has every room, and no room imports one that is drawn before it."""
    text = (root / "docs/images/house.svg").read_text()
    drawn = re.findall(r'class="room"[^>]*>(\w+)<', text)
    assert sorted(drawn) == sorted(ROOMS)
    described = text.partition("<desc")[2].partition("</desc>")[0]
    assert re.findall(r"\w+", " ".join(re.findall(r": ([^.]*)\.", described))) == drawn
    for room, below in ROOMS.items():
        if room != "extras":
            above = set(drawn[: drawn.index(room)]) & set(below.split()) - {"extras"}
            assert not above, f"{room} is drawn below {above}"


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


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    return spec_reference.pages()


def test_the_pages_are_those_that_are_named(made: dict[str, str]) -> None:
    assert made.keys() == {f"reference/{name}.md" for name in PAGE_NAMES}
    assert all(text.startswith("# ") and "make docs" in text for text in made.values())


def test_links_of_the_pages_lead_to_pages_and_their_sections(made: dict[str, str], root: Path) -> None:
    for page, text in made.items():
        for target, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", text):
            path = posixpath.normpath(f"reference/{target}") if target else page
            there = made[path] if path in made else (root / "docs" / path).read_text(encoding="utf-8")
            headings = re.findall("^#+ (.*)$", there, re.M)
            assert not anchor or anchor in {one.lower().replace(" ", "-") for one in headings}, (page, target)


def test_the_registries_are_in_their_tables(made: dict[str, str], full_specs: Specs) -> None:
    scorers = {one.name for some in PUBLISHED_SCORERS.values() for one in some}
    for page, names in {
        "metrics": set(METRICS),
        "scorers": scorers,
        "filters": {one.__name__ for one in FILTERS},
        "list_of_datasets": set(full_specs.datasets),
        "recipes": set(full_specs.pretraining),
    }.items():
        assert names <= set(re.findall(r"(?m)^\| `([^`]+)` \|", made[f"reference/{page}.md"])), page
    verb = "### explain\n\n`pubmill explain [OPTIONS] {table} [row] [column]`"
    assert verb in made["reference/commands.md"]


@pytest.mark.parametrize("page", PAGES)
def test_every_key_has_a_meaning(page: str) -> None:
    found = dict.fromkeys(one for kind in PAGES[page][2] for one in models(kind))
    lacking = {one.__name__: keys(one).keys() - descriptions(one).keys() for one in found}
    assert not any(lacking.values()), "describe them in the class's docstring: - `key`: its meaning."
    assert all(text.strip() for one in found for text in descriptions(one).values())


def test_descriptions_are_read_from_lists_and_running_text() -> None:
    class Base:
        """Words of a base. `above`: its key."""

    class Below(Base):
        """A class. `one`, `two`: both, of `three` (here); `four`: more: with a colon.

        Part: `five`: in a paragraph.

        - `six` null: none.
        - `seven` (tokens): over
          two lines.
        """

    assert descriptions(Below) == {
        "above": "its key", "one": "both, of `three` (here)", "two": "both, of `three` (here)",
        "four": "more: with a colon", "five": "in a paragraph", "six": "none", "seven": "over two lines",
    }  # fmt: skip


def test_schemas_and_first_lines_are_up_to_date(root: Path) -> None:
    assert list(outdated(root)) == [], "run .venv/bin/python -m tests.schemas --write"


@pytest.fixture(scope="module")
def validators(root: Path) -> dict[str, Draft202012Validator]:
    found = {name: json.loads((root / FOLDER / f"{name}.json").read_text()) for name in schemas()}
    for schema in found.values():
        Draft202012Validator.check_schema(schema)
    return {name: Draft202012Validator(schema) for name, schema in found.items()}


def faults(validator: Draft202012Validator, value: Any) -> list[str]:
    return [f"{'.'.join(map(str, one.path))}: {one.message[:200]}" for one in validator.iter_errors(value)]


def test_every_file_fits_the_schema_of_its_first_line(
    root: Path, validators: dict[str, Draft202012Validator]
) -> None:
    paths = list(yaml_files(root))
    assert len(paths) > 200
    for path in paths:
        line = (root / path).read_text().partition("\n")[0]
        named = (root / path).parent / line.partition("$schema=")[2]
        assert named.is_file(), path
        assert faults(validators[named.stem], strict_yaml.read(root / path, path.name, []).value) == [], path


@pytest.mark.parametrize(
    ("schema", "text", "where"),
    [
        ("models", "lowercas: true", "lowercas"), ("models", "weights: {kind: folder, locl: x}", "weights"),
        ("study", "scale: [full]", "scale"), ("protocols", "epochs: many", "epochs"),
        ("tables", "kind: results\ncolums: []", "colums"),
    ],
)  # fmt: skip
def test_a_misspelt_key_or_a_wrong_value_is_marked(
    validators: dict[str, Draft202012Validator], schema: str, text: str, where: str
) -> None:
    assert any(where in fault for fault in faults(validators[schema], yaml.safe_load(text)))
