"""Packed tokens, checkpoints segment by segment, models."""

OWN_MODELS = any_of(T.own_models())


rule pack:
    input:
        parts=lambda w: T.parts(w.corpus),
        vocab=lambda w: T.vocab_files(w.vocab),
        punkt=lambda w: T.source(T.sentence_splitter(w.corpus, w.vocab)),
    output:
        [f"{R}/pretraining/tokens/{{corpus}}/{{vocab}}/{name}" for name in T.TOKEN_FILES],
    log:
        f"{R}/logs/pretraining/tokens/{{corpus}}/{{vocab}}.log",
    conda:
        "../envs/data.yaml"
    threads: workflow.cores
    resources:
        **needs("pack"),
    params:
        version=T.version("pack"),
        recipe=lambda w: as_json(T.packing_recipe(w.corpus, w.vocab)),
        corpus=lambda w: T.corpus_folder(w.corpus),
        parts=lambda w: len(T.shards(w.corpus)),
        vocab=lambda w: T.vocab_folder(w.vocab),
    message:
        "Packing tokens of {wildcards.corpus} by {wildcards.vocab}"
    shell:
        "python {SCRIPTS:q}/pack.py --corpus {params.corpus:q} --parts {params.parts:q} --vocab {params.vocab:q} --punkt {input.punkt:q}"
        " --output {R:q}/pretraining/tokens/{wildcards.corpus:q}/{wildcards.vocab:q} --recipe {params.recipe:q} > {log:q} 2>&1"


rule pretrain:
    input:
        tokens=lambda w: T.token_files(w.recipe),
        vocab=lambda w: T.vocab_files(SPECS.pretraining[w.recipe].vocab),
        weights=lambda w: T.segment_inputs(w.recipe, int(w.step)),
    output:
        [f"{R}/pretraining/{{recipe}}/step-{{step}}/{name}" for name in T.CHECKPOINT_FILES],
    log:
        f"{R}/logs/pretraining/{{recipe}}/step-{{step}}.log",
    wildcard_constraints:
        step=r"\d+",
    conda:
        "../envs/training.yaml"
    threads: workflow.cores
    resources:
        **needs("pretrain"),
        # Of one job: a profile sets how many nodes, and how many processes on each (one a GPU).
        nodes=1,
        processes=1,
    params:
        recipe=lambda w: as_json(T.pretraining_recipe(w.recipe)),
        version=T.version("pretrain"),
        tokens=lambda w: T.tokens_folder(w.recipe),
        vocab=lambda w: T.vocab_folder(SPECS.pretraining[w.recipe].vocab),
        weights=lambda w: T.segment_arguments(w.recipe, int(w.step)),
    message:
        "Pretraining {wildcards.recipe} up to step {wildcards.step}"
    # What it says when it is asked to stop, by a signal to all of the job, is heard to the end.
    shell:
        "python {SCRIPTS:q}/launch.py --nodes {resources.nodes:q} --processes {resources.processes:q}"
        " {SCRIPTS:q}/pretrain.py --recipe {params.recipe:q} --tokens {params.tokens:q}"
        " --vocab {params.vocab:q} --to {wildcards.step:q} {params.weights:q}"
        " --output {R:q}/pretraining/{wildcards.recipe:q}/step-{wildcards.step:q} --version {params.version:q}"
        " --save-minutes {STUDY.save_minutes:q} 2>&1 | (trap '' INT TERM; exec tee {log:q})"


rule export_model:
    input:
        unpack(lambda w: T.model_inputs(w.model)),
    output:
        # What is there stays until it is replaced: a model isn't lost to a job that fails.
        [update(f"{R}/models/{{model}}/{name}") for name in T.MODEL_FILES],
    log:
        f"{R}/logs/models/{{model}}.log",
    wildcard_constraints:
        model=f"(?!(?:{OWN_MODELS})/)[^/]+",
    conda:
        "../envs/training.yaml"
    resources:
        **needs("export_model"),
    params:
        version=T.version("export"),
        recipe=lambda w: as_json(T.model_recipe(w.model)),
        arguments=lambda w: T.model_arguments(w.model),
    message:
        "Making the model {wildcards.model}"
    shell:
        "python {SCRIPTS:q}/export_model.py --recipe {params.recipe:q} --output {R:q}/models/{wildcards.model:q} {params.arguments:q} > {log:q} 2>&1"


rule take_model:
    input:
        lambda w: T.check_own_folder(w.model),
    output:
        [update(f"{R}/models/{{model}}/{name}") for name in T.MODEL_FILES],
    log:
        f"{R}/logs/models/{{model}}.log",
    wildcard_constraints:
        model=OWN_MODELS,
    conda:
        "../envs/training.yaml"
    resources:
        **needs("take_model"),
    params:
        version=T.version("export"),
        recipe=lambda w: as_json(T.model_recipe(w.model)),
        content=lambda w: T.own_folder_content(w.model),
        folder=not_compared(lambda w: str(T.own_folder(w.model))),
    message:
        "Taking the model {wildcards.model}"
    shell:
        "python {SCRIPTS:q}/export_model.py --recipe {params.recipe:q} --output {R:q}/models/{wildcards.model:q} --folder {params.folder:q} > {log:q} 2>&1"
