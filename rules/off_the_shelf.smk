"""Models that are not fine-tuned here, finished pipelines and supplied predictions: their predictions and
records, without a protocol."""

AS_IT_IS = graph.pipelines.run("{pipeline}", "{dataset}")
SUPPLIED = graph.pipelines.run("{submission}", "{dataset}", "{seed}")


wildcard_constraints:
    pipeline=any_of(graph.pipelines.spacy_names()),
    submission=any_of(graph.pipelines.supplied.names()),


rule annotate:
    input:
        unpack(graph.annotate.inputs_of),
    output:
        predictions=graph.paths.predictions(*AS_IT_IS),
        training=graph.paths.training(*AS_IT_IS),
    log:
        graph.paths.log(graph.paths.final(*AS_IT_IS)),
    conda:
        "../envs/pipelines.yaml"
    resources:
        **graph.annotate.resources,
    params:
        **PLACES,
        **graph.annotate.params,
        content=lambda w: graph.pipelines.content(w.pipeline),
        folder=not_compared(lambda w: str(graph.pipelines.folder(w.pipeline))),
    message:
        graph.annotate.label
    shell:
        "python {params.scripts:q}/annotate.py --recipe {params.recipe:q} --pipeline {params.folder:q}"
        " --model {wildcards.pipeline:q} --examples {input.examples:q} --split test"
        " --output {output.predictions:q} > {log:q} 2>&1"


use rule score as score_annotation with:
    input:
        unpack(graph.score_annotation.inputs_of),
    output:
        record=graph.paths.record(*AS_IT_IS),
        contributions=graph.paths.contributions(graph.paths.record(*AS_IT_IS)),
    log:
        graph.paths.log(graph.paths.final(*AS_IT_IS) + ".score"),
    resources:
        **graph.score_annotation.resources,
    params:
        **PLACES,
        **graph.score_annotation.params,
    message:
        graph.score_annotation.label


rule take_predictions:
    input:
        unpack(graph.take_predictions.inputs_of),
    output:
        predictions=graph.paths.predictions(*SUPPLIED),
        training=graph.paths.training(*SUPPLIED),
    log:
        graph.paths.log(graph.paths.final(*SUPPLIED)),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.take_predictions.resources,
    params:
        **PLACES,
        **graph.take_predictions.params,
        content=lambda w: graph.pipelines.supplied.content(w.submission, w.dataset, int(w.seed)),
        file=not_compared(lambda w: str(graph.pipelines.supplied.file(w.submission, w.dataset, int(w.seed)))),
    message:
        graph.take_predictions.label
    shell:
        "python {params.scripts:q}/take_predictions.py --recipe {params.recipe:q}"
        " --predictions {params.file:q} --model {wildcards.submission:q} --seed {wildcards.seed:q}"
        " --dataset {wildcards.dataset:q} --results {params.results:q} --output {output.predictions:q}"
        " > {log:q} 2>&1"


use rule score as score_predictions with:
    input:
        unpack(graph.score_predictions.inputs_of),
    output:
        record=graph.paths.record(*SUPPLIED),
        contributions=graph.paths.contributions(graph.paths.record(*SUPPLIED)),
    log:
        graph.paths.log(graph.paths.final(*SUPPLIED) + ".score"),
    resources:
        **graph.score_predictions.resources,
    params:
        **PLACES,
        **graph.score_predictions.params,
    message:
        graph.score_predictions.label
