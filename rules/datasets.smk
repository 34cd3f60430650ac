"""Convert the files of a dataset to examples and check their counts; find their documents and identifiers."""


rule convert:
    input:
        lambda w: T.datasets.conversion_inputs(w.dataset),
    output:
        T.paths.dataset_files("{dataset}"),
    log:
        T.paths.log(T.paths.dataset("{dataset}")),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("convert"),
    params:
        **PLACES,
        version=VERSIONS["convert"],
        recipe=lambda w: as_json(T.datasets.recipe(w.dataset)),
        inputs=lambda w: T.datasets.arguments(w.dataset),
    message:
        "Converting {wildcards.dataset}"
    shell:
        "python {params.scripts:q}/convert.py --recipe {params.recipe:q} {params.inputs:q}"
        " --output {params.results:q}/datasets/{wildcards.dataset:q} > {log:q} 2>&1"


rule concepts:
    input:
        examples=lambda w: T.datasets.concept_inputs(w.dataset)["examples"],
        copies=lambda w: T.datasets.concept_inputs(w.dataset)["copies"],
    output:
        T.paths.concepts("{dataset}"),
    log:
        T.paths.log(T.paths.concepts("{dataset}").removesuffix(".jsonl.gz")),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("concepts"),
    params:
        **PLACES,
        version=VERSIONS["concepts"],
        recipe=lambda w: as_json(T.datasets.concepts_recipe(w.dataset)),
    message:
        "Finding documents and identifiers of {wildcards.dataset}"
    shell:
        "python {params.scripts:q}/concepts.py --recipe {params.recipe:q} --copies {input.copies:q}"
        " --examples {params.results:q}/datasets/{wildcards.dataset:q} --output {output:q} > {log:q} 2>&1"


rule floors:
    input:
        T.paths.dataset_files("{dataset}"),
    output:
        T.paths.dataset_floors("{dataset}"),
    log:
        T.paths.log(T.paths.dataset_floors("{dataset}").removesuffix(".json")),
    conda:
        "../envs/floors.yaml"
    resources:
        **needs("floors"),
    params:
        **PLACES,
        version=VERSIONS["floors"],
        recipe=lambda w: as_json(T.datasets.floors_recipe(w.dataset)),
        folder=lambda w: T.paths.floors(),
    message:
        "Measuring the floors of {wildcards.dataset}"
    shell:
        "python {params.scripts:q}/measure_floors.py --recipe {params.recipe:q}"
        " --examples {params.results:q}/datasets/{wildcards.dataset:q}"
        " --predictions {params.folder:q}/{wildcards.dataset:q} --output {output:q} > {log:q} 2>&1"
