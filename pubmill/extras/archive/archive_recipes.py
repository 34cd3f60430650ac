"""The recipe of an archive, and its statement; paths are below the results folder."""

from typing import Any

from pubmill.recipes.recipe_types import StrictRecipe


class ArchiveRecipe(StrictRecipe):
    """The input of the job that packs an archive.

    - `configuration`: the study without folders of the machine.
    - `tables`: its tables of results; `published`: these, and those that they refer to.
    - `files`: tables and comparisons; `records`: the records behind tables -> the examples that they were
      scored on, or "" if their dataset is not public.
    - `found`: records that no job of the study makes; `stale`: records on disk -> why tables do not show
      them.
    - `lacking_datasets`, `lacking_models`: why they were not available; `supplied`: model -> dataset -> seeds
      of the predictions that users supplied.
    - `terms`: dataset -> what the archive may have of it, and its licence.
    """

    study: str
    title: str
    scale: str
    scale_title: str
    configuration: dict[str, Any]
    tables: tuple[str, ...]
    published: tuple[str, ...]
    files: tuple[str, ...]
    records: dict[str, str]
    found: tuple[str, ...]
    stale: dict[str, str]
    lacking_datasets: dict[str, str]
    lacking_models: dict[str, str]
    supplied: dict[str, dict[str, tuple[int, ...]]]
    terms: dict[str, str]
    versions: dict[str, int]


class ArchiveStatement(StrictRecipe):
    """What an archive says of itself. `commit`: of pubmill, when it was packed; `finished`: when the last of
    its results was made; `closed`: records on public data, without predictions because these are derived from
    data that are not public -> access class."""

    recipe: ArchiveRecipe
    commit: str | None
    finished: str
    closed: dict[str, str]
