"""The RO-Crate of a study."""


rule crate:
    input:
        lambda w: graph.crate.inputs(),
    output:
        directory(graph.paths.crate(STUDY.study)),
    log:
        graph.paths.log(graph.paths.crate(STUDY.study)),
    conda:
        "../../envs/data.yaml"
    resources:
        **graph.crate.resources,
    params:
        **PLACES,
        version=graph.crate.version_of,
        recipe=lambda w: graph.argument(graph.crate.recipe()),
    message:
        graph.crate.label
    shell:
        "python {params.extras:q}/crate/programs/crate.py --recipe {params.recipe:q}"
        " --results {params.results:q} --specs {params.specs:q}"
        " --output {output:q} > {log:q} 2>&1"
