"""Predictions that are supplied, or answers of language models, and their records."""

SUPPLIED, _ = graph.supplied.run("{submission}", "{dataset}")


wildcard_constraints:
    submission=any_of(graph.supplied.names()),


rule take_predictions:
    input:
        unpack(graph.take_predictions.inputs_of),
    output:
        graph.paths.runs(SUPPLIED),
    log:
        graph.paths.log(graph.paths.runs(SUPPLIED).removesuffix(".json")),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.take_predictions.resources,
    params:
        **graph.take_predictions.params,
        seeds=lambda w: list(map(str, graph.supplied.seeds(w.submission, w.dataset))),
        content=lambda w: graph.supplied.contents(w.submission, w.dataset),
        files=untracked(lambda w: graph.supplied.checked_files(w.submission, w.dataset)),
    message:
        graph.take_predictions.label
    shell:
        "python -m pubmill.job take_predictions --recipe {params.recipe:q}"
        " --predictions {params.files:q} --model {wildcards.submission:q} --seeds {params.seeds:q}"
        " --dataset {wildcards.dataset:q} --results {params.places.results:q} --output {output:q} > {log:q} 2>&1"


use rule score as score_predictions with:
    input:
        runs=graph.paths.runs(SUPPLIED),
        examples=lambda w: graph.paths.examples(w.dataset, graph.supplied.split(w.dataset)),
    output:
        graph.paths.records(SUPPLIED),
    log:
        graph.paths.log(graph.paths.records(SUPPLIED).removesuffix(".json")),
    resources:
        **graph.score_predictions.resources,
    params:
        **graph.score_predictions.params,
    message:
        graph.score_predictions.label
