"""Converted datasets in the layouts of other programs: folders that these read without pubmill.

For a dataset that is not public, only a recipe is written: its files and the commands that convert them.
"""

from collections.abc import Mapping
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

RECIPE = "recipe.yaml"


def write_parquet(spec: DatasetSpec, converted: Path, folder: Path) -> dict[str, str]:
    """Write the examples of a converted dataset as Parquet; return split -> name of its file."""
    kind, tables = KINDS[spec.kind], {}
    for split in (one for one in SPLITS if one in spec.splits):
        tables[split] = to_table(list(read_examples(converted / f"{split}.jsonl.gz", kind)), kind)
    for split, table in tables.items():
        path = folder / f"{split}.parquet"
        with writing(path) as temporary, parquet_writer(temporary, table.schema) as writer:
            writer.write_table(table)
    return {split: f"{split}.parquet" for split in tables}


def write_card(name: str, specs: Specs, files: Mapping[str, str], folder: Path) -> Path:
    """Write the card of the Hugging Face hub for exported files (split -> name); return its path."""
    path, is_made_up = folder / "README.md", name in specs.scale.datasets
    with writing(path) as temporary:
        text = dataset_card(name, specs.datasets[name], files, is_made_up)
        temporary.write_text(text, encoding="utf-8")
    return path


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
