"""Mistakes in a copy of the real specs: each is reported in its file and line, with what was expected."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pubmill.recipes.finetuning import FinetuningRecipe
from pubmill.recipes.problems import nearest_keys
from pubmill.specs import DatasetSpec, ModelSpec
from pubmill.specs.loading import KINDS
from tests.unit.specs.toy_mistakes import check_mistakes, mistakes, replace

BEST = "[scispacy-jnlpba, scispacy-bc5cdr]"
RELAXED = "metric: relaxed_f1"


MISTAKES = [
    ("pretraining/pubmedbert-base", "masking_rate:", "mask_rate:", "objective.mask_rate: unknown key"),
    ("pretraining/pubmedbert-base", "vocab: pubmed-uncased", "vocab: pubmed-odd",
     "there is no specs/vocabs/pubmed-odd.yaml"),
    ("pretraining/pubmedbert-base", "50000, 62500]", "50000]",
     "checkpoints must rise and end with steps (62500)"),
    ("protocols/blurb", "dropout: 0.1", "dropuot: 0.1", "hyperparameters: dropuot: unknown key"),
    ("protocols/blurb", "weight_decay: 0.0", "metric: entity_f1", "metric: the dataset decides it"),
    ("protocols/blurb", "  warmup: 0.1", "  warmup: many", "hyperparameters.warmup: on tokens"),
    ("protocols/blurb", "tagging: bio", "tagging: oi", "expected 'bio', 'bioul' or 'io'"),
    ("protocols/blurb", "weight_decay: 0.0", "learning_rate: 1e-5",
     "the search also decides learning_rate"),
    ("tables/gu2020/table06", 'label: "BioBERT cased"', 'label: "BioBERT cased", missing: not yet',
     "remove `missing:`"),
    ("tables/gu2020/table06", "setting: standard", "setting: standart",
     "protocol blurb has no setting 'standart'"),
    ("tables/gu2020/table06", "protocol: blurb", "protocol: lewis2020",
     "setting standard of protocol lewis2020 is not for similarity"),
    ("tables/gu2020/table06", "    sts: [biosses]", "    sts: [bioses]",
     "composite blurb names unknown rows: bioses"),
    ("tables/tinn2021/table11", RELAXED, "metric: relaxed_f2", "metric: there is no metric relaxed_f2;"),
    ("tables/tinn2021/table11", RELAXED, "metric: word_macro_f1",
     "bc2gm (tokens, ner) has no word_macro_f1, the metric of the table; it has entity_f1"),
    ("tables/tinn2021/table11", RELAXED, "metric: subtoken_f1",
     "subtoken_f1 needs labelled_subwords: separate; protocol blurb, setting standard has "
     "labelled_subwords: first"),
    ("tables/tinn2021/table11", RELAXED, "metric: subtoken_f1",
     "subtoken_f1 needs labelled_subwords: separate; scispacy-jnlpba is not fine-tuned here"),
    ("tables/tinn2021/table10", BEST, "[scispacy-jnlpba, scispacy]",
     "names scispacy, not columns with runs"),
    ("tables/tinn2021/table10", BEST, "[scispacy-jnlpba, scispacy-max]", "names scispacy-max, not col"),
    ("tables/tinn2021/table10", BEST, "[scispacy-jnlpba]", "columns.2.best_of"),
    ("tables/tinn2021/table10", "best_of:", "missing: x, best_of:", "remove `missing` and `setting`"),
    ("tables/tinn2021/table10", "key: scispacy-max", "key: biobert-base",
     "specs/models/biobert-base.yaml exists; give the column"),
    ("tables/tinn2021/table02", "biosses: &improved", "biossses: &improved",
     "has cells in unknown rows: biossses"),
    ("tables/tinn2021/table02", "protocol: tinn2021", "protocol: tin2021",
     "there is no specs/protocols/tin2021.yaml"),
    ("tables/tinn2021/table02", "protocol: tinn2021", "setting: optimal",
     "protocol blurb has no setting optimal"),
    ("tables/tinn2021/table02", "protocol: tinn2021", "copied: gu2020\n        setting: standard",
     "keep `copied` and `why` only"),
    ("tables/tinn2021/table02", "why: the printed value is", "# why: the printed value is",
     "a cell that differs needs `why`"),
    ("vocabs/pubmedbert-base", "model: pubmedbert-base", "model: no-pretraining",
     "no-pretraining has no released files"),
    ("vocabs/pubmedbert-base", "model: pubmedbert-base", "model: nobody", "no specs/models/nobody.yaml"),
    ("pretraining/biom-albert-xxlarge@pmc", "step: 264000", "step: 264001",
     "biom-albert-xxlarge keeps no checkpoint at step 264001"),
    ("pretraining/bio-lm-base@distill", "teacher: bio-lm-large", "teacher: bio-lm-huge",
     "there is no specs/models/bio-lm-huge.yaml"),
    ("pretraining/pubmedbert-base@general-vocabulary", "{model: bert-base-uncased}",
     "{recipe: bert, step: 1}", "there is no specs/pretraining/bert.yaml"),
]  # fmt: skip
PROTOCOLS = [
    ("tinn2021", "values: {segments: single}\n    why", "values: {segment: single}\n    why",
     "segment: single", "overrides.optimal-pubmedqa.values: segment: unknown key"),
    ("tinn2021", "frozen_layers: [3, 6, 9]", "frozen_layers: [3, some]",
     "[3, some]", "overrides.layer-freeze.grid.frozen_layers: on tokens"),
    ("tinn2021", "values: {max_length: 128}", "values: {max_length: long}",
     "max_length: long", "overrides.short-relations.values.max_length: on sequence (such as gad@blurb)"),
    ("tinn2021", "grid: {reinitialised_layers: [0, 1]}\n    why",
     "values: {pooling: mention-max}\n    why",
     "optimal-similarity:", "pooling is for sequence"),
    ("tinn2021", "models: [pubmedbert-base]", "models: [pubmedbert-bse]",
     "models: [pubmedbert-bse]", "there is no specs/models/pubmedbert-bse.yaml"),
    ("alrowili2021", "name: alrowili2021\n", "name: alrowili2021\nfuture_models: [pubmedbert-base]\n",
     "models: [pubmedbert-base, pubmedbert-base@pmc-100k]", "remove it from `future_models`"),
    ("tinn2021", "datasets: [pubmedqa]", "datasets: [pubmedqaa]",
     "[pubmedqaa]", "there is no specs/datasets/pubmedqaa.yaml"),
    ("tinn2021", "tasks: [similarity]\n    grid", "tasks: [similar]\n    grid",
     "tasks: [similar]", "similar: unknown; expected some of"),
    ("tinn2021", "settings: [layerwise-decay]", "settings: [decay]",
     "name: tinn2021", "override layerwise-decay: there are no settings decay"),
    ("tinn2021", "train+dev: {chosen_by: standard,", "train+dev: {chosen_by: train+dev,",
     "name: tinn2021", "setting train+dev: chosen_by must name a setting that chooses for itself"),
    ("tinn2021", "batch_size: [16, 32]}", "batch_size: [16, 32], stop_after: [5]}",
     "name: tinn2021", "stop_after can't be in a grid"),
    ("tinn2021", "  models: each", "  models: [pubmedbert-base]",
     "name: tinn2021", "a grid for certain models needs a search with `models: each`"),
    ("tinn2021", "biosses: 10", "bioses: 10", "bioses: 10", "there is no specs/datasets/bioses.yaml"),
    ("blurb", "{default: 5, ", "{", "name: blurb", "final.seeds must have the key `default`"),
    ("blurb", "removed_layers: 4}", "removed_layers: some}",
     "removed_layers: some}", "settings.removed=4.values.removed_layers: on "),
    ("blurb", "head_sizes: [384]", "head_sizes: [384, 384]",
     "head=bilstm: {", "settings.head=bilstm: on tokens"),
    ("lewis2020", "search: {grid: {}, models: each, seeds: 5}", "search: null",
     "name: lewis2020", "folds need a search"),
    ("lewis2020", "reported: [gad@fold-2,", "reported: [gad@fold-1,",
     "name: lewis2020", "gad@fold-1 are listed twice"),
    ("lewis2020", "chosen_on: gad@fold-1", "chosen_on: gad@fold-11",
     "gad@fold-11", "there is no specs/datasets/gad@fold-11.yaml"),
    ("lewis2020", "metric: seqeval_0_0_12_f1", "metric: relaxed_f1", "metric: relaxed_f1",
     "overrides.entities.metric: bc2gm has no dev score relaxed_f1; it has entity_f1, seqeval_0_0_12_f1"),
    ("shin2020", "bioasq-factoid@7b-biobert: squad-v1}", "squad-v1: bioasq-factoid@7b}",
     "name: shin2020", "a cycle: bioasq-factoid@7b -> squad-v1 -> bioasq-factoid@7b"),
]  # fmt: skip
"""Protocol, text, its mistake, the line that is named, and the message."""
DATASETS = [
    ("bc2gm", "metric: entity_f1", "metric: micro_f1", "metric",
     "metric of ner (tokens) is one of entity_f1"),
    ("bc2gm", "metric: entity_f1", "metric: relaxed_f1", "metric",
     "seqeval_0_0_12_f1; relaxed_f1 has no dev score to choose weights by; use it as"),
    ("bc2gm", "metric: entity_f1", "metric: word_macro_f1", "metric",
     "of ner (tokens) is one of entity_f1"),
    ("squad-v1", "metric: f1", "metric: exact_match", "metric",
     "of reading (span) is one of f1; exact_match"),
    ("squad-v1", "metric: f1", "metric: mrr", "metric", "metric of reading (span) is one of f1"),
    ("bioasq-factoid@4b", "metric: mrr", "metric: strict_accuracy", "metric",
     "metric of factoid (span) is one of f1, mrr; strict_accuracy has no dev score"),
    ("bc2gm", "task: ner", "task: relation", "task", "task of kind tokens is one of ner, de-ident"),
    ("bc2gm", "  annotated: ", "  annotatd: ", "glosses.annotatd", "unknown key"),
    ("bc2gm", "version: 1", "negative: O\nversion: 1", "negative",
     "of kind sequence have a `negative` label, not entity_f1"),
    ("gad@blurb", 'negative: "0"\n', "", "the file",
     "needs `negative`: the label that it ignores, or null"),
    ("eu-adr@fold-1", "\n    test: {name", "\n    dev: {name", "published",
     "names dev, but the dataset's splits are train"),
    ("squad-v1", "\nexpect:\n", "\nexpect:\n  test: {examples: 1}\n", "expect", "names test, but"),
    ("bc2gm", "conll:read", "conl:read", "converter", "no function read in pubmill/convert/conl.py"),
    ("bc2gm", "conll:read", "conll:raed", "converter", "no function raed in pubmill/convert/conll.py"),
    ("bc2gm", "conll:write", "conll:wriet", "published.writer",
     "no function wriet in pubmill/convert/conll"),
]  # fmt: skip
"""Dataset, text, its mistake, the key whose line is named, and the message."""
UNUSED_WORDS = [
    ("  accuracy: Accuracy\n", "  accuracy: Accuracy\n  mrr: MRR\n", " mrr: ", "'mrr'"),
    ("label: GAD}", "label: GAD, words: {f1: Micro F1}}", "{f1: ", "'f1'"),
    ("  pearson: Pearson\n", "  pearson: Pearson\n  biomedical: PubMed\n", " biomedical: ", "'biomedical'"),
]
WRONG_CELLS = [
    ("{model: pubmedbert-bse, why: x}",
     "there is no specs/models/pubmedbert-bse.yaml; the nearest: pubmedbert-base"),
    ("{dataset: biosess, why: x}", "there is no specs/datasets/biosess.yaml; the nearest: biosses"),
    ("{dataset: bc2gm, why: x}", "bc2gm (tokens, ner) has no pearson, the metric of the table"),
    ("{copied: gu2020/table6, why: x}", "no table of results 'gu2020/table6'; the nearest: gu2020/"),
    ("{copied: gu2020 Table 6, why: x}", "write gu2020/table06 for 'gu2020 Table 6'"),
]  # fmt: skip
WRONG_PROMPTS = [
    ('ner: "{word}"', "templates.ner: {word} stands for nothing; there are {annotated}, "),
    ('nre: "{words}"', "nre: neither a dataset nor a task (classification, "),
    ('ner: ""', "ner"),
    ('ner: {url: "https://example.org/a", place: x, input: "{words}"}', "sha256"),
    (f'ner: {{url: "http://example.org/a", sha256: {"0" * 64}, place: x, input: "{{words}}"}}', "url"),
    (f'ner: {{url: "https://example.org/a", sha256: {"0" * 64}, place: x, input: "{{word}}"}}', "word"),
]

WRONG_RELEASES = [
    ("{id: lab/bert}", "released.revision: this key is required and missing"),
    ("{id: lab/bert, revision: main}", "released.revision: "),
    ("{id: lab/../bert, revision: null}", "released.id: "),
    ("{id: a/b/c, revision: null}", "released.id: "),
    ("{url: 'https://example.org/bert.tar.gz'}", "released.sha256: this key is required and missing"),
    ("{url: 'http://example.org/bert.tar.gz', sha256: null}", "released.url: "),
    ("{url: 'https://example.org/../bert.tar.gz', sha256: null}", "released.url: "),
    ("{url: 'https://example.org/b.zip', sha256: null, id: b}", "released.id: unknown key"),
    ("lab/bert", "released: "),
]


def rows() -> Iterator[tuple[str, str, str, str | None, str]]:
    """Yield the mistakes, those of tables first, which are called by numbers of two digits."""
    file = "tables/tinn2021/table02"
    old = "{model: pubmedelectra-base, label: PubMedELECTRA, cells: {biosses: *improved}}"
    for cell, fault in WRONG_CELLS:
        yield file, old, old.replace("*improved", cell), None if "of the table" in fault else cell, fault
    for old, new, line, word in UNUSED_WORDS:
        yield "tables/gu2020/table03", old, new, line, f"no cell shows the word {word}"
    for name, old, new, fault in sorted(MISTAKES, key=lambda one: not one[0].startswith("tables/")):
        yield name, old, new, None, fault
    for name, old, new, line, fault in PROTOCOLS:
        yield f"protocols/{name}", old, new, line, fault
    for name, old, new, key, fault in DATASETS:
        yield f"datasets/{name}", old, new, f"{key.rpartition('.')[2]}:", fault
    for line, fault in WRONG_PROMPTS:
        yield "prompts/own", 'ner: "{words}"', line, line, fault
    for released, fault in WRONG_RELEASES:
        yield "models/own", "{id: bert, revision: null}", released, "released:", fault


def test_mistakes_are_reported_in_their_files(folder: Path) -> None:
    (folder / "prompts/own.yaml").write_text('name: own\ncitation: none\ntemplates:\n  ner: "{words}"\n')
    model = "name: own\nlowercase: true\nreleased: {id: bert, revision: null}\n"
    (folder / "models/own.yaml").write_text(model)
    check_mistakes(folder, rows())


@pytest.mark.parametrize(("old", "new", "fault"), [
    ("\nmodels:", "\nmodels:\n  nobody: {label: x}\n", "no specs/models/nobody.yaml"),
    ("pubmed-uncased: {size: ", "pubmed-uncased: {size: many, x: ", "size"),
])  # fmt: skip
def test_a_mistake_of_a_scale_is_reported(folder: Path, old: str, new: str, fault: str) -> None:
    replace(folder / "scales/small.yaml", old, new)
    found = mistakes(folder)
    assert "specs/scales/small.yaml:" in found and fault in found


@pytest.mark.parametrize(("model", "place", "first"), [
    (DatasetSpec, ("sources", "train", "File", "sha265"), ["sha256"]),
    (ModelSpec, ("weights", "pretraining", "recipee"), ["recipe"]),
    (ModelSpec, ("method", "recipe", "say"), ["says"]), (KINDS["protocols"], ("final", "seed"), ["seeds"]),
    (FinetuningRecipe, ("learning_rates",), ["learning_rate"]), (None, ("x",), []),
    (DatasetSpec, ("version", "x", "y"), []),
])  # fmt: skip
def test_the_nearest_key_of_the_place_comes_first(
    model: object, place: tuple[str, ...], first: list[str]
) -> None:
    assert nearest_keys(model, place)[:1] == first
