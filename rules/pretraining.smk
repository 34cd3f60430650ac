"""Pack tokens, pretrain from checkpoint to checkpoint, and make models."""

OWN_MODELS = any_of(T.own_models())


rule pack:
    input:
        parts=lambda w: T.parts(w.corpus),
        vocab=lambda w: T.vocab_files(w.vocab),
        punkt=lambda w: T.source(T.sentence_splitter(w.corpus, w.vocab)),
    output:
        [T.paths.tokens("{corpus}", "{vocab}", name) for name in T.TOKEN_FILES],
    log:
        T.paths.log(T.paths.tokens("{corpus}", "{vocab}")),
    conda:
        "../envs/data.yaml"
    threads: workflow.cores
    resources:
        **needs("pack"),
    params:
        version=T.version("pack"),
        recipe=lambda w: as_json(T.packing_recipe(w.corpus, w.vocab)),
        corpus=lambda w: T.paths.corpus(w.corpus),
        parts=lambda w: len(T.shards(w.corpus)),
        vocab=lambda w: T.paths.vocab(w.vocab),
    message:
        "Packing tokens of {wildcards.corpus} with {wildcards.vocab}"
    shell:
        "python {SCRIPTS:q}/pack.py --corpus {params.corpus:q} --parts {params.parts:q} --vocab {params.vocab:q} --punkt {input.punkt:q}"
        " --output {R:q}/pretraining/tokens/{wildcards.corpus:q}/{wildcards.vocab:q} --recipe {params.recipe:q} > {log:q} 2>&1"


rule pretrain:
    input:
        tokens=lambda w: T.token_files(w.recipe),
        vocab=lambda w: T.vocab_files(SPECS.pretraining[w.recipe].vocab),
        weights=lambda w: T.segment_inputs(w.recipe, int(w.step)),
    output:
        [T.paths.checkpoint("{recipe}", "{step}", name) for name in T.CHECKPOINT_FILES],
    log:
        T.paths.log(T.paths.checkpoint("{recipe}", "{step}")),
    wildcard_constraints:
        step=r"\d+",
    conda:
        "../envs/training.yaml"
    threads: workflow.cores
    resources:
        **needs("pretrain"),
        # For one job; a profile sets the number of nodes, and of processes on each node (one per GPU).
        nodes=1,
        processes=1,
    params:
        recipe=lambda w: as_json(T.pretraining_recipe(w.recipe)),
        version=T.version("pretrain"),
        tokens=lambda w: T.tokens_folder(w.recipe),
        vocab=lambda w: T.paths.vocab(SPECS.pretraining[w.recipe].vocab),
        weights=lambda w: T.segment_arguments(w.recipe, int(w.step)),
    message:
        "Pretraining {wildcards.recipe} up to step {wildcards.step}"
    # `tee` ignores the signals that stop the job, so that the last messages reach the log.
    shell:
        "python {SCRIPTS:q}/launch.py --nodes {resources.nodes:q} --processes {resources.processes:q}"
        " {SCRIPTS:q}/pretrain.py --recipe {params.recipe:q} --tokens {params.tokens:q}"
        " --vocab {params.vocab:q} --to {wildcards.step:q} {params.weights:q}"
        " --output {R:q}/pretraining/{wildcards.recipe:q}/step-{wildcards.step:q} --version {params.version:q}"
        " --save-minutes {STUDY.save_minutes:q} 2>&1 | (trap '' INT TERM; exec tee {log:q})"


rule pin_weights:
    input:
        lambda w: T.released_archive(w.model),
    output:
        # A pin that is there is kept, also if the job is forced.
        update(T.paths.release_pin("{model}")),
    log:
        T.paths.log("download/released/{model}"),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("pin_weights"),
        downloads=1,
    params:
        version=T.version("pin"),
        release=lambda w: as_json(T.release(w.model)),
        archive=lambda w, input: ["--archive", input[0]] if input else [],
    message:
        "Pinning the released weights of {wildcards.model}"
    shell:
        "python {SCRIPTS:q}/pin_weights.py --release {params.release:q} --output {output:q} {params.archive:q} {MIRROR:q} > {log:q} 2>&1"


rule export_model:
    input:
        unpack(lambda w: T.model_inputs(w.model)),
    output:
        # What is there stays until it is replaced: a model isn't lost to a job that fails.
        [update(T.paths.model("{model}", name)) for name in T.MODEL_FILES],
    log:
        T.paths.log(T.paths.model("{model}")),
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
        [update(T.paths.model("{model}", name)) for name in T.MODEL_FILES],
    log:
        T.paths.log(T.paths.model("{model}")),
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
        "Copying the model {wildcards.model}"
    shell:
        "python {SCRIPTS:q}/export_model.py --recipe {params.recipe:q} --output {R:q}/models/{wildcards.model:q} --folder {params.folder:q} > {log:q} 2>&1"
