"""The losses of each objective: masked language modelling, the base of all learners, and the others.

A `Learner` holds the exported model and the networks trained or used beside it. Given a micro-batch (see
`collate` in `pubmill.pretraining.micro_batches`), it returns the summed loss of each of its `terms`, and the
number of right answers where there is one. The whole loss is the weighted sum of the terms' means
over the *whole* batch, which only the engine knows.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from pubmill.errors import PubmillError
from pubmill.pretraining.architectures import build_generator
from pubmill.pretraining.cross_entropy import cross_entropy
from pubmill.pretraining.forward import embed, encode, masked_lm_logits, pair_logits
from pubmill.pretraining.instances import UNLABELLED
from pubmill.pretraining.micro_batches import Part
from pubmill.pretraining.unpadded import SequenceBounds
from pubmill.recipes import PretrainingRecipe
from pubmill.recipes.objectives import PAIRS, Term, terms_of
from pubmill.storage.checksums import check_folder


class Learner(nn.Module):
    """A masked language model, with or without pairs (Devlin et al. 2019; Lan et al. 2020). `model` is one of
    transformers' with the heads of the objective."""

    slope_scale: float = 1.0
    """Factor of gradients inside `forward` that keeps them from underflowing in float16."""

    def __init__(self, model: Any, recipe: PretrainingRecipe, teacher: Path | None = None) -> None:
        """Make the learner of a recipe around its model; `teacher` is a model folder."""
        super().__init__()
        self.model, self.objective, self.recompute = model, recipe.objective, recipe.recompute_activations
        self.pairs = PAIRS.get(recipe.objective.pairs)

    @property
    def terms(self) -> tuple[Term, ...]:
        """The losses that are summed."""
        return terms_of(self.objective)

    @property
    def networks(self) -> dict[str, Any]:
        """The models that process a batch, named as in the `passes` of the objective."""
        return {"model": self.model}

    def forward(self, part: Part) -> dict[str, Tensor]:
        """Return sums over a micro-batch: NAME_loss of each term, NAME_correct of classifications."""
        vectors = self.encode(self.model, part.ids, part)
        return self.masked_lm(self.logits(vectors, part), part) | self.pair_losses(vectors, part)

    def evaluate(self, part: Part) -> dict[str, Tensor]:
        """Return the sums for text that is not trained on."""
        return Learner.forward(self, part)

    def encode(self, model: Any, ids: Tensor, part: Part) -> Tensor:
        """The vectors at [CLS] of each sequence, then at the masked positions."""
        embedded = embed(model, ids, part.segments, part.positions, part.compiled)
        return encode(model, embedded, part.mask, part.rows, self.recompute, part.causal)

    def logits(self, vectors: Tensor, part: Part) -> Tensor:
        """Predictions at the masked positions."""
        return masked_lm_logits(self.model, vectors[len(part.pair_labels) :])

    def masked_lm(self, logits: Tensor, part: Part) -> dict[str, Tensor]:
        """Return the summed loss of the masked tokens, and the number of right predictions."""
        loss, right = cross_entropy(logits, part.labels, part.compiled)
        return {"mlm_loss": loss, "mlm_correct": right}

    def pair_losses(self, vectors: Tensor, part: Part) -> dict[str, Tensor]:
        """Return the sums of pairs; the head is always used, so that every process has its gradients."""
        if self.pairs is None:
            return {}
        choices = pair_logits(self.model, vectors[: len(part.pair_labels)]).float()
        right = part.pair_labels
        loss = F.cross_entropy(choices, right, reduction="sum", ignore_index=UNLABELLED)
        return {f"{self.pairs}_loss": loss, f"{self.pairs}_correct": (choices.argmax(-1) == right).sum()}


def divergence(logits: Tensor, target: Tensor, temperature: float = 1.0) -> Tensor:
    """Return the sum of KL(target || logits) over all positions; both arguments are logits."""
    return F.kl_div(
        F.log_softmax(logits / temperature, -1),
        F.log_softmax(target / temperature, -1),
        reduction="sum",
        log_target=True,
    )


class CausalLearner(Learner):
    """Prediction of next tokens in some or all sequences, see `pubmill.recipes.objectives.Causal`."""

    def forward(self, part: Part) -> dict[str, Tensor]:
        vectors, count = self.encode(self.model, part.ids, part), len(part.pair_labels)
        ahead, sums = reads_ahead(part), dict[str, Tensor]()
        for term in self.terms:
            (chosen,) = (ahead if term.per == "causal" else ~ahead).nonzero(as_tuple=True)
            logits = masked_lm_logits(self.model, vectors[count:][chosen])
            loss, right = cross_entropy(logits, part.labels[chosen], part.compiled)
            sums |= {f"{term.name}_loss": loss, f"{term.name}_correct": right}
        return sums

    def evaluate(self, part: Part) -> dict[str, Tensor]:
        return self.forward(part)


def reads_ahead(part: Part) -> Tensor:
    """Return which labels of a micro-batch are next tokens."""
    places = part.rows[len(part.pair_labels) :]
    if isinstance(part.mask, SequenceBounds):
        return places < part.mask.causal[1]
    if part.causal is None:
        return torch.zeros_like(places, dtype=torch.bool)
    return part.causal[places // part.ids.shape[1]]


class AdversarialLearner(Learner):
    """A masked language model with virtual adversarial training, see `pubmill.recipes.Adversarial`."""

    def forward(self, part: Part) -> dict[str, Tensor]:
        # the same units are dropped in each pass, as else dropout would drown noise as small as this
        torch.manual_seed(int(torch.randint(2**62, ()).item()))
        embedded = embed(self.model, part.ids, part.segments)
        state = torch.cuda.get_rng_state(embedded.device) if embedded.is_cuda else torch.get_rng_state()
        vectors = encode(self.model, embedded, part.mask, part.rows, self.recompute)
        logits = self.logits(vectors, part).float()
        noise = self._noise(embedded.detach(), logits.detach(), part, state)
        moved = self._predict(embedded.detach() + noise, part, state)
        loss = divergence(moved, logits.detach()) + divergence(logits, moved.detach())
        return self.masked_lm(logits, part) | self.pair_losses(vectors, part) | {"adversarial_loss": loss}

    def _predict(self, embedded: Tensor, part: Part, state: Tensor) -> Tensor:
        if embedded.is_cuda:
            torch.cuda.set_rng_state(state, embedded.device)
        else:
            torch.set_rng_state(state)
        vectors = encode(self.model, embedded, part.mask, part.rows, self.recompute)
        return self.logits(vectors, part).float()

    def _noise(self, embedded: Tensor, logits: Tensor, part: Part, state: Tensor) -> Tensor:
        """Return the embeddings' change that changes predictions most; the gradient's scale cancels out."""
        wanted = self.objective.adversarial
        assert wanted is not None
        noise = (torch.randn_like(embedded) * wanted.noise).requires_grad_()
        change = divergence(self._predict(embedded + noise, part, state), logits)
        (slope,) = torch.autograd.grad(change, noise, torch.full_like(change, self.slope_scale))
        largest = slope.abs().amax(-1, keepdim=True)
        return wanted.radius * slope / largest.clamp_min(torch.finfo(slope.dtype).tiny)


class ReplacedTokenDetection(Learner):
    """ELECTRA: a generator fills in the masks, the model predicts for each token whether it was replaced
    (Clark et al. 2020, section 3). If the generator fills in the original token, it was not replaced."""

    def __init__(self, model: Any, recipe: PretrainingRecipe, teacher: Path | None = None) -> None:
        super().__init__(model, recipe)
        assert recipe.objective.generator is not None
        self.generator = build_generator(recipe.objective.generator, model, recipe.seed)

    @property
    def networks(self) -> dict[str, Any]:
        return {"model": self.model, "generator": self.generator}

    def forward(self, part: Part) -> dict[str, Tensor]:
        vectors = self.encode(self.generator, part.ids, part)
        logits = masked_lm_logits(self.generator, vectors[len(part.pair_labels) :]).float()
        places = part.rows[len(part.pair_labels) :]
        ids, replaced = part.ids.flatten().clone(), torch.zeros_like(part.ids.flatten())
        drawn = sample(logits.detach()).to(ids.dtype)
        ids[places], replaced[places] = drawn, (drawn != part.labels).to(replaced.dtype)
        scores, right = self._scores(ids.view_as(part.ids), part).float(), replaced[part.present]
        return self.masked_lm(logits, part) | {
            "rtd_loss": F.binary_cross_entropy_with_logits(scores, right.float(), reduction="sum"),
            "rtd_correct": ((scores > 0) == right.bool()).sum(),
        }

    def _scores(self, ids: Tensor, part: Part) -> Tensor:
        """Return the logit (tokens,) that each token was replaced."""
        embedded = embed(self.model, ids, part.segments, part.positions, part.compiled)
        # Without padding, almost all positions are tokens, and their number varies.
        flat = isinstance(part.mask, SequenceBounds)
        hidden = encode(self.model, embedded, part.mask, None if flat else part.present, self.recompute)
        logits: Tensor = self.model.discriminator_predictions(hidden)
        return logits.flatten()[part.present] if flat else logits

    def evaluate(self, part: Part) -> dict[str, Tensor]:
        return self.forward(part)


def sample(logits: Tensor) -> Tensor:
    """Draw ids from the softmax of logits (positions, vocabulary), by the Gumbel-max trick."""
    return (logits - torch.empty_like(logits).exponential_().log()).argmax(-1)


class Distilled(Learner):
    """A student that also learns from a teacher, which is not trained (lewis2020 section 7.1). The divergence
    is multiplied by the square of the temperature, by which its gradients are smaller (Hinton et al. 2015).
    It and the cosine distance are taken at the masked positions, or at all tokens as in DistilBERT's program
    (Sanh et al. 2020; its `restrict_ce_to_mask` restricts only the divergence)."""

    def __init__(self, model: Any, recipe: PretrainingRecipe, teacher: Path | None = None) -> None:
        super().__init__(model, recipe)
        assert recipe.objective.distillation is not None
        self.wanted = recipe.objective.distillation
        if teacher is None:
            raise PubmillError("the recipe is a distillation: it needs --teacher, a model folder")
        # not a part of this module: it is neither trained nor saved
        self._teacher = [load_teacher(teacher, model.config.vocab_size).eval().requires_grad_(False)]
        if self.wanted.cosine:
            self.projection = nn.Linear(model.config.hidden_size, self.teacher.config.hidden_size)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Move the teacher too where this module is moved (`to` and `cuda` end here)."""
        self.teacher._apply(fn)
        return super()._apply(fn, recurse)  # type: ignore[no-untyped-call,no-any-return]

    @property
    def teacher(self) -> Any:
        """The model whose predictions are learnt."""
        return self._teacher[0]

    @property
    def networks(self) -> dict[str, Any]:
        return {"model": self.model, "teacher": self.teacher}

    def forward(self, part: Part) -> dict[str, Tensor]:
        teacher, count = self.teacher, len(part.pair_labels)
        compared, masked = self._compared_positions(part)
        with torch.no_grad():
            theirs = self.encode(teacher, part.ids, compared)[count:]
            target = masked_lm_logits(teacher, theirs).float()
        vectors = self.encode(self.model, part.ids, compared)
        logits = self.logits(vectors, part).float()
        sums = self.masked_lm(logits[masked], part) | self.pair_losses(vectors, part)
        heat = self.wanted.temperature
        sums["kl_loss"] = divergence(logits, target, heat) * heat**2
        if self.wanted.cosine:
            projected = self.projection(vectors[count:]).float()
            sums["cosine_loss"] = (1 - F.cosine_similarity(projected, theirs.float(), dim=-1)).sum()
        return sums

    def _compared_positions(self, part: Part) -> tuple[Part, Tensor | slice]:
        """Return the part with the compared positions as its `rows`, and which of them are masked. The rows
        of [CLS] come first and are not counted."""
        if self.wanted.positions == "masked":
            return part, slice(None)
        first, masked = part.rows.tensor_split([len(part.pair_labels)])
        rows = torch.cat([first, part.present])
        return replace(part, rows=rows), torch.searchsorted(part.present, masked)


def load_teacher(folder: Path, vocab_size: int) -> Any:
    """Return a masked language model of any size with the student's vocabulary."""
    from transformers import AutoModelForMaskedLM

    check_folder(folder)
    model = AutoModelForMaskedLM.from_pretrained(
        folder, local_files_only=True, trust_remote_code=False, use_safetensors=True, dtype=torch.float32
    )
    if model.config.vocab_size != vocab_size:
        raise PubmillError(
            f"{folder}: the teacher has a vocabulary of {model.config.vocab_size}, the student {vocab_size}; "
            "they must have the same"
        )
    return model
