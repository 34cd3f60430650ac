"""Contradictions of the published values, and the report of a study."""


rule contradictions:
    input:
        [published_values(table, ROOT / "specs") for table in SPECS.tables],
    output:
        graph.paths.contradiction_files(),
    log:
        graph.paths.log(graph.paths.contradictions()),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.contradictions.resources,
    params:
        **graph.contradictions.params,
        recipe=lambda w: graph.argument(graph.contradictions.recipe()),
    message:
        graph.contradictions.label
    shell:
        "python -m pubmill.job contradictions --recipe {params.recipe:q} --specs {params.places.specs:q}"
        " --output {params.places.results:q}/pages/contradictions > {log:q} 2>&1"


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
