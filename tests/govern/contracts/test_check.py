"""Contracts of the standard are read; every mistake in one is reported with its line."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import jsonschema_rs
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from whence.govern.contracts.check import Checked, check_contract
from whence.govern.contracts.problem_reports import problem_document, problem_lines, problem_sarif
from whence.govern.contracts.standard import VERSIONS, Schema, Standard, read_standard
from whence.govern.yaml_values import Path as Place

EXAMPLES = sorted((Path(__file__).parent / "examples").glob("*.odcs.yaml"))
SARIF = jsonschema_rs.validator_for(
    json.loads((Path(__file__).parents[1] / "gate" / "sarif-2.1.0.json").read_text("utf-8"))
)
FREE_FORM = ("value", "arguments", "implementation", "customizations")
"""Keys whose values may have any keys."""
SMALL = "apiVersion: {}\nkind: DataContract\nid: a\nversion: 1.0.0\nstatus: active\n"

Position = tuple[str, ...]


def root_of(text: str) -> yaml.Node:
    root = yaml.compose(text)
    assert root is not None
    return root


def keys_of(text: str) -> dict[Position, yaml.ScalarNode]:
    """The first key at each position of a document: the keys that lead there, without indices."""
    found: dict[Position, yaml.ScalarNode] = {}

    def visit(node: yaml.Node, path: Position) -> None:
        match node:
            case yaml.MappingNode():
                for key, value in node.value:
                    found.setdefault((*path, key.value), key)
                    if key.value not in FREE_FORM or ("customProperties" not in path and key.value == "value"):
                        visit(value, (*path, key.value))
            case yaml.SequenceNode():
                for item in node.value:
                    visit(item, path)

    visit(root_of(text), ())
    return found


def misspelt() -> Iterator[object]:
    """Every key of the examples of each version; of several in like objects, the first."""
    seen = set[Position]()
    for path in EXAMPLES:
        text = path.read_text("utf-8")
        version = path.name.rpartition("-")[2]
        for position, key in keys_of(text).items():
            if (version, *position[-2:]) in seen:
                continue
            seen.add((version, *position[-2:]))
            yield pytest.param(text, position, key, id=f"{path.name.partition('.odcs')[0]}-{'.'.join(position)}")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_the_examples_are_valid(path: Path) -> None:
    checked = check_contract(path.read_text("utf-8"), path.name)
    assert checked.problems == ()
    assert checked.standard is not None
    assert checked.standard.version in path.name


@pytest.mark.parametrize(("text", "position", "key"), list(misspelt()))
def test_a_misspelt_key_is_refused_with_its_line(text: str, position: Position, key: yaml.ScalarNode) -> None:
    begin, end = key.start_mark.index, key.end_mark.index
    wrong = check_contract(f"{text[:begin]}{key.value[:-1]}Q{text[end:]}", "a.odcs.yaml")
    line = key.start_mark.line + 1
    if position == ("apiVersion",):
        assert [str(one) for one in wrong.problems] == [
            f"a.odcs.yaml:{root_of(text).start_mark.line + 1}: apiVersion is missing; "
            f"this release of Whence reads {', '.join(VERSIONS)}"
        ]
        return
    about = [one for one in wrong.problems if one.rule == "unknown-key" and one.line == line]
    assert [one.text for one in about if f"{key.value[:-1]}Q" in one.text], wrong.problems


def test_the_corpus_has_most_keys_of_the_standard() -> None:
    """The property above is about what the examples contain, so they must contain nearly everything."""
    used = {position[-1] for path in EXAMPLES for position in keys_of(path.read_text("utf-8"))}
    newest = read_standard(VERSIONS[-1])
    assert newest is not None
    listed = set(re.findall(r'"(\w+)": \{', json.dumps(newest.schema["properties"])))
    assert len(used & listed) >= 15
    assert len(used) > 100


def objects_of(standard: Standard) -> dict[Place, frozenset[str]]:
    """Where a contract may have an object, and the keys that it may have there; of objects of one kind, the first."""
    found: dict[Place, frozenset[str]] = {}
    seen = set[frozenset[int]]()

    def visit(schemas: tuple[Schema, ...], path: Place) -> None:
        kind = frozenset(map(id, schemas))
        if kind in seen or not schemas:
            return
        seen.add(kind)
        if keys := standard.members(schemas):
            found[path] = keys
        for key in sorted(keys or {key for one in schemas for key in one.get("properties", ())}):
            visit(standard.member(schemas, key), (*path, key))
        visit(standard.item(schemas), (*path, 0))

    visit(standard.root, ())
    return found


def nested(path: Place, members: list[str]) -> str:
    """The members of an object, at a place of a document. Each member has a line of its own, the last ones."""
    lines, indent = [], ""
    for step in path:
        if step == 0:
            indent += "- "
        else:
            lines.append(f"{indent}{step}:")
            indent = " " * (len(indent) + 2)
    first, *others = members
    return "\n".join([*lines, f"{indent}{first}: x", *(f"{' ' * len(indent)}{one}: x" for one in others), ""])


def misspellings(key: str) -> set[str]:
    """Slips of the pen: a letter too few, too many, in the other case, and two that changed places."""
    return {key[:-1], key + key[-1], key.swapcase()[0] + key[1:], key[:-2] + key[-1] + key[-2], key.lower()}


@pytest.mark.parametrize("version", VERSIONS)
def test_every_key_of_the_standard_is_refused_if_it_is_misspelt(version: str) -> None:
    standard = read_standard(version)
    assert standard is not None
    objects = objects_of(standard)
    for path, keys in objects.items():
        wrong = sorted({one for key in keys for one in misspellings(key)} - keys - {""})
        text = SMALL.format(version) + nested(path, wrong)
        first = len(text.splitlines()) - len(wrong) + 1
        found = {(one.line, one.text.partition("; ")[0]) for one in check_contract(text, "a").problems}
        message = {(first + place, f"no key {key!r} belongs here") for place, key in enumerate(wrong)}
        assert message <= found, (path, message - found)
    assert frozenset().union(*objects.values()) >= listed_keys(standard.schema)


def listed_keys(schema: object) -> set[str]:
    """Every key that a JSON Schema lists, wherever it does."""
    match schema:
        case dict():
            own = schema.get("properties")
            inner = {key for one in schema.values() for key in listed_keys(one)}
            return inner | (set(own) if isinstance(own, dict) else set())
        case list():
            return {key for one in schema for key in listed_keys(one)}
    return set()


@pytest.mark.parametrize("version", VERSIONS)
@given(key=st.from_regex(r"[a-zA-Z]{1,12}", fullmatch=True))
def test_no_version_has_a_key_that_the_standard_does_not_list(version: str, key: str) -> None:
    standard = read_standard(version)
    assert standard is not None
    checked = check_contract(f"{SMALL.format(version)}{key}: [x]\n", "a")
    if key in standard.schema["properties"]:
        assert all(one.rule != "unknown-key" for one in checked.problems)
    else:
        assert [(one.rule, one.line) for one in checked.problems] == [("unknown-key", 6)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["a:1: it is not a contract: write `key: value` lines"]),
        ("- a\n", ["a:1: it is not a contract: write `key: value` lines"]),
        ("a: [\n", ["a:2: it is not YAML: expected the node content, but found '<stream end>'"]),
        ("apiVersion: v9\n", ["a:1: apiVersion 'v9' is unknown; this release of Whence reads v3.0.2, v3.1.0, v3.2.0"]),
        (
            "apiVersion: v3.1.0\nkind: DataContract\nid: 5\n",
            ["a:1: 'status' is missing", "a:1: 'version' is missing", "a:3: write a text here, not 5"],
        ),
        (f"{SMALL.format('v3.1.0')}id: b\n", ["a:6: the key 'id' is here twice"]),
        (f"{SMALL.format('v3.1.0')}? [x]\n: y\n", ["a:6: write a text as the key"]),
        (
            f"{SMALL.format('v3.2.0')}schema:\n- name: t\n  properties:\n  - name: c\n    logicalType: strin\n",
            [
                "a:10: write one of string, date, timestamp, time, number, integer, object, array, boolean, map, "
                "vector, not 'strin'; did you mean 'string'?"
            ],
        ),
        (
            f"{SMALL.format('v3.1.0')}servers:\n- server: s\n  type: postgres\n  host: h\n  port: x\n",
            ["a:7: 'database' is missing", "a:7: 'schema' is missing", "a:10: write a whole number here, not 'x'"],
        ),
        (
            f"{SMALL.format('v3.1.0')}schema: [{{name: t, properties: [{{name: c, logicalType: date, "
            "logicalTypeOptions: {maxLength: 3}}]}]\n",
            ["a:6: no key 'maxLength' belongs here, beside what else is written"],
        ),
    ],
)
def test_each_mistake_is_said(text: str, expected: list[str]) -> None:
    assert [str(one) for one in check_contract(text, "a").problems] == expected


def test_aliases_are_values_and_a_bomb_is_none() -> None:
    shared = f"{SMALL.format('v3.1.0')}tags: &t [a, b]\nschema:\n- {{name: x, tags: *t}}\n- {{name: y, tags: *t}}\n"
    assert check_contract(shared, "a").problems == ()
    merged = f"{SMALL.format('v3.1.0')}schema:\n- &x {{name: x, physicalType: view}}\n- {{<<: *x, name: y}}\n"
    assert check_contract(merged, "a").problems == ()
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60))
    assert "aliases repeat too much" in check_contract(bomb, "a").problems[0].text


def test_what_yaml_takes_for_a_date_or_a_number_of_minutes_is_a_text() -> None:
    text = f"{SMALL.format('v3.1.0')}contractCreatedTs: 2025-01-31\nslaProperties: [{{property: p, value: 9:30}}]\n"
    checked = check_contract(text, "a")
    assert checked.values is not None
    assert checked.values.root["contractCreatedTs"] == "2025-01-31"
    assert checked.values.root["slaProperties"][0]["value"] == "9:30"


@given(st.text(max_size=200))
def test_any_text_has_an_answer(text: str) -> None:
    assert isinstance(check_contract(text, "a"), Checked)


def test_reports() -> None:
    wrong = check_contract(f"{SMALL.format('v3.1.0')}nmae: x\n", "b c/☃.odcs.yaml")
    right = check_contract(SMALL.format("v3.0.1"), "d.odcs.yaml")
    assert problem_lines([wrong, right]) == [
        "b c/☃.odcs.yaml:6: no key 'nmae' belongs here; did you mean 'name'?",
        "1 of 2 contracts valid",
    ]
    assert problem_document([right])["contracts"] == [
        {"file": "d.odcs.yaml", "standard": "v3.0.2", "valid": True, "problems": []}
    ]
    sarif = problem_sarif([wrong, right], "0.1.0")
    SARIF.validate(json.loads(json.dumps(sarif)))
    location = sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert location["region"] == {"startLine": 6}
