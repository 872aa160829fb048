"""Tables of literals that are only searched: EXISTS over VALUES as a list of comparisons."""

from whence.capture.sql.fingerprint.block import Block, instances_of, rows_of
from whence.capture.sql.fingerprint.normal_forms.conditions.logic import compare, connect
from whence.capture.sql.fingerprint.normal_forms.terms.literals import formulas_of
from whence.capture.sql.fingerprint.normal_forms.terms.types import type_of
from whence.capture.sql.fingerprint.normal_forms.values.defaults import make_coalesce
from whence.capture.sql.provenance.formulas import Formula, Formulas


def listed(store: Formulas, block: Block) -> Formula | None:
    """`coalesce(x IN ('a', 'b'), false)` for the search for x in VALUES of one column; None for other blocks.

    Of literals and a value of one type, so that nothing is cast.
    """
    if len(block.sources) != 1 or block.outer_joins or len(block.conditions) != 1:
        return None
    (source,), (condition,) = block.sources, block.conditions
    rows = rows_of(source)
    table = [formulas_of(row) for row in formulas_of(formulas_of(rows)[0])] if rows.op == "values" else []
    column = store.make("of", source, store.make("name", "#0"))
    sides = formulas_of(condition)
    if condition.op != "eq" or column not in sides or not all(len(row) == 1 for row in table) or not table:
        return None
    value = next(one for one in sides if one is not column)
    kinds = {("string", "text"): "text", ("number", "integer"): "integer"}
    found = {kinds.get((row[0].op, type_of(row[0]))) for row in table}
    if source in instances_of(value) or value.is_volatile or found != {type_of(value)}:
        return None
    tests = connect(store, "or", [compare(store, "eq", value, row[0]) for row in table])
    return make_coalesce(store, [tests, store.make("boolean", "false")])
