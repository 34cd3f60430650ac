"""Models of the files under `specs/`: one strict model per kind, the loader and the cross-checks."""

from pubmill.specs.base import Name, Spec, Strict, problem_text
from pubmill.specs.corpora import (
    CorpusSpec,
    LearntVocabSpec,
    PretrainingSpec,
    PubmedSource,
    ReleasedVocabSpec,
    TextSource,
    VocabSpec,
)
from pubmill.specs.datasets import DatasetSpec, File, LocalFile, Published
from pubmill.specs.fact_tables import FactTableSpec
from pubmill.specs.filtering import Contamination, Duplicates
from pubmill.specs.loading import ScaleSpec, Specs, load, scales
from pubmill.specs.mimic import MimicSource
from pubmill.specs.models import ArchiveWeights, FolderWeights, HubWeights, ModelSpec, RecipeWeights
from pubmill.specs.pmc import PmcPackagesSource, PmcSource
from pubmill.specs.protocols import ProtocolSpec
from pubmill.specs.tables import TableSpec

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
