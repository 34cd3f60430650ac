"""Convert the files of a dataset to examples, and check their counts."""


rule convert:
    input:
        lambda w: T.conversion_inputs(w.dataset),
    output:
        [T.paths.dataset("{dataset}", name) for name in T.DATASET_FILES],
    log:
        T.paths.log(T.paths.dataset("{dataset}")),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("convert"),
    params:
        version=T.version("convert"),
        recipe=lambda w: as_json(T.dataset_recipe(w.dataset)),
        inputs=lambda w: T.dataset_arguments(w.dataset),
    message:
        "Converting {wildcards.dataset}"
    shell:
        "python {SCRIPTS:q}/convert.py --recipe {params.recipe:q} {params.inputs:q} --output {R:q}/datasets/{wildcards.dataset:q} > {log:q} 2>&1"
