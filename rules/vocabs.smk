"""Vocabularies learnt from a corpus."""


rule train_vocab:
    input:
        lambda w: T.parts(SPECS.vocabs[w.vocab].corpus),
    output:
        [f"{R}/vocabs/{{vocab}}/{name}" for name in T.VOCAB_FILES],
    log:
        f"{R}/logs/vocabs/{{vocab}}.log",
    threads: 2
    params:
        corpus=lambda w: T.corpus_folder(SPECS.vocabs[w.vocab].corpus),
        parts=lambda w: len(T.shards(SPECS.vocabs[w.vocab].corpus)),
        version=T.version("vocab"),
        recipe=lambda w: as_json(T.vocab_recipe(w.vocab)),
    message:
        "Learning the vocabulary {wildcards.vocab}"
    shell:
        "python {SCRIPTS:q}/train_vocab.py --corpus {params.corpus:q} --parts {params.parts}"
        " --output {R:q}/vocabs/{wildcards.vocab:q} --recipe {params.recipe:q} > {log:q} 2>&1"
