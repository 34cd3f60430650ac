"""The version of each stage: what Snakemake reruns when somebody changes what a stage does."""

# One integer per stage. Bump it when the stage's output changes for the same input; see CONTRIBUTING.
VERSIONS = {
    "download": 1,
    "parse": 2,
    "latest": 1,
    "select": 2,
    "statistics": 1,
    "vocab": 1,
    "pack": 1,
    "pretrain": 1,
    "export": 1,
    "convert": 2,
    "finetune": 2,
    "annotate": 1,
    "choose": 2,
    "score": 2,
    "table": 4,
    "dataset_table": 1,
    "page": 1,
    "report": 3,
}
METRIC_VERSIONS = {
    "entity_f1": 1,
    "relaxed_f1": 1,
    "word_macro_f1": 1,
    "micro_f1": 1,
    "positive_f1": 1,
    "macro_f1": 1,
    "example_f1": 1,
    "accuracy": 1,
    "pearson": 1,
    "exact_match": 1,
    "f1": 1,
    "strict_accuracy": 1,
    "lenient_accuracy": 1,
    "mrr": 1,
}
