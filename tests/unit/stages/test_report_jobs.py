"""What a report presents of a study."""

from pubmill.specs import Specs
from tests.unit.toy_studies import GraphOf


def test_the_checkpoints_and_the_vocabulary_of_a_pretraining(demo_specs: Specs, graph_of: GraphOf) -> None:
    """Up to the checkpoint that the study needs, which counts; of the vocabularies only its own."""
    study = {"tables": ("gu2020/table06",), "models": ("pubmedbert-base",), "datasets": ("bc2gm",)}
    found = graph_of(demo_specs, **study).report.results()
    assert found.pretraining == {
        "pubmedbert-base": tuple(f"pretraining/pubmedbert-base/step-{step}" for step in (500, 1000))
    }
    assert found.vocabs == ("pubmed-uncased",)


def test_a_study_without_pretraining_learns_no_vocabulary(demo_specs: Specs, graph_of: GraphOf) -> None:
    study = {"tables": ("gu2020/table06",), "models": ("no-pretraining",), "datasets": ("bc2gm",)}
    found = graph_of(demo_specs, **study).report.results()
    assert (found.pretraining, found.corpora, found.vocabs) == ({}, (), ())
