"""Trials of the search, the choice, final runs and their models, records."""

RUN = f"{R}/runs/{{protocol}}/{{model}}/{{dataset}}/{{setting}}"
LOG = f"{R}/logs/runs/{{protocol}}/{{model}}/{{dataset}}/{{setting}}"


def run_of(wildcards):
    """What names a run in `Targets`."""
    return wildcards.protocol, wildcards.model, wildcards.dataset, wildcards.setting


rule trial:
    input:
        lambda w: T.trial_inputs(*run_of(w), w.trial),
    output:
        predictions=f"{RUN}/trials/{{trial}}/seed-{{seed}}.predictions.jsonl.gz",
        training=f"{RUN}/trials/{{trial}}/seed-{{seed}}.training.json",
    log:
        f"{LOG}/trials/{{trial}}/seed-{{seed}}.log",
    conda:
        "../envs/training.yaml"
    resources:
        **needs("trial"),
        gpu_slots=1,
    params:
        recipe=lambda w: as_json(T.trial_recipe(*run_of(w), w.trial)),
        version=T.version("finetune"),
        model=lambda w: T.first_model(*run_of(w)),
        splits=lambda w: T.split_arguments(w.protocol, w.dataset, trial=True),
    message:
        "Trying {wildcards.trial}: {wildcards.model} on {wildcards.dataset}, seed {wildcards.seed}"
    shell:
        "python {SCRIPTS:q}/finetune.py --recipe {params.recipe:q} --model {params.model:q}"
        " --dataset {R:q}/datasets/{wildcards.dataset:q} --seed {wildcards.seed:q} {params.splits:q}"
        " --output {output.predictions:q} > {log:q} 2>&1"


rule choose:
    input:
        lambda w: T.trial_training(w.protocol, None, w.dataset, w.setting),
    output:
        f"{R}/runs/{{protocol}}/selected/{{dataset}}/{{setting}}.json",
    log:
        f"{R}/logs/runs/{{protocol}}/selected/{{dataset}}/{{setting}}.log",
    conda:
        "../envs/data.yaml"
    resources:
        **needs("choose"),
    params:
        version=T.version("choose"),
        recipe=lambda w: as_json(T.choice_recipe(w.protocol, None, w.dataset, w.setting)),
    message:
        "Choosing hyper-parameters for {wildcards.dataset}"
    shell:
        "python {SCRIPTS:q}/select_trial.py --trials {input:q} --output {output:q} --recipe {params.recipe:q} > {log:q} 2>&1"


use rule choose as choose_for_model with:
    input:
        lambda w: T.trial_training(*run_of(w)),
    output:
        f"{RUN}/selected.json",
    log:
        f"{LOG}/selected.log",
    resources:
        **needs("choose_for_model"),
    params:
        version=T.version("choose"),
        recipe=lambda w: as_json(T.choice_recipe(*run_of(w))),
    message:
        "Choosing hyper-parameters of {wildcards.model} for {wildcards.dataset}"


rule task_model:
    input:
        lambda w: T.run_inputs(*run_of(w)),
    output:
        model=directory(f"{RUN}/models/seed-{{seed}}"),
        predictions=f"{RUN}/models/seed-{{seed}}.predictions.jsonl.gz",
        training=f"{RUN}/models/seed-{{seed}}.training.json",
    log:
        f"{LOG}/models/seed-{{seed}}.log",
    conda:
        "../envs/training.yaml"
    resources:
        **needs("task_model"),
        gpu_slots=1,
    params:
        recipe=lambda w: as_json(T.run_recipe(*run_of(w))),
        version=T.version("finetune"),
        model=lambda w: T.first_model(*run_of(w)),
        selected=lambda w: T.selected_arguments(*run_of(w)),
        splits=lambda w: T.split_arguments(w.protocol, w.dataset, trial=False),
    message:
        "Fine-tuning {wildcards.model} on {wildcards.dataset}, seed {wildcards.seed}, to keep it"
    shell:
        "python {SCRIPTS:q}/finetune.py --recipe {params.recipe:q} {params.selected:q} --model {params.model:q}"
        " --dataset {R:q}/datasets/{wildcards.dataset:q} --seed {wildcards.seed:q} {params.splits:q}"
        " --output {output.predictions:q} --keep {output.model:q} > {log:q} 2>&1"


rule finetune:
    input:
        run=lambda w: T.run_inputs(*run_of(w)),
        kept=lambda w: T.kept(*run_of(w), int(w.seed)),
    output:
        predictions=f"{RUN}/final/seed-{{seed}}.predictions.jsonl.gz",
        training=f"{RUN}/final/seed-{{seed}}.training.json",
    log:
        f"{LOG}/final/seed-{{seed}}.log",
    conda:
        "../envs/training.yaml"
    resources:
        **needs("finetune"),
        gpu_slots=1,
    params:
        recipe=lambda w: as_json(T.run_recipe(*run_of(w))),
        version=T.version("finetune"),
        model=lambda w: T.first_model(*run_of(w)),
        selected=lambda w: T.selected_arguments(*run_of(w)),
        splits=lambda w: T.split_arguments(w.protocol, w.dataset, trial=False),
        kept=lambda w: T.kept_arguments(*run_of(w), int(w.seed)),
    message:
        "Fine-tuning {wildcards.model} on {wildcards.dataset}, seed {wildcards.seed}"
    shell:
        "python {SCRIPTS:q}/finetune.py --recipe {params.recipe:q} {params.selected:q} --model {params.model:q}"
        " --dataset {R:q}/datasets/{wildcards.dataset:q} --seed {wildcards.seed:q} {params.splits:q} {params.kept:q}"
        " --output {output.predictions:q} > {log:q} 2>&1"


rule score:
    input:
        predictions=f"{RUN}/final/seed-{{seed}}.predictions.jsonl.gz",
        training=f"{RUN}/final/seed-{{seed}}.training.json",
        examples=lambda w: T.scored_examples(*run_of(w)),
    output:
        record=f"{RUN}/final/seed-{{seed}}.json",
        contributions=f"{RUN}/final/seed-{{seed}}.items.npz",
    log:
        f"{LOG}/final/seed-{{seed}}.score.log",
    conda:
        "../envs/data.yaml"
    resources:
        **needs("score"),
    params:
        version=T.version("score"),
        recipe=lambda w: as_json(T.score_recipe(*run_of(w), int(w.seed))),
    message:
        "Scoring {wildcards.model} on {wildcards.dataset}, seed {wildcards.seed}"
    shell:
        "python {SCRIPTS:q}/score.py --predictions {input.predictions:q} --training {input.training:q}"
        " --examples {input.examples:q} --output {output.record:q} --recipe {params.recipe:q} > {log:q} 2>&1"
