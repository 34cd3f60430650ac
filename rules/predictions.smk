"""Predictions that users supply, and answers of language models: predictions and records of a run."""

SUPPLIED, _ = graph.pipelines.run("{submission}", "{dataset}")


wildcard_constraints:
    submission=any_of(graph.pipelines.supplied.names()),


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
        seeds=lambda w: list(map(str, graph.pipelines.supplied.seeds(w.submission, w.dataset))),
        content=lambda w: graph.pipelines.supplied.contents(w.submission, w.dataset),
        files=untracked(lambda w: graph.pipelines.supplied.checked_files(w.submission, w.dataset)),
    message:
        graph.take_predictions.label
    shell:
        "python -m pubmill.job take_predictions --recipe {params.recipe:q}"
        " --predictions {params.files:q} --model {wildcards.submission:q} --seeds {params.seeds:q}"
        " --dataset {wildcards.dataset:q} --results {params.places.results:q} --output {output:q} > {log:q} 2>&1"


use rule score as score_predictions with:
    input:
        runs=graph.paths.runs(SUPPLIED),
        examples=lambda w: graph.pipelines.scored_examples(w.submission, w.dataset),
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
