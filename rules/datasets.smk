"""Task files to examples, with counts that must match."""


rule convert:
    input:
        unpack(lambda w: T.dataset_inputs(w.dataset)),
    output:
        [f"{R}/datasets/{{dataset}}/{name}" for name in T.DATASET_FILES],
    log:
        f"{R}/logs/datasets/{{dataset}}.log",
    params:
        version=T.version("convert"),
        recipe=lambda w: as_json(T.dataset_recipe(w.dataset)),
        inputs=lambda w, input: " ".join(f"--input {split}='{path}'" for split, path in sorted(input.items())),
    shell:
        "python {SCRIPTS}/convert.py --recipe {params.recipe:q} {params.inputs} --output {R}/datasets/{wildcards.dataset} > {log:q} 2>&1"
