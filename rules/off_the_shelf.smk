"""Finished pipelines, which predict without training: their predictions and records, without a protocol."""

AS_IT_IS = T.pipeline_run("{pipeline}", "{dataset}")


wildcard_constraints:
    pipeline=any_of(T.pipelines()),


rule annotate:
    input:
        lambda w: T.check_pipeline(w.pipeline),
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
        version=T.version("annotate"),
        recipe=lambda w: as_json(T.annotation_recipe(w.pipeline, w.dataset)),
        content=lambda w: T.pipeline_content(w.pipeline),
        folder=not_compared(lambda w: str(T.pipeline(w.pipeline))),
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
        version=T.version("score"),
        recipe=lambda w: as_json(T.annotation_score_recipe(w.pipeline, w.dataset)),
    message:
        "Scoring {wildcards.pipeline} on {wildcards.dataset}"
