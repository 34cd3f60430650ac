"""Stages of a run: groups of rules under the words that a reader knows them by."""

STAGES: dict[str, tuple[str, ...]] = {
    "download": ("download", "take_local", "plan_pmc", "fetch_pmc", "pin_weights"),
    "parse": ("parse_medline", "parse_pmc", "parse_text", "parse_clinical"),
    "select": (
        *("latest_versions", "locked_versions", "lock_corpus", "fingerprint", "find_duplicates"),
        *("index_evaluation_texts", "find_contamination", "contamination"),
        *("select_documents", "corpus_statistics", "document_years"),
    ),
    "vocabulary": ("count_words", "train_vocab", "take_vocab", "vocab_diagnosis"),
    "pack": ("pack",),
    "pretrain": ("pretrain",),
    "models": ("export_model", "take_model"),
    "convert": ("convert", "concepts", "floors"),
    "trials": ("trial", "choose", "choose_for_model"),
    "fine-tune": ("finetune", "task_model"),
    "annotate": ("annotate", "take_predictions", "transfer"),
    "score": ("score", "score_annotation", "score_predictions"),
    "tables": ("table", "compare", "overlap", "transfer_matrix", "fact_table"),
    "report": ("report", "dataset_page", "contradictions", "checklist", "crate", "audit", "basis", "proof"),
}
"""Stage -> its rules, in the order in which a run reaches them."""
READS: dict[str, tuple[str, ...]] = {
    "parse": ("download",),
    "convert": ("download",),
    "select": ("parse",),
    "vocabulary": ("select",),
    "pack": ("vocabulary",),
    "pretrain": ("pack",),
    "models": ("pretrain",),
    "trials": ("models", "convert"),
    "fine-tune": ("trials", "convert"),
    "annotate": ("convert",),
    "score": ("fine-tune", "annotate", "convert"),
    "tables": ("score",),
    "report": ("tables",),
}
"""Stage -> the stages whose results it reads, without those that they read in turn. Diagnoses of corpora and
vocabularies on datasets are left out: nothing is made from them."""
OTHER = "other"
"""Stage of rules of another workflow, which imports this one."""
TARGET = "all"
"""The rule that only names targets; it is no stage and is not counted."""

_STAGE_OF = {rule: stage for stage, rules in STAGES.items() for rule in rules}


def stage_of(rule: str) -> str:
    """Return the stage of a rule."""
    return _STAGE_OF.get(rule, OTHER)
