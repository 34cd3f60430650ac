"""The report of a study."""


rule report:
    input:
        lambda w: graph.report.inputs(),
    output:
        graph.paths.report(STUDY.study, "html"),
    log:
        graph.paths.log(graph.paths.report(STUDY.study)),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.report.resources,
    params:
        **graph.report.params,
        recipe=lambda w: graph.argument(graph.report.recipe(graph.report.statement_files(ROOT / "specs"))),
    message:
        graph.report.label
    shell:
        "python -m pubmill.job report --recipe {params.recipe:q} --results {params.places.results:q}"
        " --output {output:q} > {log:q} 2>&1"
