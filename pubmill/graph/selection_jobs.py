"""Selection of documents: filters, and exclusions that need the whole corpus."""

from pubmill.graph.corpus_jobs import Corpora
from pubmill.recipes.corpora import DuplicatesRecipe, FingerprintRecipe, SelectionRecipe
from pubmill.specs import Specs
from pubmill.storage.result_paths import Paths


class SelectionJobs:
    """Filters of corpora, and the search for copies of documents."""

    def __init__(self, specs: Specs, paths: Paths, corpora: Corpora) -> None:
        self._specs = specs
        self._paths = paths
        self._corpora = corpora

    def recipe(self, corpus: str, part: int = 0) -> SelectionRecipe:
        """Return the filters of a corpus, as they are for the source of one of its parts."""
        source = self._corpora.shards(corpus)[part].source
        return self._specs.corpora[corpus].selection_of(source)

    def inputs(self, corpus: str) -> dict[str, str]:
        """Return named inputs of the selection of a part, beside the shard and the versions in force."""
        spec = self._specs.corpora[corpus]
        duplicates = {"duplicates": self._paths.corpus(corpus, "duplicates.parquet")}
        return self.exclusions(corpus) | (duplicates if spec.duplicates else {})

    def exclusions(self, corpus: str) -> dict[str, str]:
        """Return the index of the texts that a corpus may not hold, if there are any."""
        excludes = self._specs.corpora[corpus].contamination
        return {"exclude": self._paths.corpus(corpus, "excluded.parquet")} if excludes else {}

    def fingerprints(self, corpus: str) -> list[str]:
        """Return fingerprints of the documents of each shard of a corpus."""
        return [self._paths.fingerprint(corpus, i) for i in range(len(self._corpora.shards(corpus)))]

    def fingerprint_recipe(self, corpus: str, part: int) -> FingerprintRecipe:
        """Return the filters applied before, and whether similar texts are searched for."""
        similar = self.duplicates_recipe(corpus).similarity is not None
        return FingerprintRecipe(selection=self.recipe(corpus, part), similar=similar)

    def duplicates_recipe(self, corpus: str) -> DuplicatesRecipe:
        """Return how similar a copy must be."""
        duplicates = self._specs.corpora[corpus].duplicates
        return DuplicatesRecipe(similarity=duplicates.similarity if duplicates else None)
