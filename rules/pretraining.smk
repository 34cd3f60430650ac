"""Packed tokens, checkpoints segment by segment, models."""


rule pack:
    input:
        parts=lambda w: T.parts(SPECS.pretraining[w.recipe].corpus),
        vocab=lambda w: T.vocab_files(SPECS.pretraining[w.recipe].vocab),
        punkt=lambda w: T.source(SPECS.pretraining[w.recipe].sentence_splitter),
    output:
        [f"{R}/pretraining/{{recipe}}/tokens/{name}" for name in T.TOKEN_FILES],
    log:
        f"{R}/logs/pretraining/{{recipe}}/tokens.log",
    threads: 2
    params:
        version=T.version("pack"),
        recipe=as_json({}),
        vocab=lambda w: f"{R}/vocabs/{SPECS.pretraining[w.recipe].vocab}",
    shell:
        "python {SCRIPTS}/pack.py --parts {input.parts:q} --vocab {params.vocab} --punkt {input.punkt:q}"
        " --output {R}/pretraining/{wildcards.recipe}/tokens --recipe {params.recipe:q} > {log:q} 2>&1"


rule pretrain:
    input:
        tokens=lambda w: T.token_files(w.recipe),
        vocab=lambda w: T.vocab_files(SPECS.pretraining[w.recipe].vocab),
        start=lambda w: T.segment_inputs(w.recipe, int(w.step)),
    output:
        [f"{R}/pretraining/{{recipe}}/step-{{step}}/{name}" for name in T.CHECKPOINT_FILES],
    log:
        f"{R}/logs/pretraining/{{recipe}}/step-{{step}}.log",
    wildcard_constraints:
        step=r"\d+",
    threads: workflow.cores
    params:
        recipe=lambda w: as_json(T.pretraining_recipe(w.recipe)),
        version=T.version("pretrain"),
        vocab=lambda w: f"{R}/vocabs/{SPECS.pretraining[w.recipe].vocab}",
        start=lambda w: T.segment_arguments(w.recipe, int(w.step)),
    shell:
        "python {SCRIPTS}/pretrain.py --recipe {params.recipe:q} --tokens {R}/pretraining/{wildcards.recipe}/tokens"
        " --vocab {params.vocab} --to {wildcards.step} {params.start}"
        " --output {R}/pretraining/{wildcards.recipe}/step-{wildcards.step} 2>&1 | tee {log:q}"


rule export_model:
    input:
        unpack(lambda w: T.model_inputs(w.model)),
    output:
        [f"{R}/models/{{model}}/{name}" for name in T.MODEL_FILES],
    log:
        f"{R}/logs/models/{{model}}.log",
    params:
        version=T.version("export"),
        recipe=lambda w: as_json(T.model_recipe(w.model)),
        arguments=lambda w: T.model_arguments(w.model),
    shell:
        "python {SCRIPTS}/export_model.py --recipe {params.recipe:q} --output {R}/models/{wildcards.model} {params.arguments} > {log:q} 2>&1"
