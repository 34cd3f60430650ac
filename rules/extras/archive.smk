"""The archive of a study."""


rule archive:
    input:
        lambda w: graph.archive.inputs(),
    output:
        graph.paths.report(STUDY.study, "archive.zip"),
    log:
        graph.paths.log(graph.paths.report(STUDY.study, "archive")),
    conda:
        "../../envs/data.yaml"
    resources:
        **graph.archive.resources,
    params:
        **graph.archive.params,
        recipe=lambda w: graph.argument(graph.archive.recipe()),
        found=lambda w: graph.records.digest_of(graph.archive.recipe().found),
    message:
        graph.archive.label
    shell:
        "python {params.places.extras:q}/archive/programs/archive.py --recipe {params.recipe:q}"
        " --results {params.places.results:q} --specs {params.places.specs:q} --output {output:q} > {log:q} 2>&1"
