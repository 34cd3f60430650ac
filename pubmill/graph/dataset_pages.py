"""The pages of datasets."""

from typing import Any

from pubmill.graph.records_on_disk import FoundTargets
from pubmill.graph.stage_versions import VERSIONS
from pubmill.specs import LocalFile
from pubmill.specs.datasets import File
from pubmill.storage.result_paths import BELOW

PAGE_FORMS = ("json", "md", "html")
PAGE_FACTS = (
    "name", "label", "citation", "notes", "kind", "task", "domain", "suites", "metric", "negative",
    "access", "apply", "licence", "duplicates", "conflicts",
)  # fmt: skip
"""Fields of a dataset's spec that its page shows unchanged."""


class PageTargets(FoundTargets):
    """Recipes and files of the pages of datasets."""

    PAGE_FORMS = PAGE_FORMS

    def is_made_up(self, dataset: str) -> bool:
        """Whether the scale gives the dataset other files than the published ones."""
        return dataset in self.specs.scale.datasets

    def variants(self, dataset: str) -> list[str]:
        """All forms of a dataset, itself included: `chemprot@blurb`, `chemprot@blue` ..."""
        base = dataset.partition("@")[0]
        return [name for name in self.specs.datasets if name.partition("@")[0] == base]

    def page_files(self, dataset: str) -> list[str]:
        return [self.paths.page(dataset, form) for form in PAGE_FORMS]

    def page_inputs(self, dataset: str) -> list[str]:
        """The card, and where each source file came from; a `PubmillError` where they can't be had."""
        self.check_access(dataset)
        records = [self.paths.source_record(path) for path in self.dataset_inputs(dataset).values()]
        return [self.paths.card(dataset), *records]

    def page_recipe(self, dataset: str) -> dict[str, Any]:
        """PageRecipe of a dataset: what its spec says; the numbers are its card's."""
        spec = self.specs.datasets[dataset]
        return {
            **spec.model_dump(include=set(PAGE_FACTS)),
            "scale": self.study.scale,
            "scale_title": self.specs.scale.title,
            "made_up": self.is_made_up(dataset),
            "card": BELOW.card(dataset),
            "sources": self._page_sources(dataset),
            "published": spec.published.model_dump(include={"files"})["files"] if spec.published else {},
            "variants": [name for name in self.variants(dataset) if name != dataset],
            "versions": {"page": VERSIONS["page"]},
        }

    def _page_sources(self, dataset: str) -> list[dict[str, str | None]]:
        """A list, as the order of a mapping would be lost on the way to the page."""
        return [
            {"role": role, **_place(file), "record": self._source_record(dataset, role)}
            for role, file in self.specs.datasets[dataset].sources.items()
        ]

    def _source_record(self, dataset: str, role: str) -> str:
        """Return the path, below the results, of the record of origin of the file of a role."""
        return self.paths.source_record(self.paths.below(self.dataset_inputs(dataset)[role]))


def _place(file: File | LocalFile) -> dict[str, str | None]:
    """Where a source file is from, in words that hold on every machine, and how it is checked."""
    if isinstance(file, LocalFile):
        place = f"{file.file}, in the folder local_files.{file.local}"
        return {"place": place, "url": None, "check": "sha256" if file.sha256 else None}
    known = "sha256" if file.sha256 else "git_blob"
    check = f"not checked: {file.unchecked}" if file.unchecked else known
    return {"place": file.url, "url": file.url, "check": check}
