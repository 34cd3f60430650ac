"""Finished pipelines, which predict without training: their predictions and records, without a protocol."""

AS_IT_IS = T.pipelines.run("{pipeline}", "{dataset}")


wildcard_constraints:
    pipeline=any_of(T.pipelines.names()),


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
        version=VERSIONS["annotate"],
        recipe=lambda w: as_json(T.pipelines.recipe(w.pipeline, w.dataset)),
        content=lambda w: T.pipelines.content(w.pipeline),
        folder=not_compared(lambda w: str(T.pipelines.folder(w.pipeline))),
    message:
        "Predicting {wildcards.dataset} with {wildcards.pipeline}"
    shell:
        "python {SCRIPTS:q}/annotate.py --recipe {params.recipe:q} --pipeline {params.folder:q} --model {wildcards.pipeline:q}"
        " --examples {input.examples:q} --split test --output {output.predictions:q} > {log:q} 2>&1"


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
        version=VERSIONS["score"],
        recipe=lambda w: as_json(T.records.pipeline_recipe(w.pipeline, w.dataset)),
    message:
        "Scoring {wildcards.pipeline} on {wildcards.dataset}"
