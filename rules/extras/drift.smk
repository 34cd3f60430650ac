"""Losses and subwords of held-out documents by date of publication."""


rule drift:
    input:
        unpack(graph.drift.inputs_of),
    output:
        graph.paths.drift("{recipe}", "{step}"),
    log:
        graph.paths.log(graph.paths.drift("{recipe}", "{step}").removesuffix(".json")),
    wildcard_constraints:
        step=r"\d+",
    conda:
        "../../envs/training.yaml"
    resources:
        **graph.drift.resources,
        gpu_slots=1,
    params:
        **PLACES,
        **graph.drift.params,
        corpus=lambda w: graph.paths.corpus(SPECS.pretraining[w.recipe].corpus),
        parsed=graph.paths.parsed(),
        vocab=lambda w: graph.paths.vocab(SPECS.pretraining[w.recipe].vocab),
        checkpoint=lambda w: graph.paths.checkpoint(w.recipe, w.step),
    message:
        graph.drift.label
    shell:
        "python {params.extras:q}/drift/programs/drift.py --recipe {params.recipe:q}"
        " --results {params.results:q} --corpus {params.corpus:q} --parsed {params.parsed:q}"
        " --vocab {params.vocab:q} --punkt {input.punkt:q} --checkpoint {params.checkpoint:q}"
        " --output {output:q} > {log:q} 2>&1"
