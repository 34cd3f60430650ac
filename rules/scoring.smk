"""Records: scores of the predictions of a run."""


rule score:
    input:
        runs=graph.paths.runs(RUN),
        examples=lambda w: graph.runs.scored_examples(run_of(w)),
    output:
        graph.paths.records(RUN),
    log:
        graph.paths.log(graph.paths.records(RUN).removesuffix(".json")),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.score.resources,
    params:
        **graph.score.params,
    message:
        graph.score.label
    shell:
        "python -m pubmill.job score --runs {input.runs:q} --examples {input.examples:q}"
        " --output {output:q} --recipe {params.recipe:q} > {log:q} 2>&1"
