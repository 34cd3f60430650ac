"""Predictions without training here, and their records: finished pipelines', users', language models'."""

AS_IT_IS, _ = graph.pipelines.run("{pipeline}", "{dataset}")


wildcard_constraints:
    pipeline=any_of(graph.pipelines.spacy_names()),


rule annotate:
    input:
        unpack(graph.annotate.inputs_of),
    output:
        graph.paths.runs(AS_IT_IS),
    log:
        graph.paths.log(graph.paths.runs(AS_IT_IS).removesuffix(".json")),
    conda:
        "../envs/pipelines.yaml"
    resources:
        **graph.annotate.resources,
    params:
        **graph.annotate.params,
        content=lambda w: graph.pipelines.content(w.pipeline),
        folder=untracked(lambda w: str(graph.pipelines.folder(w.pipeline))),
    message:
        graph.annotate.label
    shell:
        "python -m pubmill.job annotate --recipe {params.recipe:q} --pipeline {params.folder:q}"
        " --model {wildcards.pipeline:q} --examples {input.examples:q} --split test"
        " --output {output:q} > {log:q} 2>&1"


use rule score as score_annotation with:
    input:
        runs=graph.paths.runs(AS_IT_IS),
        examples=lambda w: graph.pipelines.scored_examples(w.pipeline, w.dataset),
    output:
        graph.paths.records(AS_IT_IS),
    log:
        graph.paths.log(graph.paths.records(AS_IT_IS).removesuffix(".json")),
    resources:
        **graph.score_annotation.resources,
    params:
        **graph.score_annotation.params,
    message:
        graph.score_annotation.label


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
