"""Models of the files under `specs/`: one strict model per kind, the loader and the cross-checks."""

from pubmill.specs.corpus_specs import LearntVocabSpec, PretrainingSpec, PubmedSource
from pubmill.specs.dataset_specs import DatasetSpec, File, LocalFile
from pubmill.specs.fact_table_specs import FactTableSpec
from pubmill.specs.loading import Specs, load, scales
from pubmill.specs.model_specs import ArchiveWeights, HubWeights, ModelSpec, RecipeWeights
from pubmill.specs.protocol_specs import ProtocolSpec
from pubmill.specs.table_specs import TableSpec

__all__ = [
    "ArchiveWeights", "DatasetSpec", "FactTableSpec", "File", "HubWeights",
    "LearntVocabSpec", "LocalFile", "ModelSpec", "PretrainingSpec", "ProtocolSpec", "PubmedSource",
    "RecipeWeights", "Specs", "TableSpec", "load", "scales",
]  # fmt: skip
