"""Finished pipelines, which predict as they are: predictions and records without a protocol."""

import re

AS_IT_IS = T.pipeline_run("{pipeline}", "{dataset}")


wildcard_constraints:
    pipeline="|".join(map(re.escape, T.pipelines())) or "(?!)",


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


rule score_annotation:
    input:
        predictions=T.paths.predictions(*AS_IT_IS),
        training=T.paths.training(*AS_IT_IS),
        examples=T.paths.examples("{dataset}", "test"),
    output:
        record=T.paths.record(*AS_IT_IS),
        contributions=T.paths.contributions(T.paths.record(*AS_IT_IS)),
    log:
        T.paths.log(T.paths.final(*AS_IT_IS) + ".score"),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("score_annotation"),
    params:
        version=T.version("score"),
        recipe=lambda w: as_json(T.annotation_score_recipe(w.pipeline, w.dataset)),
    message:
        "Scoring {wildcards.pipeline} on {wildcards.dataset}"
    shell:
        "python {SCRIPTS:q}/score.py --predictions {input.predictions:q} --training {input.training:q}"
        " --examples {input.examples:q} --output {output.record:q} --recipe {params.recipe:q} > {log:q} 2>&1"
