"""The grammar: sentences about a topic, as tokens that know their mention.

Some templates reveal the kind of a name ("patients with ..."), others fit any kind ("the role of ..."); `%`
marks a slot. Tokens are split at punctuation, as in the datasets.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tests.world.dice import Dice
from tests.world.lexicon import CHEMICAL, DISEASE, GENE, ORGANISM, TECHNIQUE, TISSUE, Concept, Lexicon

OUTSIDE = "O"


@dataclass(frozen=True)
class Token:
    """A word or punctuation mark; `label` is O, B-Chemical, I-Disease ..."""

    text: str
    label: str = OUTSIDE


Sentence = list[Token]

TYPED = {
    CHEMICAL: [
        "A single dose of %C was given orally to %O .", "Administration of %C or %C lowered plasma glucose .",
        "The antagonist %C blocked the effects of %C in %O .",
        "Plasma concentrations of %C were determined by %M .",
        "%C is metabolized by the %T and excreted within %N hours .",
        "Oral %C was given at a dose of %N mg per day .",
        "Solutions of %C %C mixtures were stored at 37 degrees C .",
        "The toxicity of %C limits its use in %D .",
        "Pretreatment with %C prevented the toxic effects of %C .",
        "Intravenous injection of %C or placebo lowered the pressure .",
        "%C - induced %D was dose dependent .", "Cells were incubated with %N mg of %C for %N hours .",
    ],
    DISEASE: ["%N patients with %D were enrolled after informed consent .",
     "Diagnosis of %D was delayed in %A patients .", "The risk of %D was higher in smokers ( p < 0.0%N ) .",
     "Relapse of %D occurred in %N patients during follow - up .",
     "Symptoms of %D , such as fever and %D , improved after surgery .",
     "Patients suffering from %D died of %D within %N months .",
     "Prevalence of %D in children was %N per 1000 .", "The overlap of %D %D phenotypes was %A .",
     "%D is an inherited disorder of the %T in children .",
     "Patients with %D received %C daily for %N weeks .", "Survival of children with %D or %D was %A .",
     "A family history of %D was found in %N patients ."],
    GENE: ["Overexpression of %G in %T cells increased phosphorylation of %G .",
     "The %G gene encodes a protein that binds to the promoter of %G .",
     "Transcription of %G is activated by %G in %T cells .",
     "Knockdown of %G by siRNA abolished binding of %G to DNA .",
     "%G phosphorylates %G and regulates transcription .",
     "The crystal structure of %G was solved at %N resolution .", "%G %G complexes bind DNA in %T cells .",
     "Cloning of the %G cDNA revealed homology to %G .", "Expression of %G mRNA was induced in %T cells .",
     "Mutations in the promoter of %G cause %D .", "Binding of %C to %G inhibits transcription .",
     "Deletion of the %G domain abolished phosphorylation of %G ."],
}  # fmt: skip
"""Templates whose words reveal the kind of each name, by the subject of the papers that use them."""

AMBIGUOUS = [
    "The role of %E in %E remains %A .", "We investigated whether %E is related to %E .",
    "%E was associated with %E ( p < 0.0%N ) .", "Little is known about %E and %E .",
    "These findings suggest a link between %E and %E .", "%E has been studied in %O for %N years .",
    "Here we review %E , %E and %E .", "In contrast , %E did not affect %E .",
    "We also examined %E in the %T .", "Both %E and %E were %A in this study .",
    "%E was more frequent than %E in %O .", "The effect of %E on %E was %A .",
    "Our data confirm the importance of %E .", "Further work on %E is needed .",
    "%E , but not %E , was detected by %M .", "No relation between %E and %E was found .",
]  # fmt: skip
"""Templates that fit every name, labelled or not."""

PLAIN = [
    "Results were analyzed by %M .", "The receptor and the syndrome were described in %O .",
    "Samples of %T were obtained from %O and frozen .",
    "Further studies are needed to confirm these %A results .",
    "The %M assay was performed on %T sections ( n = %N ) .",
    "There was no difference between the two groups of %O .", "%N of %N samples were %A by %M .",
    "The sulfate was removed before %M .", "The %T of %O was examined by %M and compared with controls .",
    "All experiments were repeated %N times .",
]  # fmt: skip
"""Templates without a labelled name."""

_SLOTS = {"C": CHEMICAL, "D": DISEASE, "G": GENE, "T": TISSUE, "O": ORGANISM, "M": TECHNIQUE}
_FORMS = {
    CHEMICAL: ["% hydrochloride", "% sulfate", "alpha - %", "sodium %"],
    DISEASE: ["chronic % syndrome", "familial %", "% type 2", "% disease"],
    GENE: ["% alpha receptor", "% kinase", "% - 2", "human % protein"],
}
_ADJECTIVES = "unclear high low similar positive negative large small normal unknown rare common".split()
_NO_SPACE_BEFORE = set(".,;:)-/")
_NO_SPACE_AFTER = set("(-/")


def _label(words: Iterable[str], kind: str) -> Sentence:
    return [Token(word, f"{'I' if place else 'B'}-{kind}") for place, word in enumerate(words)]


def mention(dice: Dice, concept: Concept) -> Sentence:
    """Return a way of naming a concept: bare, in a longer form, abbreviated or with its abbreviation."""
    if concept.kind not in _FORMS:
        return [Token(concept.name)]
    draw = dice.below(20)
    if draw < 3:
        return _label([concept.abbreviation], concept.kind)
    if draw < 7:
        words = dice.pick(_FORMS[concept.kind]).replace("%", concept.name).split()
        return _label(words, concept.kind)
    tokens = _label([concept.name], concept.kind)
    if draw < 9:
        short = _label([concept.abbreviation], concept.kind)
        tokens += [Token("("), *short, Token(")")]
    return tokens


def _fill(dice: Dice, word: str, topic: Lexicon) -> Sentence:
    prefix, slot = word.split("%", 1)
    if slot == "N":
        return [Token(prefix + str(dice.between(1, 9 if prefix else 60)))]
    if slot == "A":
        return [Token(dice.pick(_ADJECTIVES))]
    if slot == "E":
        kinds = (CHEMICAL, DISEASE, GENE) if dice.chance(0.85) else (TISSUE, ORGANISM, TECHNIQUE)
        return mention(dice, dice.pick([concept for kind in kinds for concept in topic[kind]]))
    return mention(dice, dice.pick(topic[_SLOTS[slot]]))


def sentence(dice: Dice, topic: Lexicon, templates: Sequence[str]) -> Sentence:
    """Return a sentence: a template with slots filled from the topic, beginning with a capital."""
    tokens: Sentence = []
    for word in dice.pick(templates).split():
        tokens += _fill(dice, word, topic) if "%" in word else [Token(word)]
    first = tokens[0]
    return [Token(first.text[0].upper() + first.text[1:], first.label), *tokens[1:]]


def choose_templates(dice: Dice, subject: str, typed: float, ambiguous: float) -> list[str]:
    """Choose a family of templates: subject or ambiguous with these probabilities, otherwise plain."""
    draw = dice.below(1000) / 1000
    return TYPED[subject] if draw < typed else AMBIGUOUS if draw < typed + ambiguous else PLAIN


def running_text(tokens: Sentence) -> str:
    """Return the sentence as printed: no space around hyphens, before commas, inside parentheses."""
    text = ""
    for token in tokens:
        if text and token.text not in _NO_SPACE_BEFORE and text[-1] not in _NO_SPACE_AFTER:
            text += " "
        text += token.text
    return text
