"""Finished pipelines, which are not fine-tuned here: their predictions and records, without a protocol."""

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
