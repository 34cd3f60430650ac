"""Scores of task models on other datasets."""


rule transfer:
    input:
        model=graph.paths.task_model(*FINAL),
        examples=graph.paths.examples("{target}", "test"),
    output:
        graph.paths.transfer("{target}", *FINAL),
    log:
        graph.paths.log(graph.paths.transfer("{target}", *FINAL).removesuffix(".json")),
    wildcard_constraints:
        target="[^/]+",
    conda:
        "../../envs/training.yaml"
    resources:
        **graph.transfer.resources,
        gpu_slots=1,
    params:
        **PLACES,
        recipe=lambda w: graph.argument(graph.transfer.recipe(run_of(w), int(w.seed), w.target)),
        version=graph.transfer.version_of,
    message:
        graph.transfer.label
    shell:
        "python {params.extras:q}/transfer/programs/transfer.py --recipe {params.recipe:q}"
        " --model {input.model:q}"
        " --examples {input.examples:q} --output {output:q} > {log:q} 2>&1"


rule transfer_matrix:
    input:
        lambda w: graph.transfer_matrix.inputs(w.protocol, w.model, w.setting),
    output:
        graph.paths.transfers_files("{protocol}", "{model}", "{setting}"),
    log:
        graph.paths.log(graph.paths.transfers("{protocol}", "{model}", "{setting}")),
    conda:
        "../../envs/data.yaml"
    resources:
        **graph.transfer_matrix.resources,
    params:
        **PLACES,
        recipe=lambda w: graph.argument(graph.transfer_matrix.recipe(w.protocol, w.model, w.setting)),
        version=graph.transfer_matrix.version_of,
        stem=lambda w: graph.paths.transfers(w.protocol, w.model, w.setting),
    message:
        graph.transfer_matrix.label
    shell:
        "python {params.extras:q}/transfer/programs/transfer_matrix.py --recipe {params.recipe:q}"
        " --results {params.results:q}"
        " --output {params.stem:q} > {log:q} 2>&1"
