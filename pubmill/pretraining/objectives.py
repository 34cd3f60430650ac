"""What a model learns from a batch: the losses of each objective, as sums over what they are means of.

A `Learner` holds the model that is exported, with whatever is trained or asked beside it. Given a micro-batch
(see `collate` in `pubmill.pretraining.batches`), it returns for each of its `terms` the summed loss, and the
number of right answers where there is such a thing. The whole loss is the weighted sum of the terms' means
over the *whole* batch, which only the engine knows.
"""

from dataclasses import dataclass
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from pubmill.pretraining.batches import Part
from pubmill.pretraining.cross_entropy import cross_entropy
from pubmill.pretraining.forward import embed, encode, masked_lm_logits, pair_logits, replaced_logits
from pubmill.pretraining.instances import UNLABELLED
from pubmill.recipes import Objective

Per = Literal["masked", "pairs", "tokens"]
PAIRS = {"next-sentence": "nsp", "sentence-order": "sop"}


@dataclass(frozen=True)
class Term:
    """A loss: the mean over the masked tokens, the labelled pairs or all tokens, times `weight`."""

    name: str
    weight: float
    per: Per


class Learner(nn.Module):
    """A masked language model, with or without pairs (Devlin et al. 2019; Lan et al. 2020).

    `model` is one of transformers' with the heads of the objective.
    """

    def __init__(self, model: Any, objective: Objective, recompute: bool = False) -> None:
        super().__init__()
        self.model, self.objective, self.recompute = model, objective, recompute
        self.pairs = PAIRS.get(objective.pairs)

    @property
    def terms(self) -> tuple[Term, ...]:
        """What the loss is made of."""
        mlm = Term("mlm", 1.0, "masked")
        return (mlm, Term(self.pairs, 1.0, "pairs")) if self.pairs else (mlm,)

    def forward(self, part: Part) -> dict[str, Tensor]:
        """Sums over a micro-batch: NAME_loss of each term, NAME_correct of those that choose."""
        vectors = self.encode(self.model, part.ids, part)
        return self.masked_lm(self.logits(vectors, part), part) | self.told_pairs(vectors, part)

    def judge(self, part: Part) -> dict[str, Tensor]:
        """The sums by which it is judged on text that it doesn't learn from."""
        return Learner.forward(self, part)

    def encode(self, model: Any, ids: Tensor, part: Part) -> Tensor:
        """The vectors at [CLS] of each sequence, then at the masked positions."""
        return encode(model, embed(model, ids, part.segments), part.mask, part.rows, self.recompute)

    def logits(self, vectors: Tensor, part: Part) -> Tensor:
        """Predictions at the masked positions."""
        return masked_lm_logits(self.model, vectors[len(part.pair_labels) :])

    def masked_lm(self, logits: Tensor, part: Part) -> dict[str, Tensor]:
        """The loss of the masked tokens."""
        loss, right = cross_entropy(logits, part.labels)
        return {"mlm_loss": loss, "mlm_correct": right}

    def told_pairs(self, vectors: Tensor, part: Part) -> dict[str, Tensor]:
        """The loss of the pairs; the head is always used, so that every process has its gradients."""
        if self.pairs is None:
            return {}
        choices = pair_logits(self.model, vectors[: len(part.pair_labels)]).float()
        right = part.pair_labels
        loss = F.cross_entropy(choices, right, reduction="sum", ignore_index=UNLABELLED)
        return {f"{self.pairs}_loss": loss, f"{self.pairs}_correct": (choices.argmax(-1) == right).sum()}


class ReplacedTokenDetection(Learner):
    """ELECTRA: a generator fills in the masks, the model tells for each token whether it is the text's own
    (Clark et al. 2020, section 3). A token that the generator guesses right counts as the text's own."""

    def __init__(self, model: Any, generator: Any, objective: Objective, recompute: bool = False) -> None:
        super().__init__(model, objective, recompute)
        self.generator = generator

    @property
    def terms(self) -> tuple[Term, ...]:
        assert self.objective.generator is not None
        return Term("mlm", 1.0, "masked"), Term("rtd", self.objective.generator.weight, "tokens")

    def forward(self, part: Part) -> dict[str, Tensor]:
        vectors = self.encode(self.generator, part.ids, part)
        logits = masked_lm_logits(self.generator, vectors[len(part.pair_labels) :]).float()
        places = part.rows[len(part.pair_labels) :]
        ids, replaced = part.ids.flatten().clone(), torch.zeros_like(part.ids.flatten())
        drawn = sample(logits.detach())
        ids[places], replaced[places] = drawn, (drawn != part.labels).to(replaced.dtype)
        hidden = encode(
            self.model,
            embed(self.model, ids.view_as(part.ids), part.segments),
            part.mask,
            part.present,
            self.recompute,
        )
        told, right = replaced_logits(self.model, hidden).float(), replaced[part.present]
        return self.masked_lm(logits, part) | {
            "rtd_loss": F.binary_cross_entropy_with_logits(told, right.float(), reduction="sum"),
            "rtd_correct": ((told > 0) == right.bool()).sum(),
        }

    def judge(self, part: Part) -> dict[str, Tensor]:
        return self.forward(part)


def sample(logits: Tensor) -> Tensor:
    """Ids drawn from the softmax of logits (positions, vocabulary), by the Gumbel-max trick."""
    return (logits - torch.empty_like(logits).exponential_().log()).argmax(-1)


class AdversarialLearner(Learner):
    """With virtual adversarial training on the embeddings, see `pubmill.recipes.Adversarial`."""

    @property
    def terms(self) -> tuple[Term, ...]:
        assert self.objective.adversarial is not None
        return *super().terms, Term("adversarial", self.objective.adversarial.weight, "masked")

    def forward(self, part: Part) -> dict[str, Tensor]:
        # the same units are dropped in each pass, as else dropout would drown noise as small as this
        seed = int(torch.randint(2**62, ()).item())
        torch.manual_seed(seed)
        embedded = embed(self.model, part.ids, part.segments)
        state = _random_state(embedded)
        vectors = encode(self.model, embedded, part.mask, part.rows, self.recompute)
        logits = self.logits(vectors, part).float()
        noise = self._noise(embedded.detach(), logits.detach(), part, state)
        moved = self._predict(embedded.detach() + noise, part, state)
        loss = divergence(moved, logits.detach()) + divergence(logits, moved.detach())
        return self.masked_lm(logits, part) | self.told_pairs(vectors, part) | {"adversarial_loss": loss}

    def _predict(self, embedded: Tensor, part: Part, state: Tensor) -> Tensor:
        _set_random_state(embedded, state)
        vectors = encode(self.model, embedded, part.mask, part.rows, self.recompute)
        return self.logits(vectors, part).float()

    def _noise(self, embedded: Tensor, logits: Tensor, part: Part, state: Tensor) -> Tensor:
        """Where the predictions change most, from the embeddings."""
        wanted = self.objective.adversarial
        assert wanted is not None
        noise = (torch.randn_like(embedded) * wanted.noise).requires_grad_()
        (slope,) = torch.autograd.grad(
            divergence(self._predict(embedded + noise, part, state), logits), noise
        )
        largest = slope.abs().amax(-1, keepdim=True)
        return wanted.radius * slope / largest.clamp_min(torch.finfo(slope.dtype).tiny)


def _random_state(like: Tensor) -> Tensor:
    return torch.cuda.get_rng_state(like.device) if like.is_cuda else torch.get_rng_state()


def _set_random_state(like: Tensor, state: Tensor) -> None:
    if like.is_cuda:
        torch.cuda.set_rng_state(state, like.device)
    else:
        torch.set_rng_state(state)


def divergence(logits: Tensor, target: Tensor, temperature: float = 1.0) -> Tensor:
    """The Kullback-Leibler divergence from the distributions of `target` to those of `logits`, summed."""
    return F.kl_div(
        F.log_softmax(logits / temperature, -1),
        F.log_softmax(target / temperature, -1),
        reduction="sum",
        log_target=True,
    )


class Distilled(Learner):
    """A student that also learns from a teacher, which stays as it is (lewis2020 section 7.1).

    The divergence is taken at the masked positions and, as gradients at a temperature are smaller by its
    square, times that (Hinton et al. 2015).
    """

    def __init__(self, model: Any, teacher: Any, objective: Objective, recompute: bool = False) -> None:
        super().__init__(model, objective, recompute)
        assert objective.distillation is not None
        self.wanted = objective.distillation
        # not a part of this module: it is neither trained nor saved
        self._teacher = [teacher.eval().requires_grad_(False)]
        if self.wanted.cosine:
            self.projection = nn.Linear(model.config.hidden_size, teacher.config.hidden_size)

    @property
    def teacher(self) -> Any:
        """The model that is learnt from."""
        return self._teacher[0]

    @property
    def terms(self) -> tuple[Term, ...]:
        wanted = self.wanted
        _, *pairs = super().terms
        terms = (Term("mlm", wanted.masked_lm, "masked"), *pairs, Term("kl", wanted.divergence, "masked"))
        return (*terms, Term("cosine", wanted.cosine, "masked")) if wanted.cosine else terms

    def forward(self, part: Part) -> dict[str, Tensor]:
        teacher, count = self.teacher, len(part.pair_labels)
        with torch.no_grad():
            theirs = self.encode(teacher, part.ids, part)[count:]
            target = masked_lm_logits(teacher, theirs).float()
        vectors = self.encode(self.model, part.ids, part)
        logits = self.logits(vectors, part).float()
        found = self.masked_lm(logits, part) | self.told_pairs(vectors, part)
        heat = self.wanted.temperature
        found["kl_loss"] = divergence(logits, target, heat) * heat**2
        if self.wanted.cosine:
            projected = self.projection(vectors[count:]).float()
            found["cosine_loss"] = (1 - F.cosine_similarity(projected, theirs.float(), dim=-1)).sum()
        return found
