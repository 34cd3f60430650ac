"""How to cite a report: pubmill, and the papers whose tables it shows."""

from collections.abc import Iterable

import pubmill

PUBMILL = (
    f"The pubmill authors. pubmill {pubmill.__version__}: from PubMed XML to the result tables of biomedical "
    "language model papers, as one graph."
)
PAPERS = {
    "alrowili2021": (
        "Alrowili and Vijay-Shanker (2021). BioM-Transformers: Building Large Biomedical Language Models "
        "with BERT, ALBERT and ELECTRA. BioNLP 2021.",
        "10.18653/v1/2021.bionlp-1.24",
    ),
    "gu2020": (
        "Gu et al. (2021). Domain-Specific Language Model Pretraining for Biomedical Natural Language "
        "Processing. ACM Transactions on Computing for Healthcare 3(1).",
        "10.1145/3458754",
    ),
    "lewis2020": (
        "Lewis et al. (2020). Pretrained Language Models for Biomedical and Clinical Tasks: Understanding "
        "and Extending the State-of-the-Art. Clinical NLP 2020.",
        "10.18653/v1/2020.clinicalnlp-1.17",
    ),
    "shin2020": (
        "Shin et al. (2020). BioMegatron: Larger Biomedical Domain Language Model. EMNLP 2020.",
        "10.18653/v1/2020.emnlp-main.379",
    ),
    "tinn2021": (
        "Tinn et al. (2023). Fine-tuning large neural language models for biomedical natural language "
        "processing. Patterns 4(4).",
        "10.1016/j.patter.2023.100729",
    ),
}
"""Paper -> its reference and DOI."""


def references(tables: Iterable[str]) -> list[tuple[str, str]]:
    """Return reference and DOI of the known papers of tables (`PAPER/TABLE`)."""
    papers = dict.fromkeys(table.partition("/")[0] for table in tables)
    return [PAPERS[paper] for paper in sorted(papers) if paper in PAPERS]
