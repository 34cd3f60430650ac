"""Converted datasets in the layouts of other programs: folders that these read without pubmill.

For a dataset that is not public, only a recipe is written: its files and the commands that convert them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml

from pubmill.convert.bigbio import to_bigbio
from pubmill.convert.lm_eval import task_files, task_table
from pubmill.errors import PubmillError
from pubmill.examples.arrow_tables import to_table
from pubmill.examples.kinds import KINDS, SPLITS, Example, read_examples
from pubmill.examples.prompts import labels_of, wording_of
from pubmill.messages import commands
from pubmill.recipes.report import PageRecipe
from pubmill.report.croissant import ExampleFile, to_croissant
from pubmill.report.dataset_pages import ACCESS, Page, SourceLine
from pubmill.specs import DatasetSpec, LocalFile, Specs
from pubmill.specs.model_specs import PLAIN
from pubmill.stages.dataset_jobs import SPEC_FIELDS
from pubmill.stages.dataset_recipes import BLURB, dataset_card
from pubmill.storage.files import sha256, writing
from pubmill.storage.parquet import parquet_writer
from pubmill.storage.privacy import PUBLIC
from pubmill.storage.result_paths import CARD
from pubmill.tables.dataset_cards import Card, read_card

RECIPE = "recipe.yaml"


@dataclass(frozen=True)
class Converted:
    """A converted dataset: its name, its specs, and its folder."""

    name: str
    specs: Specs
    folder: Path

    @property
    def spec(self) -> DatasetSpec:
        return self.specs.datasets[self.name]

    @property
    def is_made_up(self) -> bool:
        """Whether the scale has other files than the published ones."""
        return self.name in self.specs.scale.datasets

    @cached_property
    def card(self) -> Card:
        return read_card(self.folder / CARD)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, or types of mentions, of all splits."""
        return labels_of(vars(self.card))

    def tables(self, table_of: Callable[[list[Example]], pa.Table]) -> dict[str, pa.Table]:
        """Return the tables that a function makes of the examples, by split."""
        kind = KINDS[self.spec.kind]
        files = {split: self.folder / f"{split}.jsonl.gz" for split in SPLITS if split in self.spec.splits}
        return {split: table_of(list(read_examples(path, kind))) for split, path in files.items()}


def write_parquet(made: Converted, folder: Path) -> list[Path]:
    """Write the examples as Parquet, the card of the Hugging Face hub, and Croissant."""
    page = _page(made)
    written = _write_tables(folder, made.tables(lambda found: to_table(found, KINDS[made.spec.kind])))
    named = [(split, path.name, path.name, sha256(path)) for split, path in written.items()]
    croissant = to_croissant(page, [ExampleFile(*names, "application/x-parquet") for names in named])
    texts = {"README.md": _readme(made, written), "croissant.json": croissant}
    return [*written.values(), *_write_texts(folder, texts)]


def write_bigbio(made: Converted, folder: Path) -> list[Path]:
    """Write the examples in their schema of BigBIO as Parquet, and the card of the Hugging Face hub."""
    spec, labels = made.spec, made.labels
    tables = made.tables(lambda found: to_bigbio(found, spec.kind, spec.task, labels, spec.negative))
    written = _write_tables(folder, tables)
    return [*written.values(), *_write_texts(folder, {"README.md": _readme(made, written)})]


def write_lm_eval(made: Converted, folder: Path) -> list[Path]:
    """Write a task of lm-evaluation-harness: prompts and answers as Parquet, YAML, and its scoring."""
    spec = made.spec
    template = made.specs.prompts[PLAIN].template(made.name, spec.task)
    if not isinstance(template, str):
        raise PubmillError(f"specs/prompts/{PLAIN}.yaml: the prompt of {made.name} is a file of others")
    labels, wording = made.labels, wording_of(spec, made.labels, template)
    tables = made.tables(lambda found: task_table(found, spec.kind, wording, labels, spec.negative))
    texts = task_files(made.name, spec.kind, list(tables), spec.version)
    return [*_write_tables(folder, tables).values(), *_write_texts(folder, texts)]


Writer = Callable[[Converted, Path], list[Path]]
LAYOUTS: dict[str, Writer] = {"parquet": write_parquet, "lm-eval": write_lm_eval, "bigbio": write_bigbio}
"""Form -> function that writes it into a folder and returns the files."""
ELSEWHERE = (*LAYOUTS, BLURB)
"""Forms for other people and programs; a dataset that is not public is written as a recipe in them."""


def refuse_gated(name: str, specs: Specs, form: str, folder: Path) -> None:
    """Write the recipe of a dataset that is not public, and raise a `PubmillError` with the reason."""
    spec = specs.datasets[name]
    if spec.access == PUBLIC:
        return
    recipe = _recipe(spec)
    if name not in specs.scale.datasets:  # counts of made-up files say nothing
        recipe["expect"] = {str(split): counts for split, counts in spec.expect.items()}
    [path] = _write_texts(folder, {RECIPE: yaml.safe_dump(recipe, sort_keys=False)})
    whose = "the files that one applies for" if spec.apply else "its files"
    terms = "; ".join(filter(None, (f"{spec.access}: {ACCESS[spec.access]}", spec.apply)))
    raise PubmillError(
        f"{name} is not public ({terms}), so its text is not written as {form}; {path} says how it is made "
        f"from {whose}"
    )


def _recipe(spec: DatasetSpec) -> dict[str, Any]:
    """Return a dataset's terms, its files, how they are converted, and the commands to run."""
    sources = spec.sources.items()
    keys = sorted({file.local for _, file in sources if isinstance(file, LocalFile)})
    folders = [word for key in keys for word in ("--local", f"{key}=FOLDER")]
    check = commands.pubmill("data", "check", *folders, spec.name)
    export = commands.pubmill("export", spec.name, "--to", "FOLDER", "--as", "jsonl")
    files = {role: file.file if isinstance(file, LocalFile) else file.url for role, file in sources}
    terms = {"dataset": spec.name, "access": spec.access, "apply": spec.apply, "licence": spec.licence}
    reading = {"files": files, "converter": spec.converter, "options": spec.options}
    return {**terms, **reading, "commands": [check, export]}


def _readme(made: Converted, files: Mapping[str, Path]) -> str:
    names = {split: path.name for split, path in files.items()}
    return dataset_card(made.name, made.spec, names, made.is_made_up)


def _write_tables(folder: Path, tables: Mapping[str, pa.Table]) -> dict[str, Path]:
    folder.mkdir(parents=True, exist_ok=True)
    written: dict[str, Path] = {}
    for split, table in tables.items():
        written[split] = folder / f"{split}.parquet"
        with writing(written[split]) as temporary, parquet_writer(temporary, table.schema) as writer:
            writer.write_table(table)
    return written


def _write_texts(folder: Path, texts: Mapping[str, str]) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        with writing(folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return [folder / name for name in texts]


def _page(made: Converted) -> Page:
    """Return what Croissant describes: the spec, the card, and the files from which it was made."""
    spec, card, scale = made.spec, made.card, made.specs.scale
    fields: dict[str, Any] = {name: getattr(spec, name) for name in SPEC_FIELDS}
    fields |= {"scale": scale.name, "scale_title": scale.title, "made_up": made.is_made_up, "card": CARD}
    recipe = PageRecipe(**fields, sources=(), published={}, variants=(), versions={})
    urls = {role: file.url for role, file in spec.sources.items() if not isinstance(file, LocalFile)}
    sources = tuple(
        SourceLine(
            role=role, place=one.file, url=urls.get(role), check="", bytes=one.bytes, sha256=one.sha256,
            origin="", retrieved="",
        )
        for role, one in card.sources.items()
    )  # fmt: skip
    return Page(recipe=recipe, card=card, sources=sources)
