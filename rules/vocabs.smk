"""Count words, learn or copy vocabularies, and measure how they fit datasets."""


rule count_words:
    input:
        f"{CORPUS}/{BLOCK}",
    output:
        f"{CORPUS}/words/{{splitting}}/{BLOCK}",
    log:
        graph.paths.log(f"{CORPUS}/words/{{splitting}}/{{source}}/{{block}}"),
    wildcard_constraints:
        splitting="[^/]+",
    conda:
        "../envs/data.yaml"
    resources:
        **graph.count_words.resources,
    params:
        **graph.count_words.params,
        parts=graph.corpora.parts,
        folder=f"{CORPUS}/words/{{splitting}}",
    message:
        graph.count_words.label
    shell:
        "python -m pubmill.job count_words --parts {params.parts:q} --folder {params.folder:q}"
        " --output {output:q} --recipe {params.recipe:q} --version {params.version:q} > {log:q} 2>&1"


rule train_vocab:
    input:
        unpack(graph.train_vocab.inputs_of),
    output:
        graph.paths.vocab_files("{vocab}"),
    log:
        graph.paths.log(graph.paths.vocab("{vocab}")),
    benchmark:
        graph.paths.benchmark("train_vocab", graph.paths.vocab("{vocab}"))
    wildcard_constraints:
        vocab=any_of(graph.vocabularies.learnt()),
    conda:
        "../envs/data.yaml"
    threads: 2
    resources:
        **graph.train_vocab.resources,
    params:
        **graph.train_vocab.params,
        words=lambda w: graph.vocabularies.words(w.vocab),
        parts=lambda w: len(graph.corpora.shards(graph.vocabularies.learnt_spec(w.vocab).corpus)),
    message:
        graph.train_vocab.label
    shell:
        "python -m pubmill.job train_vocab --words {params.words:q} --parts {params.parts:q}"
        " --output {params.places.results:q}/vocabs/{wildcards.vocab:q} --recipe {params.recipe:q} > {log:q} 2>&1"


rule take_vocab:
    input:
        model=lambda w: graph.paths.model_files(graph.vocabularies.model(w.vocab)),
    output:
        graph.paths.vocab_files("{vocab}"),
    log:
        graph.paths.log(graph.paths.vocab("{vocab}")),
    wildcard_constraints:
        vocab=any_of(graph.vocabularies.released()),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.take_vocab.resources,
    params:
        **graph.take_vocab.params,
        model=lambda w: graph.paths.model(graph.vocabularies.model(w.vocab)),
    message:
        graph.take_vocab.label
    shell:
        "python -m pubmill.job take_vocab --model {params.model:q}"
        " --output {params.places.results:q}/vocabs/{wildcards.vocab:q} > {log:q} 2>&1"


rule vocab_diagnosis:
    input:
        unpack(graph.vocab_diagnosis.inputs_of),
    output:
        graph.paths.fit("{vocab}"),
    log:
        graph.paths.log(graph.paths.vocab("{vocab}", "on")),
    conda:
        "../envs/data.yaml"
    resources:
        **graph.vocab_diagnosis.resources,
    params:
        **graph.vocab_diagnosis.params,
    message:
        graph.vocab_diagnosis.label
    shell:
        "python -m pubmill.job vocab_diagnosis --vocab {params.places.results:q}/vocabs/{wildcards.vocab:q}"
        " --datasets {params.places.results:q}/datasets --output {output:q} --recipe {params.recipe:q} > {log:q} 2>&1"
