"""Copies of documents, and texts of datasets in corpora."""

from typing import Any

from pubmill.graph.reports import ReportTargets

PARTS_AT_ONCE = 32
"""Parts that one job searches for datasets' texts: minutes. A job a part was a quarter of a full graph."""


class SelectionTargets(ReportTargets):
    """Exclusions that need the whole corpus, and the search for texts of datasets in a corpus."""

    def selection_inputs(self, corpus: str) -> dict[str, str]:
        """Named inputs of the selection of a part, beside the shard and the versions in force."""
        spec = self.specs.corpora[corpus]
        duplicates = {"duplicates": self.paths.corpus(corpus, "duplicates.parquet")}
        return self.exclusion_inputs(corpus) | (duplicates if spec.duplicates else {})

    def exclusion_inputs(self, corpus: str) -> dict[str, str]:
        """The index of the texts that a corpus may not hold, if there are any."""
        excludes = self.specs.corpora[corpus].contamination
        return {"exclude": self.paths.corpus(corpus, "excluded.parquet")} if excludes else {}

    @staticmethod
    def as_arguments(inputs: dict[str, str]) -> list[str]:
        """Named inputs as a program's arguments."""
        return [word for name, path in inputs.items() for word in (f"--{name}", path)]

    def fingerprints(self, corpus: str) -> list[str]:
        """Fingerprints of the documents of each shard of a corpus."""
        return [self.paths.fingerprint(corpus, i) for i in range(len(self.shards(corpus)))]

    def fingerprint_recipe(self, corpus: str, part: int) -> dict[str, Any]:
        """The filters that come before, and whether similar texts are looked for."""
        similar = self.duplicates_recipe(corpus)["similarity"] is not None
        return {"selection": self.selection_recipe(corpus, part), "similar": similar}

    def duplicates_recipe(self, corpus: str) -> dict[str, Any]:
        """How similar a copy must be."""
        duplicates = self.specs.corpora[corpus].duplicates
        return {"similarity": duplicates.similarity if duplicates else None}

    def evaluated(self, corpus: str, use: str) -> dict[str, list[str]]:
        """Dataset -> splits whose texts are looked for in a corpus: those that its spec excludes
        (`use` is `excluded`), or dev and test of every dataset of the study (`contamination`)."""
        excludes = self.specs.corpora[corpus].contamination
        if use == "excluded":
            datasets, wanted = (excludes.datasets, excludes.splits) if excludes else ((), ())
        else:
            datasets, wanted = tuple(self.datasets()), ("dev", "test")
        splits = {name: self.specs.datasets[name].splits for name in datasets}
        return {name: [split for split in wanted if split in splits[name]] for name in datasets}

    def evaluated_files(self, corpus: str, use: str) -> list[str]:
        """The examples of `evaluated`."""
        found = self.evaluated(corpus, use)
        return [self.paths.examples(name, split) for name in found for split in found[name]]

    def evaluated_recipe(self, corpus: str, use: str) -> dict[str, Any]:
        """Which texts an index holds."""
        return {
            "datasets": [
                {"dataset": name, "splits": splits, "pmids": bool(self.specs.datasets[name].pmids)}
                for name, splits in self.evaluated(corpus, use).items()
            ]
        }

    def contaminations(self, corpus: str) -> list[str]:
        """What the parts of a corpus hold of datasets' texts, by the first part of each job."""
        firsts = range(0, len(self.shards(corpus)), PARTS_AT_ONCE)
        return [self.paths.contamination(corpus, first) for first in firsts]

    def searched_parts(self, corpus: str, first: int) -> list[str]:
        """The parts that one job searches for datasets' texts."""
        return self.parts(corpus)[first : first + PARTS_AT_ONCE]

    def everything(self) -> list[str]:
        """The targets of a study, with a report on contamination for each corpus of its models."""
        corpora = sorted({self.specs.pretraining[recipe].corpus for recipe in self.pretrainings()})
        reports = [self.paths.corpus(corpus, "contamination.json") for corpus in corpora]
        return [*super().everything(), *(reports if self.datasets() else [])]
