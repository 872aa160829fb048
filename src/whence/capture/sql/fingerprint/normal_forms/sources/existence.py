"""EXISTS, and joins that only ask whether a row is there."""

from collections.abc import Callable, Sequence

from whence.capture.sql.fingerprint.block import Block, instances_of, rows_of
from whence.capture.sql.fingerprint.keys import unique_keys
from whence.capture.sql.fingerprint.normal_forms.sources.reopened_rows import without_groups
from whence.capture.sql.provenance.formulas import Formula, Formulas

CloseBlock = Callable[[Formulas, Block, Sequence[Formula]], tuple[Formula, list[Formula]]]


def exists_in(store: Formulas, block: Block, close: CloseBlock) -> Formula:
    """Whether a block has a row: neither its values nor DISTINCT, GROUP BY and LIMIT decide on that."""
    block, _ = without_groups(store, _without_limits(store, block), [])
    return store.make("exists", close(store, block, [])[0])


def _without_limits(store: Formulas, block: Block) -> Block:
    """The block, if it is one limited source, without the limit of at least one row."""
    if not block.is_plain:
        return block
    rows = rows_of(block.sources[0])
    match (rows.op, *rows.args):
        case ("limit", Formula() as inside, Formula(), Formula(op="limit", args=(*_, Formula(op="number") as number))):
            if str(number.args[0]).isdigit() and int(str(number.args[0])) > 0:
                return Block([store.instance(inside)])
    return block


def semi_joins(store: Formulas, block: Block, values: Sequence[Formula], close: CloseBlock) -> Block:
    """A join on the whole key of a grouped source as EXISTS, if nothing but conditions reads that source."""
    for instance in list(block.sources):
        own = [one for one in block.conditions if instance in instances_of(one)]
        others = [one for one in block.sources if one is not instance]
        joined = (on for join in block.outer_joins for on in (*join.on, *join.right.sources, *join.right.conditions))
        readers = (*values, *others, *joined)
        if (
            not others
            or not _is_joined_on_key(store, instance, own)
            or any(instance in instances_of(one) for one in readers)
        ):
            continue
        rest = [one for one in block.conditions if one not in own]
        block = Block(others, block.outer_joins, [*rest, exists_in(store, Block([instance], [], own), close)])
    return block


def _is_joined_on_key(store: Formulas, instance: Formula, conditions: Sequence[Formula]) -> bool:
    rows = rows_of(instance)
    if rows.op != "group" or rows.is_open or rows.is_volatile:
        return False
    equal = [one for one in conditions if one.op == "eq"]
    return any(
        key.columns
        and all(any(_equates(one, store.push(column, instance), instance) for one in equal) for column in key.columns)
        for key in unique_keys(rows)
    )


def _equates(condition: Formula, column: Formula, instance: Formula) -> bool:
    rest = [arg for arg in condition.args if isinstance(arg, Formula) and arg is not column]
    return len(rest) == 1 and instance not in instances_of(rest[0])
