"""Records: scores of predictions."""


rule score:
    input:
        unpack(graph.score.inputs_of),
    output:
        record=graph.paths.record(*FINAL),
        contributions=graph.paths.contributions(graph.paths.record(*FINAL)),
    log:
        graph.paths.log(graph.paths.final(*FINAL) + ".score"),
    group:
        graph.score.bundle
    conda:
        "../envs/data.yaml"
    resources:
        **graph.score.resources,
    params:
        **PLACES,
        **graph.score.params,
    message:
        graph.score.label
    shell:
        "python {params.scripts:q}/score.py --predictions {input.predictions:q} --training {input.training:q}"
        " --examples {input.examples:q} --output {output.record:q} --recipe {params.recipe:q} > {log:q} 2>&1"
