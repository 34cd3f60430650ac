"""Predictions that users supply, and answers of language models: predictions and records of a run."""

SUPPLIED = graph.pipelines.run("{submission}", "{dataset}", "{seed}")


wildcard_constraints:
    submission=any_of(graph.pipelines.supplied.names()),


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
    group:
        graph.score_predictions.bundle
    conda:
        "../envs/data.yaml"
    resources:
        **graph.score_predictions.resources,
    params:
        **PLACES,
        **graph.score_predictions.params,
    message:
        graph.score_predictions.label
