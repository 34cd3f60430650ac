"""Scores of datasets that need no learning."""


rule floors:
    input:
        graph.paths.dataset_files("{dataset}"),
    output:
        graph.paths.dataset_floors("{dataset}"),
    log:
        graph.paths.log(graph.paths.dataset_floors("{dataset}").removesuffix(".json")),
    conda:
        "../envs/floors.yaml"
    resources:
        **graph.floors.resources,
    params:
        **graph.floors.params,
        folder=lambda w: graph.paths.floors(),
    message:
        graph.floors.label
    shell:
        "python -m pubmill.job floors --recipe {params.recipe:q}"
        " --examples {params.places.results:q}/datasets/{wildcards.dataset:q}"
        " --predictions {params.folder:q}/{wildcards.dataset:q} --output {output:q} > {log:q} 2>&1"
