"""What happens to a value on a way: one text for each step."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from whence.model.names import Node
from whence.query.answers.transformations import Transformation
from whence.query.answers.values import dataset_of

Transformations = Mapping[tuple[Node, Node], Sequence[Transformation]]
"""By which transformations values pass between two nodes."""
COPIED, NOT_REPORTED = "identity", "not reported"
_MOST_TEXTS = 3


def describe_steps(path: Sequence[Node], known: Transformations) -> tuple[str, ...]:
    """For each step of a way the expressions that make the value, or else their kind (`identity`, `filter`)."""
    return tuple(_describe(known.get(ends) or _of_dataset(ends, known)) for ends in pairwise(path))


def _of_dataset(ends: tuple[Node, Node], known: Transformations) -> Sequence[Transformation]:
    """Those of the whole dataset of a column. Between a dataset and its own column there are none."""
    whole = dataset_of(ends[0])
    return known.get((whole, ends[1]), ()) if whole is not None else ()


def _describe(several: Iterable[Transformation]) -> str:
    texts = list(dict.fromkeys(_text(one) for one in several))
    more = f" and {len(texts) - _MOST_TEXTS:,} more" if len(texts) > _MOST_TEXTS else ""
    return ", or ".join(texts[:_MOST_TEXTS]) + more if texts else NOT_REPORTED


def _text(one: Transformation) -> str:
    kind = one.subtype.casefold() or one.type.casefold()
    if kind == COPIED:
        return kind
    return one.description or (f"{kind}, masked" if one.masking else kind)
