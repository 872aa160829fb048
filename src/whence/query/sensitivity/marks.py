"""Which columns are sensitive: by their tags."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from whence.model.traits import Traits

CATEGORIES: Mapping[str, frozenset[str]] = {
    "pii": frozenset({"pii", "personal", "gdpr"}),
    "phi": frozenset({"phi", "health"}),
    "financial": frozenset({"financial", "pci"}),
    "sensitive": frozenset({"sensitive", "confidential"}),
}
"""The categories of columns, and the words in a tag that mark them."""
_DENIALS = frozenset({"false", "no", "none", "0"})
_WORD = re.compile(r"[^\W_]+")


WRITTEN = "whence_"
"""The keys of the tags that Whence writes into warehouses begin with this, in any letter case."""


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    """A category of a column. `of_dataset`: the tag is on its dataset, so that any of its columns may be meant."""

    category: str
    of_dataset: bool


def marks_of(traits: Traits, field: str, tags: Sequence[str]) -> frozenset[Mark]:
    """The categories of a column of a dataset with these traits.

    `tags`: keys, or `key=value`; they are the categories then. Empty: every tag with a word of `CATEGORIES`. A tag
    whose value is `false`, `no`, `none` or `0` marks nothing. A column's own tag counts before that of its dataset.
    """
    own, of_dataset = set[str](), set[str]()
    for key, value, on in traits.tags:
        # A tag that Whence wrote into a warehouse comes back with the next export: it follows from labels.
        if not is_written_here(key) and value.casefold() not in _DENIALS and on in {"", field}:
            (own if on else of_dataset).update(_categories(key, value, tags))
    return frozenset({Mark(one, False) for one in own} | {Mark(one, True) for one in of_dataset - own})


def is_written_here(key: str) -> bool:
    """Whether Whence writes tags with this key into warehouses."""
    return key.casefold().startswith(WRITTEN)


def _categories(key: str, value: str, tags: Sequence[str]) -> Iterable[str]:
    if tags:
        return {key, f"{key}={value}"} & set(tags)
    return set(categories_in(f"{key} {value}"))


def categories_in(text: str) -> Iterator[str]:
    """The categories that the words of a tag mark."""
    words = {word.casefold() for word in _WORD.findall(text)}
    return (category for category, marks in CATEGORIES.items() if words & marks)
