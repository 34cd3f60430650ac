"""Converted datasets in the layouts of other programs: folders that these read without pubmill.

For a dataset that is not public, only a recipe is written: its files and the commands that convert them.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from pubmill.errors import PubmillError
from pubmill.examples.arrow_tables import to_table
from pubmill.examples.kinds import KINDS, SPLITS, read_examples
from pubmill.messages import commands
from pubmill.report.dataset_pages import ACCESS
from pubmill.specs import DatasetSpec, LocalFile, Specs
from pubmill.stages.dataset_recipes import BLURB, dataset_card
from pubmill.storage.files import writing
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


def write_parquet(made: Converted, folder: Path) -> list[Path]:
    """Write the examples as Parquet, and the card of the Hugging Face hub."""
    kind, written = KINDS[made.spec.kind], dict[str, Path]()
    files = {split: made.folder / f"{split}.jsonl.gz" for split in SPLITS if split in made.spec.splits}
    tables = {split: to_table(list(read_examples(path, kind)), kind) for split, path in files.items()}
    for split, table in tables.items():
        written[split] = folder / f"{split}.parquet"
        with writing(written[split]) as temporary, parquet_writer(temporary, table.schema) as writer:
            writer.write_table(table)
    names = {split: path.name for split, path in written.items()}
    with writing(folder / "README.md") as temporary:
        card = dataset_card(made.name, made.spec, names, made.is_made_up)
        temporary.write_text(card, encoding="utf-8")
    return [*written.values(), folder / "README.md"]


PARQUET = "parquet"
ELSEWHERE = (PARQUET, BLURB)
"""Forms for other people and programs; a dataset that is not public is written as a recipe in them."""


def refuse_gated(name: str, specs: Specs, form: str, folder: Path) -> None:
    """Write the recipe of a dataset that is not public, and raise a `PubmillError` with the reason."""
    spec = specs.datasets[name]
    if spec.access == PUBLIC:
        return
    own = (file.local for file in spec.sources.values() if isinstance(file, LocalFile))
    folders = [word for key in sorted({*own}) for word in ("--local", f"{key}=FOLDER")]
    check = commands.pubmill("doctor", "data", *folders, spec.name)
    export = commands.pubmill("export", spec.name, "--to", "FOLDER", "--as", "jsonl")
    sources = spec.sources.items()
    recipe: dict[str, Any] = {
        **{"dataset": spec.name, "access": spec.access, "apply": spec.apply, "licence": spec.licence},
        "files": {role: file.file if isinstance(file, LocalFile) else file.url for role, file in sources},
        **{"converter": spec.converter, "options": spec.options, "commands": [check, export]},
    }
    if name not in specs.scale.datasets:  # counts of made-up files say nothing
        recipe["expect"] = {str(split): counts for split, counts in spec.expect.items()}
    path = folder / RECIPE
    with writing(path) as temporary:
        temporary.write_text(yaml.safe_dump(recipe, sort_keys=False), encoding="utf-8")
    whose = "the files that one applies for" if spec.apply else "its files"
    terms = "; ".join(filter(None, (f"{spec.access}: {ACCESS[spec.access]}", spec.apply)))
    raise PubmillError(
        f"{name} is not public ({terms}), so its text is not written as {form}; {path} says how it is made "
        f"from {whose}"
    )
