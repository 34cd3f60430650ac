"""Finished pipelines, which predict as they are: predictions and records without a protocol."""

AS_IT_IS = f"{R}/runs/off-the-shelf/{{pipeline}}/{{dataset}}/as-it-is/final/seed-1"


wildcard_constraints:
    pipeline=any_of(T.pipelines()),


rule annotate:
    input:
        lambda w: T.check_pipeline(w.pipeline),
        examples=f"{R}/datasets/{{dataset}}/test.jsonl.gz",
    output:
        predictions=f"{AS_IT_IS}.predictions.jsonl.gz",
        training=f"{AS_IT_IS}.training.json",
    log:
        f"{R}/logs/runs/off-the-shelf/{{pipeline}}/{{dataset}}/as-it-is/final/seed-1.log",
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
        predictions=f"{AS_IT_IS}.predictions.jsonl.gz",
        training=f"{AS_IT_IS}.training.json",
        examples=f"{R}/datasets/{{dataset}}/test.jsonl.gz",
    output:
        record=f"{AS_IT_IS}.json",
        contributions=f"{AS_IT_IS}.items.npz",
    log:
        f"{R}/logs/runs/off-the-shelf/{{pipeline}}/{{dataset}}/as-it-is/final/seed-1.score.log",
    resources:
        **needs("score_annotation"),
    params:
        version=T.version("score"),
        recipe=lambda w: as_json(T.annotation_score_recipe(w.pipeline, w.dataset)),
    message:
        "Scoring {wildcards.pipeline} on {wildcards.dataset}"
