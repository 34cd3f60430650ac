"""Finished pipelines, which are not fine-tuned here: their predictions and records, without a protocol."""

AS_IT_IS = graph.pipelines.run("{pipeline}", "{dataset}")


wildcard_constraints:
    pipeline=any_of(graph.pipelines.spacy_names()),


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
    group:
        graph.score_annotation.bundle
    resources:
        **graph.score_annotation.resources,
    params:
        **PLACES,
        **graph.score_annotation.params,
    message:
        graph.score_annotation.label
