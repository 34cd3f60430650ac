"""Word counts by part, vocabularies learnt or released, and how they fit datasets."""


rule count_words:
    input:
        f"{R}/corpora/{{corpus}}/part-{{part}}.parquet",
    output:
        f"{R}/corpora/{{corpus}}/words/{{splitting}}/part-{{part}}.parquet",
    log:
        f"{R}/logs/corpora/{{corpus}}/words/{{splitting}}/part-{{part}}.log",
    wildcard_constraints:
        part=r"\d{4}",
        splitting="[^/]+",
    conda:
        "../envs/data.yaml"
    resources:
        **needs("count_words"),
    params:
        version=T.version("count"),
        recipe=lambda w: as_json({"splitting": w.splitting}),
    message:
        "Counting words of {wildcards.corpus}, part {wildcards.part} ({wildcards.splitting})"
    shell:
        "python {SCRIPTS:q}/count_words.py --part {input:q} --output {output:q} --recipe {params.recipe:q} > {log:q} 2>&1"


rule train_vocab:
    input:
        lambda w: T.word_counts(w.vocab),
    output:
        [f"{R}/vocabs/{{vocab}}/{name}" for name in T.VOCAB_FILES],
    log:
        f"{R}/logs/vocabs/{{vocab}}.log",
    wildcard_constraints:
        vocab=any_of(T.learnt_vocabs()),
    conda:
        "../envs/data.yaml"
    threads: 2
    resources:
        **needs("train_vocab"),
    params:
        words=lambda w: T.words_folder(w.vocab),
        parts=lambda w: T.vocab_parts(w.vocab),
        version=T.version("vocab"),
        recipe=lambda w: as_json(T.vocab_recipe(w.vocab)),
    message:
        "Learning the vocabulary {wildcards.vocab}"
    shell:
        "python {SCRIPTS:q}/train_vocab.py --words {params.words:q} --parts {params.parts:q}"
        " --output {R:q}/vocabs/{wildcards.vocab:q} --recipe {params.recipe:q} > {log:q} 2>&1"


rule take_vocab:
    input:
        lambda w: T.model_files(T.vocab_model(w.vocab)),
    output:
        [f"{R}/vocabs/{{vocab}}/{name}" for name in T.VOCAB_FILES],
    log:
        f"{R}/logs/vocabs/{{vocab}}.log",
    wildcard_constraints:
        vocab=any_of(T.released_vocabs()),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("take_vocab"),
    params:
        version=T.version("vocab"),
        model=lambda w: f"{R}/models/{T.vocab_model(w.vocab)}",
    message:
        "Taking the vocabulary {wildcards.vocab}"
    shell:
        "python {SCRIPTS:q}/take_vocab.py --model {params.model:q} --output {R:q}/vocabs/{wildcards.vocab:q} > {log:q} 2>&1"


rule vocab_diagnosis:
    input:
        vocab=lambda w: T.vocab_files(w.vocab),
        dataset=lambda w: T.dataset_files(w.dataset),
    output:
        f"{R}/vocabs/{{vocab}}/on/{{dataset}}.json",
    log:
        f"{R}/logs/vocabs/{{vocab}}/on/{{dataset}}.log",
    conda:
        "../envs/data.yaml"
    resources:
        **needs("vocab_diagnosis"),
    params:
        version=T.version("fit"),
        recipe=lambda w: as_json(T.fit_recipe(w.vocab, w.dataset)),
    message:
        "Diagnosing the vocabulary {wildcards.vocab} on {wildcards.dataset}"
    shell:
        "python {SCRIPTS:q}/vocab_diagnosis.py --vocab {R:q}/vocabs/{wildcards.vocab:q} --dataset {R:q}/datasets/{wildcards.dataset:q}"
        " --output {output:q} --recipe {params.recipe:q} > {log:q} 2>&1"
