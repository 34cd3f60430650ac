"""Mistakes in a copy of the real specs: each is reported in its file, with what was expected."""

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


def test_mistakes_are_reported_in_their_files(folder: Path) -> None:
    check_mistakes(folder, ((file, old, new, None, fault) for file, old, new, fault in MISTAKES))


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("\nmodels:", "\nmodels:\n  nobody: {label: x}\n", "no specs/models/nobody.yaml"),
        ("pubmed-uncased: {size: ", "pubmed-uncased: {size: many, x: ", "size"),
    ],
)
def test_a_mistake_of_a_scale_is_reported(folder: Path, old: str, new: str, fault: str) -> None:
    replace(folder / "scales/small.yaml", old, new)
    found = mistakes(folder)
    assert "specs/scales/small.yaml:" in found and fault in found


@pytest.mark.parametrize(
    ("model", "place", "first"),
    [
        (DatasetSpec, ("sources", "train", "File", "sha265"), ["sha256"]),
        (ModelSpec, ("weights", "pretraining", "recipee"), ["recipe"]),
        (ModelSpec, ("method", "recipe", "say"), ["says"]),
        (KINDS["protocols"], ("final", "seed"), ["seeds"]),
        (FinetuningRecipe, ("learning_rates",), ["learning_rate"]),
        (None, ("x",), []),
        (DatasetSpec, ("version", "x", "y"), []),
    ],
)
def test_the_nearest_key_of_the_place_comes_first(
    model: object, place: tuple[str, ...], first: list[str]
) -> None:
    assert nearest_keys(model, place)[:1] == first
