"""Claims: what the comparisons support, what they do not, and words that claim nothing."""

from pathlib import Path

import pytest

from tests.unit.extras.manuscript.toy_study import CASED, NAME, P, findings

SOUND = [
    "PubMedBERT beats other models on all datasets.",
    "PubMedBERT does not beat BERT uncased on all datasets.",
    "PubMedBERT outperforms BERT uncased on BC2GM.",
    "Significantly, PubMedBERT is better than BERT uncased on BC2GM.",
    "PubMedBERT significantly outperforms both BERT uncased and BERT cased on BC2GM.",
    "On BC2GM, BERT cased is outperformed by PubMedBERT.",
    "BERT cased is significantly worse than PubMedBERT on JNLPBA.",
    "Compared with BERT cased, PubMedBERT is significantly better on JNLPBA.",
    "BERT cased and PubMedBERT differ significantly on JNLPBA.",
    "PubMedBERT does not significantly outperform BERT uncased on JNLPBA.",
    "We asked whether BERT cased outperforms BERT uncased on BC2GM.",
    "PubMedBERT is significantly slower than BERT uncased on JNLPBA.",
    "PubMedBERT outperforms other models.",
    "PubMedBERT is state-of-the-art on BC2GM.",
    "BERT outperforms its predecessors on BC2GM.",
    "\\citet{gu} report that BERT cased outperforms BERT uncased on BC2GM.",
    "BERT cased beats BERT uncased on BC2GM. % pubmill: ignore",
    "Does BERT cased outperform BERT uncased on BC2GM?",
    "PubMedBERT outperforms BERT uncased on BC2GM, but not on JNLPBA.",
    "PubMedBERT outperforms BERT uncased on BC2GM; on JNLPBA, BERT cased has 72.00.",
    "BERT cased underperforms PubMedBERT on BC2GM.",
    "PubMedBERT has higher F1 on BC2GM than BERT cased.",
]


@pytest.mark.parametrize("text", SOUND)
def test_a_supported_claim_is_no_finding(tmp_path: Path, text: str) -> None:
    assert findings(tmp_path, text) == []


@pytest.mark.parametrize(
    ("text", "word", "reason"),
    [
        (
            "PubMedBERT outperforms BERT uncased on JNLPBA.",
            "outperforms",
            "p = 0.4 for pubmedbert-base against",
        ),
        (
            "BERT uncased outperforms PubMedBERT on BC2GM.",
            "outperforms",
            "has 81.00 for bert-base-uncased and 84.52",
        ),
        (
            "BERT uncased is better than BERT cased on BC2GM.",
            "better than",
            "only against the best, pubmedbert-base",
        ),
        ("PubMedBERT and BERT uncased differ significantly on JNLPBA.", "significantly", "p = 0.4"),
        ("BERT uncased beats PubMedBERT on all datasets.", "beats", "has 81.00 for bert-base-uncased"),
        ("On each of the datasets, BERT uncased beats PubMedBERT.", "beats", "has 81.00 for bert-base"),
        ("PubMedBERT beats BERT uncased across all NER tasks.", "beats", "p = 0.4"),
        ("On ChemProt, PubMedBERT surpasses BERT uncased.", "surpasses", "has no test for chemprot@blurb"),
        ("On JNLPBA and BC2GM, PubMedBERT beats BERT uncased.", "beats", "p = 0.4"),
        (
            "BERT cased sets a new state of the art on BC2GM.",
            "state of the art",
            "but 84.52 is published for Pub",
        ),
        ("PubMedBERT is state-of-the-art on JNLPBA.", "state-of-the-art", "p = 0.4"),
        ("The state of the art on JNLPBA is PubMedBERT.", "state of the art", "p = 0.4"),
        ("Unlike BERT cased, BERT uncased is the SOTA on BC2GM.", "SOTA", "has 81.00 for bert-base-uncased"),
        (
            "On BC2GM, PubMedBERT is beaten by BERT uncased.",
            "beaten by",
            "has 81.00 for bert-base-uncased",
        ),
        ("On BC2GM, PubMedBERT is worse than BERT uncased.", "worse than", "has 81.00 for bert-base-uncased"),
        (
            "PubMedBERT is not slow and outperforms BERT uncased on JNLPBA, which is significant.",
            "outperforms",
            "0.4",
        ),
    ],
)
def test_an_unsupported_claim_is_found_with_the_reason(
    tmp_path: Path, text: str, word: str, reason: str
) -> None:
    [found] = findings(tmp_path, text)
    assert found.kind == "claim" and found.found == f'"{word}"' and reason in found.expected
    assert found.position == text.index(word) + 1


def test_the_state_of_the_art_is_tested_against_the_models_of_its_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BERT cased has no test on BC2GM, only one on JNLPBA."""
    monkeypatch.delitem(P, ("bc2gm", CASED))
    assert findings(tmp_path, "PubMedBERT is state-of-the-art on BC2GM.") == []


@pytest.mark.parametrize("name", ["No pretraining", "no pretraining"])
def test_a_label_of_several_words_is_a_name_and_denies_nothing(tmp_path: Path, name: str) -> None:
    supported = f"On JNLPBA, PubMedBERT is better than {name}, with 79.00 against 72.00."
    assert findings(tmp_path, supported, label="No pretraining") == []
    [found] = findings(tmp_path, f"On JNLPBA, {name} is better than PubMedBERT.", label="No pretraining")
    assert "has 72.00 for bert-base-cased and 79.00" in found.expected
    [found] = findings(tmp_path, f"On JNLPBA, {name} has 72.50.", label="No pretraining")
    assert found.found.startswith("72.50")


def test_a_claim_on_all_datasets_is_of_those_that_both_have(tmp_path: Path) -> None:
    """BERT cased has no value on ChemProt, where nothing is tested."""
    assert findings(tmp_path, "PubMedBERT beats BERT cased on all datasets.") == []
    [found] = findings(tmp_path, "BERT cased beats PubMedBERT on all datasets.")
    assert "has 79.50 for bert-base-cased and 84.52 for pubmedbert-base" in found.expected


def test_the_state_of_the_art_needs_a_test_of_its_row(tmp_path: Path) -> None:
    [found] = findings(tmp_path, "PubMedBERT is state-of-the-art on ChemProt.")
    assert found.expected.startswith(f"{NAME} has no test for chemprot@blurb")
