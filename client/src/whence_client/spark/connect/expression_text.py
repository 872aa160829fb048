"""Expressions in the text of a plan, as the trees that Spark's JSON of a plan has.

The text is not a language: literals stand in it without quotes. What decides which sources a value has (CASE, windows,
subqueries) is read exactly; any other text is a function of the attributes in it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Callable

from whence_client.spark.connect.attribute_names import MARK, MARKED, AttributeNames, attribute_node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whence_client.spark.plan.trees import Node, Tree

_CALL = re.compile(r"(?:[A-Za-z_$][\w$.]*|<lambda>)\(")
_RESULT = re.compile(r"#\d+L?(?!\w)")
_SUBQUERY = re.compile(r"(?:dynamicpruning)?[\w-]*(?:subquery|exists|list|array-subquery)#\d+ \[")
_LAMBDA = re.compile(r"lambda '?[^#,()]+#\d+L?")
_FIELD = re.compile(r"\.([A-Za-z_]\w*)")
_ORDER = re.compile(r" (?:ASC|DESC) NULLS (?:FIRST|LAST)")
_OPERATOR = re.compile(
    r" (?:<=>|<=|>=|=|<|>|\+|-|\*|/|%|&|\||\^|<<|>>|div|AND|OR|LIKE|ILIKE|RLIKE) (?=\S)|\s(?:=|<=>)\s"
)
_OPERATORS = {
    "=": "EqualTo",
    "<=>": "EqualNullSafe",
    "<": "LessThan",
    "<=": "LessThanOrEqual",
    ">": "GreaterThan",
    ">=": "GreaterThanOrEqual",
    "+": "Add",
    "-": "Subtract",
    "*": "Multiply",
    "/": "Divide",
    "%": "Remainder",
    "div": "IntegralDivide",
    "AND": "And",
    "OR": "Or",
    "LIKE": "Like",
    "RLIKE": "RLike",
}
_CLASSES = {
    "avg": "Average",
    "nanvl": "NaNvl",
    "filter": "ArrayFilter",
    "struct": "CreateNamedStruct",
    "named_struct": "CreateNamedStruct",
    "approx_count_distinct": "HyperLogLogPlusPlus",
    "percentile_approx": "ApproximatePercentile",
    "xxhash64": "XxHash64",
    "hash": "Murmur3Hash",
    "pivotfirst": "PivotFirst",
    "isnull": "IsNull",
    "isnotnull": "IsNotNull",
    "if": "If",
}
"""Functions whose class is not their name in capitals."""
_AGGREGATES = frozenset(
    re.findall(
        r"\w+",
        "any any_value approx_count_distinct array_agg avg bit_and bit_or bit_xor bool_and bool_or collect_list"
        " collect_set corr count count_if count_min_sketch covar_pop covar_samp every first first_value grouping_id"
        " histogram_numeric kurtosis last last_value listagg max max_by mean median min min_by mode percentile"
        " percentile_approx pivotfirst product regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope"
        " regr_sxx regr_sxy regr_syy skewness some std stddev stddev_pop stddev_samp string_agg sum try_avg try_sum"
        " var_pop var_samp variance",
    )
)
Subqueries = Callable[[], "Tree | None"]


def make_node(class_: str, children: list[Tree], **fields: Any) -> Tree:
    """A tree of a node and its children, in pre-order."""
    node: Node = {"class": class_, "num-children": len(children), **fields}
    return [node, *(one for child in children for one in child)]


def split_list(text: str) -> list[str]:
    """The items of a list: its parts between commas that are outside of brackets.

    >>> split_list("a, f(b, c), [d]")
    ['a', 'f(b, c)', '[d]']
    """
    parts, depth, begin = [], 0, 0
    for index, character in enumerate(text):
        if character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[begin:index].strip())
            begin = index + 1
    last = text[begin:].strip()
    return [*parts, last] if last or parts else []


class Expressions:
    """The expressions of one operator. `next_subquery` returns the plan of its next subquery."""

    def __init__(self, names: AttributeNames, next_subquery: Subqueries) -> None:
        self._names = names
        self._next_subquery = next_subquery

    def read_list(self, text: str) -> list[Tree]:
        """The expressions of a list."""
        return [self.read(one) for one in split_list(self._names.mark(text))]

    def read_named(self, text: str) -> list[Tree]:
        """The named expressions of a list: `amount#2, (amount#2 * 2) AS twice#9`."""
        return [self._read_named(one) for one in self._named_items(split_list(self._names.mark(text)))]

    def read(self, text: str) -> Tree:
        """An expression whose attributes are marked. Raises ValueError if it has a subquery and cannot be read."""
        try:
            return _Reader(text, self._names, self._next_subquery).read()
        except ValueError:
            if _SUBQUERY.search(text):
                raise
            return unread_expression(text, self._names)

    def _named_items(self, items: list[str]) -> Iterator[str]:
        """The items, each up to its id: the name of an alias may have commas."""
        pending: list[str] = []
        for item in items:
            pending.append(item)
            if item.endswith(MARK) or re.search(r"#\d+L?(?:-T\d+ms)?$", item):
                yield ", ".join(pending)
                pending = []
        yield from pending

    def _read_named(self, text: str) -> Tree:
        whole = MARKED.fullmatch(text)
        if whole:
            return [attribute_node(int(whole[1]), self._names.name(int(whole[1])))]
        found = re.search(r" AS (.*)#(\d+)(L?)(?:-T\d+ms)?$", text, re.DOTALL)
        if not found:
            raise ValueError("a column of the plan has no name")
        if MARK in found[1] or _RESULT.search(found[1]):
            raise ValueError("the end of a name in the plan is ambiguous")
        number, name = int(found[2]), found[1]
        self._names.add(number, name)
        return make_node("Alias", [self.read(text[: found.start()])], name=name, exprId={"id": number})


class _Reader:
    """One expression, read from left to right."""

    def __init__(self, text: str, names: AttributeNames, next_subquery: Subqueries) -> None:
        self._text, self._at = text, 0
        self._names, self._next_subquery = names, next_subquery

    def read(self) -> Tree:
        made = self._operation(until="")
        if self._at < len(self._text):
            raise ValueError("an expression of the plan has a part that is not understood")
        return made

    def _operation(self, until: str) -> Tree:
        """A value, or values with operators between them, up to one of some characters."""
        left = self._value(until)
        while True:
            found = _OPERATOR.match(self._text, self._at)
            if not found:
                return left
            self._at = found.end()
            name = _OPERATORS.get(found[0].strip(), "BinaryOperator")
            left = make_node(name, [left, self._value(until)])

    def _value(self, until: str) -> Tree:
        value = self._primary(until)
        while self._at < len(self._text):
            field = _FIELD.match(self._text, self._at)
            if field:
                self._at = field.end()
                value = make_node("GetStructField", [value], name=field[1])
            elif self._text.startswith("[", self._at):
                self._at += 1
                value = make_node("GetItem", [value, self._operation("]")])
                self._expect("]")
            elif self._text.startswith(" IN (", self._at):
                value = self._membership(value)
            elif self._text.startswith((" windowspecdefinition(", " windowspec"), self._at):
                value = make_node("WindowExpression", [value, self._primary(until)])
            elif self._text.startswith(" FILTER (WHERE ", self._at):
                value = self._filter(value)
            elif _ORDER.match(self._text, self._at):
                self._at += len(_ORDER.match(self._text, self._at)[0])  # type: ignore[index]
            else:
                break
        return value

    def _primary(self, until: str) -> Tree:
        text, at = self._text, self._at
        while text.startswith(" ", at):
            at += 1
        self._at = at
        marked = MARKED.match(text, at)
        if marked:
            self._at = marked.end()
            return [attribute_node(int(marked[1]), self._names.name(int(marked[1])))]
        if text.startswith("(", at):
            return self._parenthesised()
        for word, rule in (("CASE WHEN ", self._case), ("NOT ", self._not), ("distinct ", self._distinct)):
            if text.startswith(word, at):
                self._at += len(word)
                return rule(until)
        if text.startswith("if (", at):
            return self._if(until)
        if _SUBQUERY.match(text, at):
            return self._subquery()
        found = _LAMBDA.match(text, at)
        if found:
            self._at = found.end()
            return make_node("NamedLambdaVariable", [])
        if _CALL.match(text, at):
            return self._call()
        return self._literal(until)

    def _parenthesised(self) -> Tree:
        self._at += 1
        made = self._operation(")")
        self._expect(")")
        return made

    def _case(self, until: str) -> Tree:
        parts = [self._until_word(" THEN ")]
        while True:
            value, word = self._until_words((" WHEN ", " ELSE ", " END"))
            parts.append(value)
            if word == " END":
                return make_node("CaseWhen", parts)
            if word == " ELSE ":
                parts.append(self._until_word(" END"))
                return make_node("CaseWhen", parts)
            parts.append(self._until_word(" THEN "))

    def _not(self, until: str) -> Tree:
        return make_node("Not", [self._value(until)])

    def _distinct(self, until: str) -> Tree:
        return self._operation(until)

    def _if(self, until: str) -> Tree:
        self._at += len("if ")
        condition = self._parenthesised()
        value = self._until_word(" else ")
        return make_node("If", [condition, value, self._value(until)])

    def _membership(self, value: Tree) -> Tree:
        self._at += len(" IN (")
        if _SUBQUERY.match(self._text, self._at):
            subquery = self._subquery()
            self._expect(")")
            return make_node("InSubquery", [value, subquery])
        others = self._arguments(")")
        return make_node("In", [value, *others])

    def _filter(self, value: Tree) -> Tree:
        self._at += len(" FILTER (WHERE ")
        condition = self._operation(")")
        self._expect(")")
        if value[0]["class"] == "AggregateExpression":
            return make_node("AggregateExpression", [value[1:], condition])
        return make_node("AggregateExpression", [value, condition])

    def _subquery(self) -> Tree:
        found = _SUBQUERY.match(self._text, self._at)
        self._at = self._closing(found.end() - 1 if found else self._at) + 1
        plan = self._next_subquery()
        if plan is None:
            raise ValueError("a subquery of the plan has no text")
        asks_for_rows = found is not None and "exists#" in found[0]
        return make_node("Exists" if asks_for_rows else "PlanExpression", [], plan=plan)

    def _call(self) -> Tree:
        found = _CALL.match(self._text, self._at)
        name = self._text[self._at : found.end() - 1] if found else ""
        self._at += len(name) + 1
        if name == "cast":
            return self._cast()
        arguments = self._arguments(")")
        result = _RESULT.match(self._text, self._at)
        if result:
            self._at = result.end()
            return make_node("PythonUDF", arguments, name=name)
        if name == "UDF":
            return make_node("PythonUDF", arguments)
        if name == "outer" and len(arguments) == 1:
            return arguments[0]
        made = make_node(_class_of(name), arguments)
        is_aggregate = name.lower() in _AGGREGATES
        return make_node("AggregateExpression", [made]) if is_aggregate else made

    def _cast(self) -> Tree:
        value = self._until_word(" as ")
        end = self._closing(self._at - 1, "(")
        type_ = self._text[self._at : end].strip()
        self._at = end + 1
        return make_node("Cast", [value], dataType=type_)

    def _arguments(self, close: str) -> list[Tree]:
        arguments: list[Tree] = []
        while True:
            if self._text.startswith(close, self._at):
                self._at += 1
                return arguments
            arguments.append(self._operation("," + close))
            if self._text.startswith(",", self._at):
                self._at += 1
            elif not self._text.startswith(close, self._at):
                raise ValueError("an argument in the plan is not understood")

    def _until_word(self, word: str) -> Tree:
        return self._until_words((word,))[0]

    def _until_words(self, words: tuple[str, ...]) -> tuple[Tree, str]:
        """An expression up to the first of some words, and that word."""
        begin, depth, nested = self._at, 0, 0
        index = begin
        while index < len(self._text):
            if self._text.startswith("CASE WHEN ", index):
                nested += 1
            elif nested and self._text.startswith(" END", index):
                nested -= 1
                index += len(" END")
                continue
            if self._text[index] in "([":
                depth += 1
            elif self._text[index] in ")]":
                depth -= 1
            word = (
                next((one for one in words if self._text.startswith(one, index)), "") if not (depth or nested) else ""
            )
            if word:
                self._at = index + len(word)
                return self._part(begin, index), word
            index += 1
        raise ValueError(f"the plan has no{words[0]}where one must be")

    def _part(self, begin: int, end: int) -> Tree:
        return _Reader(self._text[begin:end], self._names, self._next_subquery).read()

    def _literal(self, until: str) -> Tree:
        begin = self._at
        while self._at < len(self._text):
            character = self._text[self._at]
            if character in until or character == MARK or _OPERATOR.match(self._text, self._at):
                break
            self._at += 1
        return make_node("Literal", [], dataType="string", value=self._text[begin : self._at].strip())

    def _closing(self, at: int, opening: str = "[") -> int:
        depth = 1
        for index in range(at + 1, len(self._text)):
            depth += (self._text[index] in "([") - (self._text[index] in ")]")
            if depth == 0:
                return index
        raise ValueError(f"a {opening} of the plan is not closed")

    def _expect(self, character: str) -> None:
        if not self._text.startswith(character, self._at):
            raise ValueError(f"the plan has no {character} where one must be")
        self._at += 1


def unread_expression(text: str, names: AttributeNames) -> Tree:
    """A function of all attributes in a text: which of them its value is of is not known."""
    found = [int(one[1]) for one in MARKED.finditer(text)]
    return make_node("PythonUDF", [[attribute_node(one, names.name(one))] for one in found])


def _class_of(name: str) -> str:
    return _CLASSES.get(name.lower()) or "".join(part[:1].upper() + part[1:] for part in name.split("_"))
