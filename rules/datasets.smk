"""Convert the files of a dataset to examples and check their counts; find their documents and identifiers."""


rule convert:
    input:
        lambda w: graph.datasets.conversion_inputs(w.dataset),
    output:
        graph.paths.dataset_files("{dataset}"),
    log:
        graph.paths.log(graph.paths.dataset("{dataset}")),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.convert.resources,
    params:
        **PLACES,
        version=graph.convert.version_of,
        recipe=lambda w: as_json(graph.datasets.recipe(w.dataset)),
        inputs=lambda w: graph.datasets.arguments(w.dataset),
    message:
        graph.convert.label
    shell:
        "python {params.scripts:q}/convert.py --recipe {params.recipe:q} {params.inputs:q}"
        " --output {params.results:q}/datasets/{wildcards.dataset:q} > {log:q} 2>&1"


rule concepts:
    input:
        examples=lambda w: graph.datasets.concept_inputs(w.dataset)["examples"],
        copies=lambda w: graph.datasets.concept_inputs(w.dataset)["copies"],
    output:
        graph.paths.concepts("{dataset}"),
    log:
        graph.paths.log(graph.paths.concepts("{dataset}").removesuffix(".jsonl.gz")),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.concepts.resources,
    params:
        **PLACES,
        version=graph.concepts.version_of,
        recipe=lambda w: as_json(graph.datasets.concepts_recipe(w.dataset)),
    message:
        graph.concepts.label
    shell:
        "python {params.scripts:q}/concepts.py --recipe {params.recipe:q} --copies {input.copies:q}"
        " --examples {params.results:q}/datasets/{wildcards.dataset:q} --output {output:q} > {log:q} 2>&1"


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
        **PLACES,
        version=graph.floors.version_of,
        recipe=lambda w: as_json(graph.datasets.floors_recipe(w.dataset)),
        folder=lambda w: graph.paths.floors(),
    message:
        graph.floors.label
    shell:
        "python {params.scripts:q}/measure_floors.py --recipe {params.recipe:q}"
        " --examples {params.results:q}/datasets/{wildcards.dataset:q}"
        " --predictions {params.folder:q}/{wildcards.dataset:q} --output {output:q} > {log:q} 2>&1"
