"""Convert the files of a dataset to examples, and check their counts."""


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
        version=VERSIONS["convert"],
        recipe=lambda w: as_json(T.datasets.recipe(w.dataset)),
        inputs=lambda w: T.datasets.arguments(w.dataset),
    message:
        "Converting {wildcards.dataset}"
    shell:
        "python {SCRIPTS:q}/convert.py --recipe {params.recipe:q} {params.inputs:q} --output {R:q}/datasets/{wildcards.dataset:q} > {log:q} 2>&1"
