"""Pack tokens, pretrain from checkpoint to checkpoint, and make models."""

OWN_MODELS = any_of(T.models.own())


rule pack:
    input:
        parts=lambda w: T.corpora.parts(w.corpus),
        vocab=lambda w: T.paths.vocab_files(w.vocab),
        punkt=lambda w: T.paths.source_of_url(T.pretrainings.sentence_splitter(w.corpus, w.vocab)),
    output:
        T.paths.token_files("{corpus}", "{vocab}"),
    log:
        T.paths.log(T.paths.tokens("{corpus}", "{vocab}")),
    conda:
        "../envs/data.yaml"
    threads: workflow.cores
    resources:
        **needs("pack"),
    params:
        **PLACES,
        version=VERSIONS["pack"],
        recipe=lambda w: as_json(T.pretrainings.packing_recipe(w.corpus, w.vocab)),
        corpus=lambda w: T.paths.corpus(w.corpus),
        parts=lambda w: len(T.corpora.shards(w.corpus)),
        vocab=lambda w: T.paths.vocab(w.vocab),
    message:
        "Packing tokens of {wildcards.corpus} with {wildcards.vocab}"
    shell:
        "python {params.scripts:q}/pack.py --corpus {params.corpus:q} --parts {params.parts:q}"
        " --vocab {params.vocab:q} --punkt {input.punkt:q}"
        " --output {params.results:q}/pretraining/tokens/{wildcards.corpus:q}/{wildcards.vocab:q}"
        " --recipe {params.recipe:q} > {log:q} 2>&1"


rule pretrain:
    input:
        tokens=lambda w: T.pretrainings.token_files(w.recipe),
        vocab=lambda w: T.paths.vocab_files(SPECS.pretraining[w.recipe].vocab),
        weights=lambda w: T.pretrainings.segment_inputs(w.recipe, int(w.step)),
    output:
        T.paths.checkpoint_files("{recipe}", "{step}"),
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
        **PLACES,
        recipe=lambda w: as_json(T.pretrainings.recipe(w.recipe)),
        version=VERSIONS["pretrain"],
        tokens=lambda w: T.pretrainings.tokens_folder(w.recipe),
        vocab=lambda w: T.paths.vocab(SPECS.pretraining[w.recipe].vocab),
        weights=lambda w: T.pretrainings.segment_arguments(w.recipe, int(w.step)),
        save_minutes=not_compared(lambda w: STUDY.save_minutes),
    message:
        "Pretraining {wildcards.recipe} up to step {wildcards.step}"
    # `tee` ignores the signals that stop the job, so that the last messages reach the log.
    shell:
        "python {params.scripts:q}/launch.py --nodes {resources.nodes:q} --processes {resources.processes:q}"
        " {params.scripts:q}/pretrain.py --recipe {params.recipe:q} --tokens {params.tokens:q}"
        " --vocab {params.vocab:q} --to {wildcards.step:q} {params.weights:q}"
        " --output {params.results:q}/pretraining/{wildcards.recipe:q}/step-{wildcards.step:q}"
        " --version {params.version:q} --save-minutes {params.save_minutes:q}"
        " 2>&1 | (trap '' INT TERM; exec tee {log:q})"


rule pin_weights:
    input:
        lambda w: T.models.released_archive(w.model),
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
        **PLACES,
        version=VERSIONS["pin"],
        release=lambda w: as_json(T.models.release(w.model)),
        archive=lambda w, input: ["--archive", input[0]] if input else [],
    message:
        "Pinning the released weights of {wildcards.model}"
    shell:
        "python {params.scripts:q}/pin_weights.py --release {params.release:q} --output {output:q}"
        " {params.archive:q} {params.mirror:q} > {log:q} 2>&1"


rule export_model:
    input:
        unpack(lambda w: T.models.inputs(w.model)),
    output:
        # What is there stays until it is replaced: a model isn't lost to a job that fails.
        [update(path) for path in T.paths.model_files("{model}")],
    log:
        T.paths.log(T.paths.model("{model}")),
    wildcard_constraints:
        model=f"(?!(?:{OWN_MODELS})/)[^/]+",
    conda:
        "../envs/training.yaml"
    resources:
        **needs("export_model"),
    params:
        **PLACES,
        version=VERSIONS["export"],
        recipe=lambda w: as_json(T.models.recipe(w.model)),
        arguments=lambda w: T.models.arguments(w.model),
    message:
        "Making the model {wildcards.model}"
    shell:
        "python {params.scripts:q}/export_model.py --recipe {params.recipe:q}"
        " --output {params.results:q}/models/{wildcards.model:q} {params.arguments:q} > {log:q} 2>&1"


rule take_model:
    input:
        lambda w: T.models.check_own_folder(w.model),
    output:
        [update(path) for path in T.paths.model_files("{model}")],
    log:
        T.paths.log(T.paths.model("{model}")),
    wildcard_constraints:
        model=OWN_MODELS,
    conda:
        "../envs/training.yaml"
    resources:
        **needs("take_model"),
    params:
        **PLACES,
        version=VERSIONS["export"],
        recipe=lambda w: as_json(T.models.recipe(w.model)),
        content=lambda w: T.models.own_folder_content(w.model),
        folder=not_compared(lambda w: str(T.models.own_folder(w.model))),
    message:
        "Copying the model {wildcards.model}"
    shell:
        "python {params.scripts:q}/export_model.py --recipe {params.recipe:q}"
        " --output {params.results:q}/models/{wildcards.model:q} --folder {params.folder:q} > {log:q} 2>&1"
