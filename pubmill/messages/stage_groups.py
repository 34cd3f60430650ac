"""Groups of the stages of a run, under the words that a reader knows them by."""

GROUPS: dict[str, tuple[str, ...]] = {
    "download": (),
    "parse": ("download",),
    "select": ("parse",),
    "vocabulary": ("select",),
    "pack": ("vocabulary",),
    "pretrain": ("pack",),
    "models": ("pretrain",),
    "convert": ("download",),
    "trials": ("models", "convert"),
    "fine-tune": ("trials", "convert"),
    "predictions": ("convert",),
    "score": ("fine-tune", "predictions", "convert"),
    "tables": ("score",),
    "report": ("tables",),
}
"""Group, in the order of a run -> groups whose results it reads, but not all of those that they read in turn.
Diagnoses of corpora and vocabularies on datasets are left out: nothing is made from them."""
OTHER = "other"
"""Group of rules of another workflow, which imports this one."""
TARGET = "all"
"""The rule that only names targets; it is no stage and is not counted."""
