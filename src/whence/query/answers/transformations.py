"""Composition of transformations: of one edge, of parallel edges, and along a path.

Along a path, INDIRECT takes precedence, then UNKNOWN; of DIRECT ones, the first of AGGREGATION, TRANSFORMATION,
IDENTITY; a path is masked if any step is masked (OpenLineage's rule for Spark). Parallel edges are the reverse: data
flows if one edge passes it, and it is unmasked if one edge is unmasked.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_STRENGTH = {"AGGREGATION": 3, "TRANSFORMATION": 2, "": 1, "IDENTITY": 0}


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Transformation:
    """`type` and `subtype` are upper case. `type` is DIRECT, INDIRECT, or any other value, which counts as UNKNOWN."""

    type: str = "UNKNOWN"
    subtype: str = ""
    masking: bool = False
    description: str = ""


def directness(type_: str) -> int:
    """0 DIRECT, 1 UNKNOWN, 2 INDIRECT: the order in which side-by-side edges are preferred."""
    return {"DIRECT": 0, "INDIRECT": 2}.get(type_, 1)


def in_a_row(first: Transformation, second: Transformation) -> Transformation:
    """The composition of two consecutive transformations. Associative and commutative."""
    masking = first.masking or second.masking
    type_ = max(first.type, second.type, key=directness)
    if directness(type_) == 1:
        return Transformation(masking=masking)
    of_type = {one.subtype for one in (first, second) if one.type == type_}
    subtype = _strongest(of_type) if type_ == "DIRECT" else _only(of_type)
    return Transformation(type=type_, subtype=subtype, masking=masking)


def side_by_side(several: Sequence[Transformation]) -> Transformation:
    """The combination of parallel transformations between the same two nodes."""
    best = min(directness(one.type) for one in several)
    kept = [one for one in several if directness(one.type) == best]
    masking = all(one.masking for one in kept)
    subtypes = {one.subtype for one in kept}
    match best:
        case 0:
            return Transformation(type="DIRECT", subtype=_strongest(subtypes), masking=masking)
        case 1:
            return Transformation(masking=masking)
        case _:
            return Transformation(type="INDIRECT", subtype=_only(subtypes), masking=masking)


def _strongest(subtypes: Iterable[str]) -> str:
    return max(subtypes, key=lambda subtype: (_STRENGTH.get(subtype, 1), subtype))


def _only(subtypes: set[str]) -> str:
    return next(iter(subtypes)) if len(subtypes) == 1 else ""
