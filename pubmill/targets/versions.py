"""The version of each stage: what Snakemake reruns when somebody changes what a stage does."""

# One integer per stage. Bump it when the stage's output changes for the same input; see CONTRIBUTING.
VERSIONS = {
    "download": 1,
    "parse": 1,
    "latest": 1,
    "select": 1,
    "statistics": 1,
    "vocab": 1,
    "pack": 1,
    "pretrain": 1,
    "export": 1,
    "convert": 2,
    "finetune": 1,
    "choose": 1,
    "score": 1,
    "table": 2,
    "dataset_table": 1,
    "page": 1,
    "report": 2,
}
METRIC_VERSIONS = {"entity_f1": 1}
