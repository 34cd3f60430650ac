"""Models that are not fine-tuned here, finished pipelines and supplied predictions: their predictions and
records, without a protocol."""

AS_IT_IS = T.pipelines.run("{pipeline}", "{dataset}")
SUPPLIED = T.pipelines.run("{submission}", "{dataset}", "{seed}")


wildcard_constraints:
    pipeline=any_of(T.pipelines.spacy_names()),
    submission=any_of(T.pipelines.supplied.names()),


rule annotate:
    input:
        lambda w: T.pipelines.check_folder(w.pipeline),
        examples=T.paths.examples("{dataset}", "test"),
    output:
        predictions=T.paths.predictions(*AS_IT_IS),
        training=T.paths.training(*AS_IT_IS),
    log:
        T.paths.log(T.paths.final(*AS_IT_IS)),
    conda:
        "../envs/pipelines.yaml"
    resources:
        **needs("annotate"),
    params:
        **PLACES,
        version=VERSIONS["annotate"],
        recipe=lambda w: as_json(T.pipelines.recipe(w.pipeline, w.dataset)),
        content=lambda w: T.pipelines.content(w.pipeline),
        folder=not_compared(lambda w: str(T.pipelines.folder(w.pipeline))),
    message:
        "Predicting {wildcards.dataset} with {wildcards.pipeline}"
    shell:
        "python {params.scripts:q}/annotate.py --recipe {params.recipe:q} --pipeline {params.folder:q}"
        " --model {wildcards.pipeline:q} --examples {input.examples:q} --split test"
        " --output {output.predictions:q} > {log:q} 2>&1"


use rule score as score_annotation with:
    input:
        predictions=T.paths.predictions(*AS_IT_IS),
        training=T.paths.training(*AS_IT_IS),
        examples=T.paths.examples("{dataset}", "test"),
    output:
        record=T.paths.record(*AS_IT_IS),
        contributions=T.paths.contributions(T.paths.record(*AS_IT_IS)),
    log:
        T.paths.log(T.paths.final(*AS_IT_IS) + ".score"),
    resources:
        **needs("score_annotation"),
    params:
        **PLACES,
        version=VERSIONS["score"],
        recipe=lambda w: as_json(T.records.pipeline_recipe(w.pipeline, w.dataset)),
    message:
        "Scoring {wildcards.pipeline} on {wildcards.dataset}"


rule take_predictions:
    input:
        T.paths.dataset_files("{dataset}"),
    output:
        predictions=T.paths.predictions(*SUPPLIED),
        training=T.paths.training(*SUPPLIED),
    log:
        T.paths.log(T.paths.final(*SUPPLIED)),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("take_predictions"),
    params:
        **PLACES,
        version=VERSIONS["annotate"],
        recipe=lambda w: as_json(T.pipelines.recipe(w.submission, w.dataset)),
        content=lambda w: T.pipelines.supplied.content(w.submission, w.dataset, int(w.seed)),
        file=not_compared(lambda w: str(T.pipelines.supplied.file(w.submission, w.dataset, int(w.seed)))),
    message:
        "Reading the predictions of {wildcards.submission} for {wildcards.dataset}, seed {wildcards.seed}"
    shell:
        "python {params.scripts:q}/take_predictions.py --recipe {params.recipe:q}"
        " --predictions {params.file:q} --model {wildcards.submission:q} --seed {wildcards.seed:q}"
        " --dataset {wildcards.dataset:q} --results {params.results:q} --output {output.predictions:q}"
        " > {log:q} 2>&1"


use rule score as score_predictions with:
    input:
        predictions=T.paths.predictions(*SUPPLIED),
        training=T.paths.training(*SUPPLIED),
        examples=lambda w: T.paths.examples(w.dataset, T.pipelines.split(w.submission, w.dataset)),
    output:
        record=T.paths.record(*SUPPLIED),
        contributions=T.paths.contributions(T.paths.record(*SUPPLIED)),
    log:
        T.paths.log(T.paths.final(*SUPPLIED) + ".score"),
    resources:
        **needs("score_predictions"),
    params:
        **PLACES,
        version=VERSIONS["score"],
        recipe=lambda w: as_json(T.records.pipeline_recipe(w.submission, w.dataset, int(w.seed))),
    message:
        "Scoring the predictions of {wildcards.submission} for {wildcards.dataset}, seed {wildcards.seed}"
