"""Predictions that users supply, and answers of language models: their predictions and records, without a
protocol."""

SUPPLIED = graph.pipelines.run("{submission}", "{dataset}", "{seed}")


wildcard_constraints:
    submission=any_of(graph.pipelines.supplied.names()),
    asked=any_of(graph.pipelines.supplied.asked_names()),


rule ask:
    input:
        unpack(graph.ask.inputs_of),
    output:
        graph.paths.answers("{asked}", "{dataset}", "{seed}"),
    log:
        graph.paths.log(graph.paths.answers("{asked}", "{dataset}", "{seed}").removesuffix(".jsonl")),
    conda:
        "../../envs/data.yaml"
    resources:
        **graph.ask.resources,
    params:
        **PLACES,
        **graph.ask.params,
        server=not_compared(lambda w: graph.pipelines.supplied.asked(w.asked).server),
        prompt=not_compared(graph.ask.prompt_option),
        options=not_compared(graph.ask.options),
        at_once=not_compared(lambda w: graph.pipelines.supplied.asked(w.asked).at_once),
    message:
        graph.ask.label
    shell:
        "python {params.extras:q}/submissions/programs/ask.py --recipe {params.recipe:q}"
        " --server {params.server:q} --at-once {params.at_once:q} {params.prompt:q} {params.options:q}"
        " --dataset {params.results:q}/datasets/{wildcards.dataset:q} --output {output:q} > {log:q} 2>&1"


rule take_predictions:
    input:
        unpack(graph.take_predictions.inputs_of),
    output:
        predictions=graph.paths.predictions(*SUPPLIED),
        training=graph.paths.training(*SUPPLIED),
    log:
        graph.paths.log(graph.paths.final(*SUPPLIED)),
    conda:
        "../../envs/data.yaml"
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
        "python {params.extras:q}/submissions/programs/take_predictions.py --recipe {params.recipe:q}"
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
        "../../envs/data.yaml"
    resources:
        **graph.score_predictions.resources,
    params:
        **PLACES,
        **graph.score_predictions.params,
    message:
        graph.score_predictions.label
