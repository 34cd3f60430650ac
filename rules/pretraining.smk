"""Pack tokens, pretrain from checkpoint to checkpoint, and make models."""

OWN_MODELS = any_of(graph.models.own())


rule pack:
    input:
        parts=lambda w: graph.corpora.manifests(w.corpus),
        vocab=graph.paths.vocab_files("{vocab}"),
        punkt=lambda w: graph.paths.source_of_url(
            graph.pretrainings.packing_spec(w.corpus, w.vocab).sentence_splitter
        ),
    output:
        [update(path) for path in graph.paths.packed_files("{corpus}", "{vocab}")],
    log:
        graph.paths.log(graph.paths.tokens("{corpus}", "{vocab}")),
    conda:
        "../envs/data.yaml"
    threads: workflow.cores
    resources:
        **graph.pack.resources,
    params:
        **graph.pack.params,
        corpus=lambda w: graph.paths.corpus(w.corpus),
        parts=lambda w: len(graph.corpora.shards(w.corpus)),
        vocab=lambda w: graph.paths.vocab(w.vocab),
    message:
        graph.pack.label
    shell:
        "python -m pubmill.job pack --corpus {params.corpus:q} --parts {params.parts:q}"
        " --vocab {params.vocab:q} --punkt {input.punkt:q}"
        " --output {params.places.results:q}/pretraining/tokens/{wildcards.corpus:q}/{wildcards.vocab:q}"
        " --recipe {params.recipe:q} --version {params.version:q} > {log:q} 2>&1"


rule pretrain:
    input:
        unpack(graph.pretrain.inputs_of),
    output:
        graph.paths.checkpoint_files("{recipe}", "{step}"),
    log:
        graph.paths.log(graph.paths.checkpoint("{recipe}", "{step}")),
    benchmark:
        graph.paths.benchmark("pretrain", graph.paths.checkpoint("{recipe}", "{step}"))
    wildcard_constraints:
        step=r"\d+",
    conda:
        "../envs/training.yaml"
    threads: workflow.cores
    resources:
        **graph.pretrain.resources,
        # For one job; a profile sets the number of nodes, and of processes on each node (one per GPU).
        nodes=1,
        processes=1,
    params:
        **graph.pretrain.params,
        tokens=lambda w: graph.paths.tokens(
            SPECS.pretraining[w.recipe].corpus, SPECS.pretraining[w.recipe].vocab
        ),
        vocab=lambda w: graph.paths.vocab(SPECS.pretraining[w.recipe].vocab),
        weights=lambda w: graph.pretrainings.segment_arguments(w.recipe, int(w.step)),
        save_minutes=untracked(lambda w: STUDY.save_minutes),
        # Derived from resources, so not compared: any number of processes resumes a training.
        launcher=lambda w, resources, threads: launcher(resources.nodes, resources.processes, threads),
    message:
        graph.pretrain.label
    # torchrun gives its processes as long to save as profiles/slurm leaves before the time limit.
    shell:
        "export TORCH_ELASTIC_SHUTDOWN_TIMEOUT=${{TORCH_ELASTIC_SHUTDOWN_TIMEOUT:-180}}; {params.launcher}"
        " {params.places.scripts:q}/pretrain.py --recipe {params.recipe:q} --tokens {params.tokens:q}"
        " --vocab {params.vocab:q} --to {wildcards.step:q} {params.weights:q}"
        " --output {params.places.results:q}/pretraining/{wildcards.recipe:q}/step-{wildcards.step:q}"
        " --version {params.version:q} --save-minutes {params.save_minutes:q}"
        " > {log:q} 2>&1"


rule pin_weights:
    input:
        lambda w: graph.models.released_archive(w.model),
    output:
        # An existing pin is kept, even if the job is forced.
        update(graph.paths.release_pin("{model}")),
    log:
        graph.paths.log("download/released/{model}"),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.pin_weights.resources,
        downloads=1,
    params:
        **graph.pin_weights.params,
        release=lambda w: graph.argument(graph.models.release(w.model)),
        archive=lambda w, input: ["--archive", input[0]] if input else [],
    message:
        graph.pin_weights.label
    shell:
        "python -m pubmill.job pin_weights --release {params.release:q} --output {output:q}"
        " {params.archive:q} {params.places.mirror:q} > {log:q} 2>&1"


rule export_model:
    input:
        unpack(lambda w: graph.models.inputs(w.model)),
    output:
        # The old model stays until it is replaced, so that a failing job does not lose it.
        [update(path) for path in graph.paths.model_files("{model}")],
    log:
        graph.paths.log(graph.paths.model("{model}")),
    wildcard_constraints:
        model=f"(?!(?:{OWN_MODELS})/)[^/]+",
    conda:
        "../envs/training.yaml"
    resources:
        **graph.export_model.resources,
    params:
        **graph.export_model.params,
        arguments=lambda w: graph.models.arguments(w.model),
    message:
        graph.export_model.label
    shell:
        "python -m pubmill.job export_model --recipe {params.recipe:q}"
        " --output {params.places.results:q}/models/{wildcards.model:q} {params.arguments:q} > {log:q} 2>&1"


use rule export_model as take_model with:
    input:
        unpack(graph.take_model.inputs_of),
    wildcard_constraints:
        model=OWN_MODELS,
    resources:
        **graph.take_model.resources,
    params:
        **graph.take_model.params,
        content=lambda w: graph.digests.of_folder(graph.models.own_folder(w.model)),
        arguments=untracked(lambda w: ["--folder", str(graph.models.own_folder(w.model))]),
    message:
        graph.take_model.label
