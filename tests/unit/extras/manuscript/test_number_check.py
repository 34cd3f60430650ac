"""Numbers in sentences: right ones, stale ones, and numbers that are no scores."""

from pathlib import Path

import pytest

from tests.unit.extras.manuscript.toy_study import findings, kinds

SOUND = [
    "PubMedBERT reaches 84.52 on BC2GM.",
    "PubMedBERT reaches 84.5\\,\\% on BC2GM, 3.52 points above BERT uncased with 81.00.",
    "On BC2GM, PubMedBERT~\\cite{gu} has $84.518 \\pm 0.04$, BERT 81.0 or 79.5.",
    "\\textsc{PubMedBERT} was published with 84.52 on BC2GM, and BERT uncased with 83.10.",
    "PubMedBERT took 12.5 hours on BC2GM, 30.5\\,GB and 1.5 million words (Section 4.12, Table 12.1).",
    "PubMedBERT was trained at 36.6 degrees.",
    "PubMedBERT has 84.52. It has 99.99 on BC2GM.",
    "As \\citet{lee} report, BC2GM is hard: PubMedBERT has 99.99.",
    "% PubMedBERT has 99.99 on BC2GM",
    "\\begin{verbatim}\nPubMedBERT has 99.99 on BC2GM\n\\end{verbatim}",
    "PubMedBERT has 99.99 on BC2GM. % pubmill: ignore",
    "PubMedBERT-large has 99.99 on BC2GM, and BC2GM-x 88.88.",
    "PubMedBERT has 99.99 and 12{,}500 sentences.\n\nBC2GM is next.",
    "PubMedBERT on BC2GM: a gap of 3.52 to BERT uncased, a difference of 4.34\\,\\% and of 2.5 hours.",
    "PubMedBERT leads by 3.52 points on BC2GM, and by 7.0 on JNLPBA.",
    "PubMedBERT used 33.3\\,\\% of the documents in BC2GM.",
    "The prize was \\$45.50 for PubMedBERT on BC2GM.",
    "\\def\\x{PubMedBERT has 99.99 on BC2GM}",
    "PubMedBERT on BC2GM, see \\cite{a99.99} and \\ref{tab:99.99}.",
    "PubMedBERT on BC2GM (\\ref{tab:99.99}, \\href{https://x.org/88.88}{its page}).",
]


@pytest.mark.parametrize("text", SOUND)
def test_a_right_number_is_no_finding(tmp_path: Path, text: str) -> None:
    assert findings(tmp_path, text) == []


@pytest.mark.parametrize(
    ("number", "expected"),
    [("9.9", []), ("10.0", ["stale"]), ("100.0", ["stale"]), ("100.1", []), ("99", [])],
)
def test_scores_are_numbers_from_10_to_100_with_decimals(
    tmp_path: Path, number: str, expected: list[str]
) -> None:
    assert kinds(tmp_path, f"On BC2GM, PubMedBERT has {number}.") == expected


@pytest.mark.parametrize(
    ("text", "number", "kind", "expected"),
    [
        ("PubMedBERT reaches 84.10 on BC2GM.", "84.10", "stale", "84.52"),
        ("PubMedBERT reaches 84.51 on BC2GM.", "84.51", "rounding", "84.52"),
        ("PubMedBERT reaches 84.6 on BC2GM.", "84.6", "rounding", "84.5"),
        ("On JNLPBA, PubMedBERT has 84.52.", "84.52", "stale", "79.00"),
        ("BERT has $82.00$ on BC2GM.", "82.00", "stale", "81.00"),
        ("PubMedBERT is 4.44 points above BERT uncased on BC2GM.", "4.44", "stale", "3.52"),
        ("PubMedBERT on BC2GM (BERT uncased: 81.00; difference $-$3.25).", "3.25", "stale", "3.52"),
        ("PubMedBERT \\cite{gu} (BC2GM: 88.8) is best.", "88.8", "stale", "84.5"),
        ("\\caption{PubMedBERT: 88.8 on BC2GM}", "88.8", "stale", "84.5"),
        ("\\footnote{PubMedBERT has 88.8 on BC2GM}", "88.8", "stale", "84.5"),
        ("\\item PubMedBERT\nhas\n88.8 on BC2GM", "88.8", "stale", "84.5"),
        ("The score \\cell{gu2020/table06}{bc2gm}{pubmedbert-base} was 88.80.", "88.80", "stale", "84.52"),
        ("% pubmill: name our model = pubmedbert-base\nOur baseline is BERT uncased; our model has 88.80 on "
         "BC2GM.", "88.80", "stale", "84.52"),
    ],
)  # fmt: skip
def test_a_wrong_number_is_found_at_its_place(
    tmp_path: Path, text: str, number: str, kind: str, expected: str
) -> None:
    [found] = findings(tmp_path, f"A line.\n\n{text}\n")
    before, _, _ = f"A line.\n\n{text}".rpartition(number)
    assert (found.line, found.position) == (before.count("\n") + 1, len(before) - before.rfind("\n"))
    assert found.kind == kind and found.found.startswith(number) and expected in found.expected


def test_only_the_document_is_text(tmp_path: Path) -> None:
    text = (
        "PubMedBERT has 99.99 on BC2GM.\n\\begin{document}\nText.\n\\end{document}\nPubMedBERT: 88.8, BC2GM"
    )
    assert kinds(tmp_path, text) == []


def test_a_name_of_a_key_that_no_table_has_is_found(tmp_path: Path) -> None:
    assert kinds(tmp_path, "% pubmill: name Our model = pubmedbert\n") == ["unknown"]
