"""Models of the files under `specs/`: one strict model per kind, the loader and the cross-checks."""

from pubmill.specs.corpus_specs import (
    Contamination,
    CorpusSpec,
    Duplicates,
    LearntVocabSpec,
    MimicSource,
    PmcPackagesSource,
    PmcSource,
    PretrainingSpec,
    PubmedSource,
    ReleasedVocabSpec,
    TextSource,
    VocabSpec,
)
from pubmill.specs.dataset_specs import DatasetSpec, File, LocalFile, Published
from pubmill.specs.fact_table_specs import FactTableSpec
from pubmill.specs.loading import ScaleSpec, Specs, load, scales
from pubmill.specs.model_specs import ArchiveWeights, FolderWeights, HubWeights, ModelSpec, RecipeWeights
from pubmill.specs.protocol_specs import ProtocolSpec
from pubmill.specs.spec_types import Name, Spec, Strict, problem_text
from pubmill.specs.table_specs import TableSpec

__all__ = [
    "ArchiveWeights",
    "Contamination",
    "CorpusSpec",
    "DatasetSpec",
    "Duplicates",
    "FactTableSpec",
    "File",
    "FolderWeights",
    "HubWeights",
    "LearntVocabSpec",
    "LocalFile",
    "MimicSource",
    "ModelSpec",
    "Name",
    "PmcPackagesSource",
    "PmcSource",
    "PretrainingSpec",
    "ProtocolSpec",
    "Published",
    "PubmedSource",
    "RecipeWeights",
    "ReleasedVocabSpec",
    "ScaleSpec",
    "Spec",
    "Specs",
    "Strict",
    "TableSpec",
    "TextSource",
    "VocabSpec",
    "load",
    "problem_text",
    "scales",
]
