"""Labels in the text of a search: `label:pii>=partial orders`, `label:pii=full`."""

import re
from dataclasses import dataclass

from whence.errors import QuestionError
from whence.model.sensitivity import Grade
from whence.query.sensitivity.marks import CATEGORIES

_TERM = re.compile(r"label:(?P<category>[^\s<>=]*)(?:(?P<how>>?=)(?P<grade>\S*))?(?P<rest>\S*)", re.IGNORECASE)
_GRADES: dict[str, Grade] = {one.word: one for one in Grade if one is not Grade.NONE}


@dataclass(frozen=True, slots=True)
class LabelTerm:
    """Nodes that show sensitive data of a category, of at least a grade, and of at most another one."""

    category: str
    at_least: Grade
    at_most: Grade = Grade.FULL


def split_label_terms(text: str) -> tuple[str, tuple[LabelTerm, ...]]:
    """The words of a search without its label terms, and the terms: `label:CATEGORY`, `label:CATEGORY>=GRADE`,
    or `label:CATEGORY=GRADE`.

    Without a grade any counts. Raises QuestionError for a category or grade that does not exist: taken as words,
    it would find nothing and look like the answer "no sensitive data".
    """
    parts = text.split()
    terms = [found for part in parts if (found := _TERM.fullmatch(part))]
    words = [part for part in parts if not _TERM.fullmatch(part)]
    return " ".join(words) if terms else text, tuple(dict.fromkeys(map(_term, terms)))


def _term(found: re.Match[str]) -> LabelTerm:
    category, grade = found["category"].casefold(), found["grade"]
    if found["rest"]:
        raise QuestionError("q", f"write label:CATEGORY>=GRADE, such as label:pii>=partial, not {found[0]!r}")
    if category not in CATEGORIES:
        raise QuestionError("q", f"no category {category!r} of labels; there are {', '.join(CATEGORIES)}")
    if grade is None:
        return LabelTerm(category, Grade.INFLUENCED)
    if grade.casefold() not in _GRADES:
        raise QuestionError("q", f"no grade {grade!r}; there are {', '.join(_GRADES)}")
    named = _GRADES[grade.casefold()]
    return LabelTerm(category, named) if found["how"] == ">=" else LabelTerm(category, named, named)
