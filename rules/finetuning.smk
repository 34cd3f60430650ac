"""Trials of the hyper-parameter search, the choice, final runs and their models, and records."""

from pubmill.storage.result_paths import PREDICTIONS, TRAINING

RUN = ("{protocol}", "{model}", "{dataset}", "{setting}")
TRIAL = (*RUN, "{trial}", "{seed}")
FINAL = (*RUN, "{seed}")


rule trial:
    input:
        lambda w: T.runs.trial_inputs(*run_of(w), w.trial),
    output:
        predictions=T.paths.trial(*TRIAL, PREDICTIONS),
        training=T.paths.trial(*TRIAL, TRAINING),
    log:
        T.paths.log(T.paths.trial(*TRIAL)),
    conda:
        "../envs/training.yaml"
    resources:
        **needs("trial"),
        gpu_slots=1,
    params:
        **PLACES,
        recipe=lambda w: as_json(T.runs.trial_recipe(*run_of(w), w.trial)),
        version=VERSIONS["finetune"],
        model=lambda w: T.runs.first_model(*run_of(w)),
        splits=lambda w: T.runs.split_arguments(w.protocol, w.dataset, trial=True),
    message:
        "Trying {wildcards.trial}: {wildcards.model} on {wildcards.dataset}, seed {wildcards.seed}"
    shell:
        "python {params.scripts:q}/finetune.py --recipe {params.recipe:q} --model {params.model:q}"
        " --dataset {params.results:q}/datasets/{wildcards.dataset:q} --seed {wildcards.seed:q}"
        " {params.splits:q} --output {output.predictions:q} > {log:q} 2>&1"


rule choose:
    input:
        lambda w: T.runs.trial_training(w.protocol, None, w.dataset, w.setting),
    output:
        T.paths.choice("{protocol}", None, "{dataset}", "{setting}"),
    log:
        T.paths.log(T.paths.choice("{protocol}", None, "{dataset}", "{setting}").removesuffix(".json")),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("choose"),
    params:
        **PLACES,
        version=VERSIONS["choose"],
        recipe=lambda w: as_json(T.runs.choice_recipe(w.protocol, None, w.dataset, w.setting)),
    message:
        "Choosing hyper-parameters for {wildcards.dataset}"
    shell:
        "python {params.scripts:q}/select_trial.py --trials {input:q} --output {output:q}"
        " --recipe {params.recipe:q} > {log:q} 2>&1"


use rule choose as choose_for_model with:
    input:
        lambda w: T.runs.trial_training(*run_of(w)),
    output:
        T.paths.choice(*RUN),
    log:
        T.paths.log(T.paths.choice(*RUN).removesuffix(".json")),
    resources:
        **needs("choose_for_model"),
    params:
        **PLACES,
        version=VERSIONS["choose"],
        recipe=lambda w: as_json(T.runs.choice_recipe(*run_of(w))),
    message:
        "Choosing hyper-parameters of {wildcards.model} for {wildcards.dataset}"


rule task_model:
    input:
        lambda w: T.runs.inputs(*run_of(w)),
    output:
        model=directory(T.paths.task_model(*FINAL)),
        predictions=T.paths.task_model(*FINAL, PREDICTIONS),
        training=T.paths.task_model(*FINAL, TRAINING),
    log:
        T.paths.log(T.paths.task_model(*FINAL)),
    conda:
        "../envs/training.yaml"
    resources:
        **needs("task_model"),
        gpu_slots=1,
    params:
        **PLACES,
        recipe=lambda w: as_json(T.runs.recipe(*run_of(w))),
        version=VERSIONS["finetune"],
        model=lambda w: T.runs.first_model(*run_of(w)),
        selected=lambda w: T.runs.selected_arguments(*run_of(w)),
        splits=lambda w: T.runs.split_arguments(w.protocol, w.dataset, trial=False),
    message:
        "Fine-tuning {wildcards.model} on {wildcards.dataset}, seed {wildcards.seed}, and keeping the model"
    shell:
        "python {params.scripts:q}/finetune.py --recipe {params.recipe:q} {params.selected:q}"
        " --model {params.model:q} --dataset {params.results:q}/datasets/{wildcards.dataset:q}"
        " --seed {wildcards.seed:q} {params.splits:q} --output {output.predictions:q} --keep {output.model:q}"
        " > {log:q} 2>&1"


rule finetune:
    input:
        run=lambda w: T.runs.inputs(*run_of(w)),
        kept=lambda w: T.runs.kept(*run_of(w), int(w.seed)),
    output:
        predictions=T.paths.predictions(*FINAL),
        training=T.paths.training(*FINAL),
    log:
        T.paths.log(T.paths.final(*FINAL)),
    conda:
        "../envs/training.yaml"
    resources:
        **needs("finetune"),
        gpu_slots=1,
    params:
        **PLACES,
        recipe=lambda w: as_json(T.runs.recipe(*run_of(w))),
        version=VERSIONS["finetune"],
        model=lambda w: T.runs.first_model(*run_of(w)),
        selected=lambda w: T.runs.selected_arguments(*run_of(w)),
        splits=lambda w: T.runs.split_arguments(w.protocol, w.dataset, trial=False),
        kept=lambda w: T.runs.kept_arguments(*run_of(w), int(w.seed)),
    message:
        "Fine-tuning {wildcards.model} on {wildcards.dataset}, seed {wildcards.seed}"
    shell:
        "python {params.scripts:q}/finetune.py --recipe {params.recipe:q} {params.selected:q}"
        " --model {params.model:q} --dataset {params.results:q}/datasets/{wildcards.dataset:q}"
        " --seed {wildcards.seed:q} {params.splits:q} {params.kept:q} --output {output.predictions:q}"
        " > {log:q} 2>&1"


rule score:
    input:
        predictions=T.paths.predictions(*FINAL),
        training=T.paths.training(*FINAL),
        examples=lambda w: T.runs.scored_examples(*run_of(w)),
    output:
        record=T.paths.record(*FINAL),
        contributions=T.paths.contributions(T.paths.record(*FINAL)),
    log:
        T.paths.log(T.paths.final(*FINAL) + ".score"),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("score"),
    params:
        **PLACES,
        version=VERSIONS["score"],
        recipe=lambda w: as_json(T.records.recipe(*run_of(w), int(w.seed))),
    message:
        "Scoring {wildcards.model} on {wildcards.dataset}, seed {wildcards.seed}"
    shell:
        "python {params.scripts:q}/score.py --predictions {input.predictions:q} --training {input.training:q}"
        " --examples {input.examples:q} --output {output.record:q} --recipe {params.recipe:q} > {log:q} 2>&1"


rule transfer:
    input:
        model=T.paths.task_model(*FINAL),
        examples=T.paths.examples("{target}", "test"),
    output:
        T.paths.transfer("{target}", *FINAL),
    log:
        T.paths.log(T.paths.transfer("{target}", *FINAL).removesuffix(".json")),
    wildcard_constraints:
        target="[^/]+",
    conda:
        "../envs/training.yaml"
    resources:
        **needs("transfer"),
        gpu_slots=1,
    params:
        **PLACES,
        recipe=lambda w: as_json(T.transfers.recipe(*run_of(w), int(w.seed), w.target)),
        version=VERSIONS["transfer"],
    message:
        "Scoring {wildcards.model} of {wildcards.dataset} on {wildcards.target}, seed {wildcards.seed}"
    shell:
        "python {params.scripts:q}/transfer.py --recipe {params.recipe:q} --model {input.model:q}"
        " --examples {input.examples:q} --output {output:q} > {log:q} 2>&1"


rule transfer_matrix:
    input:
        lambda w: T.transfers.matrix_inputs(w.protocol, w.model, w.setting),
    output:
        T.paths.transfers_files("{protocol}", "{model}", "{setting}"),
    log:
        T.paths.log(T.paths.transfers("{protocol}", "{model}", "{setting}")),
    conda:
        "../envs/data.yaml"
    resources:
        **needs("transfer_matrix"),
    params:
        **PLACES,
        recipe=lambda w: as_json(T.transfers.matrix_recipe(w.protocol, w.model, w.setting)),
        version=VERSIONS["transfer_matrix"],
        stem=lambda w: T.paths.transfers(w.protocol, w.model, w.setting),
    message:
        "Scoring {wildcards.model} on other datasets"
    shell:
        "python {params.scripts:q}/transfer_matrix.py --recipe {params.recipe:q} --results {params.results:q}"
        " --output {params.stem:q} > {log:q} 2>&1"
