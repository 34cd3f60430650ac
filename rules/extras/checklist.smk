"""The reproducibility checklist of a study."""


rule checklist:
    input:
        lambda w: graph.checklist.inputs(),
    output:
        graph.paths.checklist_files(STUDY.study),
    log:
        graph.paths.log(graph.paths.checklist(STUDY.study)),
    conda:
        "../../envs/data.yaml"
    resources:
        **graph.checklist.resources,
    params:
        **PLACES,
        version=graph.checklist.version_of,
        recipe=lambda w: graph.argument(graph.checklist.recipe()),
        stem=not_compared(lambda w: graph.paths.checklist(STUDY.study)),
    message:
        graph.checklist.label
    shell:
        "python {params.extras:q}/checklist/programs/checklist.py --recipe {params.recipe:q}"
        " --results {params.results:q}"
        " --output {params.stem:q} > {log:q} 2>&1"
