"""Distillation: learning from a teacher's predictions as well as from the text."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from pubmill.errors import PubmillError
from pubmill.pretraining.forward import masked_lm_logits
from pubmill.pretraining.micro_batches import Part
from pubmill.pretraining.objectives.learner import Learner, divergence
from pubmill.recipes import Objective, PretrainingRecipe


class Distilled(Learner):
    """A student that also learns from a teacher, which is not trained (lewis2020 section 7.1).

    The divergence is multiplied by the square of the temperature, by which its gradients are smaller (Hinton
    et al. 2015). It and the cosine distance are taken at the masked positions, or at all tokens as in
    DistilBERT's program (Sanh et al. 2020; its `restrict_ce_to_mask` restricts only the divergence).
    """

    def __init__(self, model: Any, teacher: Any, objective: Objective, recompute: bool = False) -> None:
        super().__init__(model, objective, recompute)
        assert objective.distillation is not None
        self.wanted = objective.distillation
        # not a part of this module: it is neither trained nor saved
        self._teacher = [teacher.eval().requires_grad_(False)]
        if self.wanted.cosine:
            self.projection = nn.Linear(model.config.hidden_size, teacher.config.hidden_size)

    @classmethod
    def build(cls, model: Any, recipe: PretrainingRecipe, teacher: Path | None) -> Self:
        if teacher is None:
            raise PubmillError("the recipe is a distillation: it needs --teacher, a model folder")
        theirs = load_teacher(teacher, model.config.vocab_size)
        return cls(model, theirs, recipe.objective, recipe.recompute_activations)

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

    model = AutoModelForMaskedLM.from_pretrained(
        folder, local_files_only=True, trust_remote_code=False, use_safetensors=True, dtype=torch.float32
    )
    if model.config.vocab_size != vocab_size:
        raise PubmillError(
            f"{folder}: the teacher has a vocabulary of {model.config.vocab_size}, the student {vocab_size}; "
            "they must have the same"
        )
    return model
