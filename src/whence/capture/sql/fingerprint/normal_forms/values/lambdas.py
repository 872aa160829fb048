"""Parameters of lambdas, which are known by their places."""

from collections.abc import Iterator, Sequence

from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.provenance.formulas import Formula, Formulas


def bind_parameters(store: Formulas, names: Sequence[str], body: Formula) -> Formula:
    """A lambda whose parameters are named by their place, and by how many lambdas are inside of each other in it."""
    height = max(_heights(body), default=-1) + 1
    renamed = {name: f"#{height}.{place}" for place, name in enumerate(names)}
    memo: dict[Formula, Formula] = {}

    def visit(part: Formula) -> Formula:
        if part not in memo:
            is_bound = part.op in ("parameter", "identifier") and part.args[0] in renamed
            memo[part] = (
                store.make("parameter", renamed[str(part.args[0])], *part.args[1:])
                if is_bound
                else store.rebuild(part, visit)
            )
        return memo[part]

    return store.make("lambda", height, len(names), visit(body))


def _heights(formula: Formula) -> Iterator[int]:
    """The heights of the lambdas in a formula."""
    seen: set[Formula] = set()
    remaining = [formula]
    while remaining:
        part = remaining.pop()
        if part.op == "lambda" and isinstance(part.args[0], int):
            yield part.args[0]
        if part not in seen:
            seen.add(part)
            remaining += formulas_of(part)
