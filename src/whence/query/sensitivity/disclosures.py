"""How much of its source an edge shows: by its transformations, and the expressions in them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from whence.model.names import DatasetName, FieldName, Node
from whence.model.sensitivity import UNKNOWN, Disclosure, Grade
from whence.query.answers.transformations import Transformation
from whence.query.answers.values import AnswerEdge

Declassifiers = frozenset[tuple[str, Grade]]
NONE: Declassifiers = frozenset()
INFLUENCED, FULL = Disclosure(Grade.INFLUENCED), Disclosure(Grade.FULL)


@dataclass(frozen=True, slots=True)
class Way:
    """Values of `source` pass to `target`: at most so much of them, and `proven` of it for certain. `how`: by which
    transformations, if it is known.
    """

    source: Node
    target: Node
    at_most: Grade
    proven: Grade
    how: tuple[Transformation, ...] = ()


def way_of(edge: AnswerEdge) -> Way:
    """How much passes along an edge."""
    return way_between(edge.source, edge.target, edge.transformations)


def way_between(
    source: Node, target: Node, transformations: Iterable[Transformation], declassifiers: Declassifiers = NONE
) -> Way:
    """How much passes between two nodes: the most of the transformations, which are beside each other.

    What a whole dataset passes on is assumed to be any of its columns. `declassifiers`: functions by lower-case name,
    with what each leaves at most.
    """
    column = source.field if isinstance(source, FieldName) else ""
    how = tuple(transformations)
    found = [disclosure(one, column, declassifiers) for one in how] or [UNKNOWN]
    if isinstance(source, DatasetName):
        found = [Disclosure(one.grade, assumed=True) for one in found]
    return Way(source, target, _most(found), _most(one for one in found if not one.assumed), how)


def declassify(ways: Iterable[Way], declassifiers: Declassifiers) -> Iterator[Way]:
    """The same ways, with functions that somebody answers for."""
    for way in ways:
        is_read = declassifiers and any(one.description for one in way.how)
        yield way_between(way.source, way.target, way.how, declassifiers) if is_read else way


def disclosure(how: Transformation, column: str, declassifiers: Declassifiers = NONE) -> Disclosure:
    """How much of a column a transformation shows at most."""
    match how.type, how.subtype:
        case "INDIRECT", _:
            return INFLUENCED
        case "DIRECT", "IDENTITY":
            return FULL
        case "DIRECT", subtype if how.description:
            return _masked(_of_expression(how.description, column, subtype, declassifiers), how)
    return _masked(UNKNOWN, how)


def _of_expression(text: str, column: str, subtype: str, declassifiers: Declassifiers) -> Disclosure:
    """A column alone that was transformed is one of a query inside: what happened there is not in the text."""
    # The SQL parser takes an eighth of a server's start, and few answers need it.
    from whence.capture.sql.disclosure.expressions import disclosure_of

    found = disclosure_of(text, column, declassifiers)
    is_alone = subtype != "IDENTITY" and text.strip('`"[]').casefold() == column.casefold()
    return Disclosure(found.grade, assumed=True) if is_alone else found


def _masked(found: Disclosure, how: Transformation) -> Disclosure:
    """A producer that says `masking` has seen a hash, a mask or a count on the way: no more than a hash is left."""
    return found.and_then(Disclosure(Grade.PSEUDONYMOUS)) if how.masking else found


def _most(several: Iterable[Disclosure]) -> Grade:
    return max((one.grade for one in several), default=Grade.NONE)
