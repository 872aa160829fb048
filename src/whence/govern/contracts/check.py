"""Whether a file is a contract of the standard: every mistake, with its line."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from jsonschema import ValidationError
from jsonschema.exceptions import relevance

from whence.errors import RulesFileError
from whence.govern.contracts.standard import VERSIONS, Schema, Standard, read_standard
from whence.govern.yaml_nodes import parse
from whence.govern.yaml_values import Path, Values, read_values

_LONGEST = 80


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """A mistake in a contract's file. `rule`: its kind, such as `unknown-key`."""

    file: str
    line: int
    rule: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}"


@dataclass(frozen=True, slots=True)
class Checked:
    """A file, its values and the version of the standard, if it could be read so far, and its mistakes by line.

    `count`: the contracts in it; a file of dbt may have any number.
    """

    file: str
    problems: tuple[Problem, ...]
    values: Values | None = None
    standard: Standard | None = None
    count: int = 1


def check_contract(text: str, file: str) -> Checked:
    """Check a contract of the Open Data Contract Standard against the schema of the version that it names.

    Beyond the schema: a key that the standard does not list is a mistake in every version, and so is a key that is
    written twice.
    """
    try:
        root = parse(text, file)
        values = None if root is None else read_values(root)
    except RulesFileError as error:
        return Checked(file, (problem_of(error, file),))
    if values is None or not isinstance(values.root, dict):
        return Checked(file, (Problem(file, 1, "form", "it is not a contract: write `key: value` lines"),))
    version = values.root.get("apiVersion")
    standard = read_standard(version) if isinstance(version, str) else None
    if standard is None:
        return Checked(file, (_version_problem(values, version),), values)
    unknown = dict(_unknown_keys(values, standard))
    problems = [*unknown.values(), *_schema_problems(values, standard, set(unknown))]
    return Checked(file, tuple(sorted(set(problems))), values, standard)


def problem_of(error: RulesFileError, file: str) -> Problem:
    """The mistake that keeps a file from being read."""
    line = error.path.rpartition(":")[2]
    return Problem(file, int(line) if line.isdecimal() else 1, "form", error.reason)


def _version_problem(values: Values, version: object) -> Problem:
    what = "apiVersion is missing" if version is None else f"apiVersion {_shown(version)} is unknown"
    text = f"{what}; this release of Whence reads {', '.join(VERSIONS)}"
    return Problem(values.file, _line(values, ("apiVersion",)), "version", text)


def _unknown_keys(values: Values, standard: Standard) -> Iterator[tuple[Path, Problem]]:
    def visit(value: Any, schemas: tuple[Schema, ...], path: Path) -> Iterator[tuple[Path, Problem]]:
        if isinstance(value, list):
            for index, one in enumerate(value):
                yield from visit(one, standard.item(schemas), (*path, index))
        if not isinstance(value, dict):
            return
        known = standard.members(schemas)
        for key, member in value.items():
            if known is not None and key not in known:
                text = f"no key {_shown(key)} belongs here{_hint(key, known)}"
                yield (*path, key), Problem(values.file, _line(values, (*path, key)), "unknown-key", text)
            else:
                yield from visit(member, standard.member(schemas, key), (*path, key))

    return visit(values.root, standard.root, ())


def _schema_problems(values: Values, standard: Standard, unknown: set[Path]) -> Iterator[Problem]:
    """The mistakes that the schema finds, without those that an unknown key explains."""
    errors = [_deepest(one) for one in standard.validator.iter_errors(values.root)]
    places = [tuple(one.absolute_path) for one in errors if not _is_about_keys(one)]
    for error in errors:
        path = tuple(error.absolute_path)
        if _is_about_keys(error):
            # A mistake inside of an object keeps the validator from evaluating the object's other keys.
            is_consequence = any(one[: len(path)] == path for one in (*places, *unknown))
            if is_consequence:
                continue
            for key in _extra_keys(error, standard):
                text = f"no key {_shown(key)} belongs here, beside what else is written"
                yield Problem(values.file, _line(values, (*path, key)), "unknown-key", text)
        else:
            yield Problem(values.file, _line(values, path), str(error.validator), _message(error))


def _deepest(error: ValidationError) -> ValidationError:
    """Of the ways in which alternatives fail, the one that fits best: it goes the deepest."""
    while error.context:
        error = max(error.context, key=lambda one: (_is_of_the_right_type(one), len(one.absolute_path), relevance(one)))
    return error


def _is_of_the_right_type(error: ValidationError) -> bool:
    return error.validator != "type" or bool(error.relative_path)


def _is_about_keys(error: ValidationError) -> bool:
    return error.validator in ("additionalProperties", "unevaluatedProperties")


def _extra_keys(error: ValidationError, standard: Standard) -> Sequence[str]:
    if error.validator == "additionalProperties":
        listed = error.schema.get("properties", {})
        return [key for key in error.instance if key not in listed]
    return [key for key in error.instance if f"'{key}'" in error.message]


def _message(error: ValidationError) -> str:
    match error.validator:
        case "required":
            return str(error.message).replace(" is a required property", " is missing")
        case "type":
            return f"write {_types(error.validator_value)} here, not {_shown(error.instance)}"
        case "enum":
            options = [str(one) for one in error.validator_value]
            return f"write one of {', '.join(options)}, not {_shown(error.instance)}{_close(error.instance, options)}"
        case "const":
            return f"write {error.validator_value}, not {_shown(error.instance)}"
        case "pattern":
            return f"{_shown(error.instance)} does not match the pattern {error.validator_value}"
        case "uniqueItems":
            return "an item is here twice"
    return f"{_shown(error.instance)} does not fit: {error.validator} {_shown(error.validator_value)}"


def _types(value: Any) -> str:
    names = {"object": "`key: value` lines", "array": "a list", "string": "a text", "integer": "a whole number"}
    names |= {"number": "a number", "boolean": "true or false", "null": "null"}
    return " or ".join(names.get(str(one), str(one)) for one in (value if isinstance(value, list) else [value]))


def _hint(key: str, known: frozenset[str]) -> str:
    return _close(key, sorted(known)) or "; put what the standard does not list into customProperties"


def _close(value: object, options: Sequence[str]) -> str:
    close = get_close_matches(str(value), options, 1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _line(values: Values, path: Path) -> int:
    return int(values.place(path).rpartition(":")[2])


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
