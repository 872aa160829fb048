"""Relations and expressions that most queries do not have: pivots, laterals, structs, arrays, recursion, frames."""

from collections.abc import Callable, Sequence

from capture.sql.generated.query_parts import TABLES, Draw, Relation

Made = tuple[str, tuple[str, ...]]
"""A query without brackets, and the names of its columns."""


def deep_relation(draw: Draw, alias: str) -> Relation:
    """A derived table of one of the kinds below."""
    sql, columns = draw.random.choice(_RELATIONS)(draw)
    return Relation(f"({sql}) AS {alias}", alias, columns)


def deep_item(draw: Draw, columns: Sequence[str]) -> str:
    """An expression over columns that are there."""
    one, two, three = (draw.one(columns) for _ in range(3))
    return draw.random.choice(_ITEMS)(draw, one, two, three)


def _table(draw: Draw) -> tuple[str, tuple[str, ...]]:
    name = draw.one(tuple(TABLES))
    return name, TABLES[name]


def _pivot(draw: Draw) -> Made:
    table, (key, by, value, *_) = _table(draw)
    ends = ("p", "q")
    listed = ", ".join(f"{place} AS {end}" for place, end in enumerate(ends, start=1))
    aggregate = draw.one(("sum", "max", "count"))
    inner = f"SELECT {key}, {by}, {value} FROM {table}"
    return f"SELECT * FROM ({inner}) PIVOT ({aggregate}({value}) FOR {by} IN ({listed}))", (key, *ends)


def _unpivot(draw: Draw) -> Made:
    table, (key, by, value, *_) = _table(draw)
    inner = f"SELECT {key}, {by}, {value} FROM {table}"
    return f"SELECT * FROM ({inner}) UNPIVOT INCLUDE NULLS (m FOR n IN ({by}, {value}))", (key, "m")


def _struct(draw: Draw) -> Made:
    table, (key, one, two, *_) = _table(draw)
    made = f"named_struct('p', {one}, 'q', {two} + 1)" if draw.dialect == "spark" else f"{{'p': {one}, 'q': {two} + 1}}"
    return f"SELECT {key}, {made} AS s FROM {table}", (key, "s.p", "s.q")


def _nested_struct(draw: Draw) -> Made:
    table, (key, one, two, *_) = _table(draw)
    if draw.dialect == "spark":
        made = f"named_struct('p', named_struct('r', {one}, 't', {key}), 'q', {two})"
    else:
        made = f"{{'p': {{'r': {one}, 't': {key}}}, 'q': {two}}}"
    return f"SELECT {key}, s.p AS o, s.q FROM (SELECT {key}, {made} AS s FROM {table}) AS n", (key, "o.r", "o.t", "q")


def _exploded(draw: Draw) -> Made:
    table, (key, one, two, *_) = _table(draw)
    if draw.dialect == "spark":
        return f"SELECT {key}, u FROM {table} LATERAL VIEW explode(array({one}, {two})) e AS u", (key, "u")
    return f"SELECT {key}, unnest([{one}, {two}]) AS u FROM {table}", (key, "u")


def _unnested_structs(draw: Draw) -> Made:
    table, (key, one, two, *_) = _table(draw)
    if draw.dialect == "spark":
        array = f"array(named_struct('p', {one}, 'q', {two}), named_struct('p', {key}, 'q', {one}))"
        return f"SELECT {key}, m, n FROM {table} LATERAL VIEW inline({array}) e AS m, n", (key, "m", "n")
    array = f"[{{'p': {one}, 'q': {two}}}, {{'p': {key}, 'q': {one}}}]"
    inner = f"SELECT {key}, unnest({array}) AS u FROM {table}"
    return f"SELECT {key}, u.p AS m, u.q AS n FROM ({inner}) AS e", (key, "m", "n")


def _lateral(draw: Draw) -> Made:
    (left, mine), (right, its) = _table(draw), _table(draw)
    picked = f"SELECT max(i.{its[2]}) AS m, count(*) AS n FROM {right} AS i WHERE i.{its[1]} = o.{mine[1]}"
    word = draw.one((", LATERAL ({}) AS l", " CROSS JOIN LATERAL ({}) AS l", " LEFT JOIN LATERAL ({}) AS l ON true"))
    return f"SELECT o.{mine[0]} AS e, o.{mine[2]} AS f, l.m, l.n FROM {left} AS o{word.format(picked)}", tuple("efmn")


def _recursive(draw: Draw) -> Made:
    (table, (key, one, two, *_)), name = _table(draw), draw.name("w")
    step = f"SELECT n + 1, m, {draw.one(('o + m', 'o', 'n'))} FROM {name} WHERE n < 4"
    head = f"SELECT {key}, {one}, {two} FROM {table} WHERE {one} > 0"
    return f"WITH RECURSIVE {name}(n, m, o) AS ({head} UNION ALL {step}) SELECT * FROM {name}", ("n", "m", "o")


def _walk(draw: Draw) -> Made:
    """A recursive query that joins a table at each step; it stops because what it counts grows."""
    (table, (key, one, *_)), (other, (its, *_, far)), name = _table(draw), _table(draw), draw.name("w")
    step = f"SELECT t.{far}, w.d + 1 FROM {name} AS w JOIN {other} AS t ON t.{its} = w.n WHERE w.d < 2"
    head = f"SELECT {key}, 0 FROM {table} WHERE {one} = 1"
    return f"WITH RECURSIVE {name}(n, d) AS ({head} UNION ALL {step}) SELECT n, d FROM {name}", ("n", "d")


def _rolled(draw: Draw) -> Made:
    table, (one, two, three, *_) = _table(draw)
    by = draw.one((f"ROLLUP ({one}, {two})", f"CUBE ({one}, {two})", f"GROUPING SETS (({one}), ({two}), ())"))
    return f"SELECT {one}, {two}, sum({three}) AS t, grouping({one}) AS h FROM {table} GROUP BY {by}", (one, two, "t")


def _starred(draw: Draw) -> Made:
    table, (key, one, two, *rest) = _table(draw)
    word = "EXCEPT" if draw.dialect == "spark" else "EXCLUDE"
    if draw.dialect == "duckdb" and draw.chance(0.5):
        return f"SELECT * REPLACE ({one} + {two} AS {two}) FROM {table}", (key, one, two, *rest)
    return f"SELECT * {word} ({one}), {one} + {key} AS e FROM {table}", (key, two, *rest, "e")


def _ranked(draw: Draw) -> Made:
    table, (key, by, at, *_) = _table(draw)
    rank = draw.one(("rank()", "dense_rank()", "percent_rank()", "cume_dist()"))
    inner = f"SELECT {key}, {at}, {rank} OVER (PARTITION BY {by} ORDER BY {at} DESC) AS rn FROM {table}"
    return f"SELECT {key}, {at} FROM ({inner}) AS n WHERE rn <= 1", (key, at)


def _chained(draw: Draw) -> Made:
    """Expressions one above another: an alias, a window over it, a condition over that."""
    table, (key, by, at, *_) = _table(draw)
    one, two = draw.name("s"), draw.name("s")
    first = f"SELECT {key}, {by} + {at} AS m, {at} FROM {table}"
    second = f"SELECT {key}, m, sum(m) OVER (PARTITION BY {key}) AS t, {at} FROM {one}"
    last = f"SELECT {key}, CASE WHEN t > m THEN {at} END AS v, t - m AS rest FROM {two}"
    return f"WITH {one} AS ({first}), {two} AS ({second}) {last}", (key, "v", "rest")


def _natural(draw: Draw) -> Made:
    kind = draw.one(("", "LEFT ", "RIGHT ", "FULL "))
    inner = f"SELECT * FROM (SELECT id, x, y FROM a) AS l NATURAL {kind}JOIN (SELECT id, z, w FROM b) AS r"
    return f"SELECT id, x, w FROM ({inner}) AS n", ("id", "x", "w")


def _semi(draw: Draw) -> Made:
    (left, mine), (right, its) = _table(draw), _table(draw)
    word = draw.one(("SEMI JOIN", "ANTI JOIN"))
    on = f"i.{its[1]} = o.{mine[1]} AND i.{its[2]} > {draw.random.randrange(3)}"
    return f"SELECT o.{mine[0]}, o.{mine[2]} FROM {left} AS o {word} {right} AS i ON {on}", (mine[0], mine[2])


def _nested_exists(draw: Draw) -> Made:
    inner = "SELECT 1 FROM c WHERE c.g = b.w AND c.v > 0"
    middle = f"SELECT 1 FROM b WHERE b.k = a.k AND {draw.one(('', 'NOT '))}EXISTS ({inner})"
    return f"SELECT id, x FROM a WHERE EXISTS ({middle})", ("id", "x")


def _aggregated(draw: Draw) -> Made:
    """Grouped by an alias or a place."""
    table, (one, two, three, *_) = _table(draw)
    inner = f"SELECT {one} + {two} AS m, sum({three}) AS t, count(DISTINCT {three}) AS n FROM {table}"
    return f"{inner} GROUP BY {draw.one(('m', '1'))} HAVING max({two}) >= 0", ("m", "t", "n")


def _united(draw: Draw) -> Made:
    (left, (one, two, *_)), (right, (three, four, *_)) = _table(draw), _table(draw)
    if draw.chance(0.5):
        return f"SELECT {one} AS m, {two} AS n FROM {left} UNION ALL SELECT {four}, {three} FROM {right}", ("m", "n")
    return f"SELECT {one} AS m, {two} AS n FROM {left} UNION ALL VALUES (1, 2), (3, 4)", ("m", "n")


_RELATIONS: tuple[Callable[[Draw], Made], ...] = (
    *(_pivot, _unpivot, _struct, _nested_struct, _exploded, _unnested_structs, _lateral, _recursive, _walk, _rolled),
    *(_starred, _ranked, _chained, _natural, _semi, _nested_exists, _aggregated, _united),
)


def _window(draw: Draw, one: str, two: str, three: str) -> str:
    frame = draw.one(("RANGE BETWEEN 1 PRECEDING AND CURRENT ROW", "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"))
    return f"{draw.one(('sum', 'max', 'avg'))}({one}) OVER (PARTITION BY {two} ORDER BY {three} {frame})"


def _shifted(draw: Draw, one: str, two: str, three: str) -> str:
    """Ordered by what is shown: rows that are alike there may change places."""
    function = draw.one(("lag({})", "lead({}, 2)", "first_value({})", "ntile(3)", "row_number()"))
    return f"{function.format(one)} OVER (PARTITION BY {two} ORDER BY {one})"


def _field(draw: Draw, one: str, two: str, three: str) -> str:
    made = f"named_struct('p', {one}, 'q', {two})" if draw.dialect == "spark" else f"{{'p': {one}, 'q': {two}}}"
    return f"({made}).{draw.one('pq')}"


def _array(draw: Draw, one: str, two: str, three: str) -> str:
    if draw.dialect == "spark":
        return draw.one(
            (
                f"array({one}, {two})[1]",
                f"aggregate(array({one}, {two}), 0D, (s, e) -> s + e + CAST({three} AS DOUBLE))",
                f"transform(array({one}), e -> e + {two})[0]",
                f"map('p', {one}, 'q', {two})['q']",
            )
        )
    return draw.one(
        (f"[{one}, {two}][2]", f"list_transform([{one}], lambda e: e + {two})[1]", f"list_sum([{one}, {two}])")
    )


def _nested_case(draw: Draw, one: str, two: str, three: str) -> str:
    return f"CASE {one} WHEN 1 THEN CASE WHEN {two} > 1 THEN {three} END WHEN {two} THEN 7 ELSE {one} END"


def _function(draw: Draw, one: str, two: str, three: str) -> str:
    truth = draw.one((f"{one} > {two}", f"{one} IN ({two}, {three})", f"{one} BETWEEN {two} AND {three}"))
    shown = f"({truth})" if draw.dialect == "duckdb" else f"if({truth}, 1, 0)"
    return draw.one((shown, f"if({truth}, {three}, 0)", f"coalesce(nullif({one}, {two}), {three}, 0)"))


def _correlated(draw: Draw, one: str, two: str, three: str) -> str:
    name, (key, by, value, *_) = _table(draw)
    inner = f"SELECT max(i.{value}) FROM {name} AS i WHERE i.{by} = {one} AND i.{key} > 0"
    return f"coalesce(({inner}), {two})"


_ITEMS: tuple[Callable[[Draw, str, str, str], str], ...] = (
    *(_window, _shifted, _field, _array, _nested_case, _function, _correlated),
)
