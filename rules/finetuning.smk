"""Trials of the search, the choice, final runs, records."""

RUN = f"{R}/runs/{{protocol}}/{{model}}/{{dataset}}/{{setting}}"


rule trial:
    input:
        model=lambda w: T.model_files(w.model),
        dataset=lambda w: T.dataset_files(w.dataset),
    output:
        predictions=f"{RUN}/trials/{{trial}}/seed-{{seed}}.predictions.jsonl.gz",
        training=f"{RUN}/trials/{{trial}}/seed-{{seed}}.training.json",
    log:
        f"{R}/logs/runs/{{protocol}}/{{model}}/{{dataset}}/{{setting}}/trials/{{trial}}/seed-{{seed}}.log",
    params:
        recipe=lambda w: as_json(T.finetuning_recipe(w.protocol, w.dataset, w.setting, w.trial)),
        version=T.version("finetune"),
    message:
        "Trying {wildcards.trial}: {wildcards.model} on {wildcards.dataset}, seed {wildcards.seed}"
    shell:
        "python {SCRIPTS:q}/finetune.py --recipe {params.recipe:q} --model {R:q}/models/{wildcards.model:q}"
        " --dataset {R:q}/datasets/{wildcards.dataset:q} --seed {wildcards.seed} --split dev --output {output.predictions:q} > {log:q} 2>&1"


rule choose:
    input:
        lambda w: T.trial_training(w.protocol, w.dataset, w.setting),
    output:
        f"{R}/runs/{{protocol}}/selected/{{dataset}}/{{setting}}.json",
    log:
        f"{R}/logs/runs/{{protocol}}/selected/{{dataset}}/{{setting}}.log",
    params:
        version=T.version("choose"),
        recipe=as_json({"by": "dev"}),
    message:
        "Choosing hyper-parameters for {wildcards.dataset}"
    shell:
        "python {SCRIPTS:q}/select_trial.py --trials {input:q} --output {output:q} --recipe {params.recipe:q} > {log:q} 2>&1"


rule finetune:
    input:
        model=lambda w: T.model_files(w.model),
        dataset=lambda w: T.dataset_files(w.dataset),
        selected=lambda w: T.selection_inputs(w.protocol, w.dataset, w.setting),
    output:
        predictions=f"{RUN}/final/seed-{{seed}}.predictions.jsonl.gz",
        training=f"{RUN}/final/seed-{{seed}}.training.json",
    log:
        f"{R}/logs/runs/{{protocol}}/{{model}}/{{dataset}}/{{setting}}/final/seed-{{seed}}.log",
    params:
        recipe=lambda w: as_json(T.finetuning_recipe(w.protocol, w.dataset, w.setting, None)),
        version=T.version("finetune"),
        selected=lambda w: T.selection_arguments(w.protocol, w.dataset, w.setting),
        split=lambda w: SPECS.protocols[w.protocol].final.split,
    message:
        "Fine-tuning {wildcards.model} on {wildcards.dataset}, seed {wildcards.seed}"
    shell:
        "python {SCRIPTS:q}/finetune.py --recipe {params.recipe:q} {params.selected:q} --model {R:q}/models/{wildcards.model:q}"
        " --dataset {R:q}/datasets/{wildcards.dataset:q} --seed {wildcards.seed} --split {params.split}"
        " --output {output.predictions:q} > {log:q} 2>&1"


rule score:
    input:
        predictions=f"{RUN}/final/seed-{{seed}}.predictions.jsonl.gz",
        training=f"{RUN}/final/seed-{{seed}}.training.json",
        examples=lambda w: f"{R}/datasets/{w.dataset}/{SPECS.protocols[w.protocol].final.split}.jsonl.gz",
    output:
        f"{RUN}/final/seed-{{seed}}.json",
    log:
        f"{R}/logs/runs/{{protocol}}/{{model}}/{{dataset}}/{{setting}}/final/seed-{{seed}}.score.log",
    wildcard_constraints:
        seed=r"\d+",
    params:
        version=T.version("score"),
        recipe=lambda w: as_json(T.score_recipe(w.protocol, w.model, w.dataset, w.setting, int(w.seed))),
    message:
        "Scoring {wildcards.model} on {wildcards.dataset}, seed {wildcards.seed}"
    shell:
        "python {SCRIPTS:q}/score.py --predictions {input.predictions:q} --training {input.training:q}"
        " --examples {input.examples:q} --output {output:q} --recipe {params.recipe:q} > {log:q} 2>&1"
