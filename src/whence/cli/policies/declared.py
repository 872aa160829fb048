"""`whence policy apply`, `list` and `show`: the policies that a server judges by."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from rich.text import Text

from whence.cli.declarations import RulesFile, apply_rules
from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.cli.policies.files import load_policies
from whence.client.acts.policies import DeclaredPolicy, RuleState
from whence.client.questions import Client
from whence.errors import QuestionError, RulesFileError
from whence.govern.declared_rules import HeldRule
from whence.govern.policies.policy import Policy
from whence.govern.policies.records import POLICIES
from whence.model.names import DatasetName, parse_node
from whence.query.answers.instants import iso


def show_applied(file: Path, url: str, output: Output, *, prune: bool, dry_run: bool) -> Exit:
    """Declare the policies of a file, and print what changed. Raises RulesFileError, ArtifactError, ApiError."""
    policies = load_policies(file).policies
    for one in policies:
        _check_namespaces(one)
    apply_rules(
        RulesFile(kind=POLICIES, rules=policies, noun="policies"), url, _held, output, prune=prune, dry_run=dry_run
    )
    return Exit.OK


def _check_namespaces(one: Policy) -> None:
    if not one.namespaces:
        reason = f"{one.name!r} is to be declared: state in which namespaces, such as namespaces: [postgres://db:5432]"
        raise RulesFileError(one.place, reason)


def _held(questions: Client) -> Iterator[HeldRule]:
    for one in questions.policies():
        yield HeldRule(namespace=one.namespace, name=one.name, version=one.version)


def show_list(questions: Client, namespace: str, output: Output) -> Exit:
    """Print the declared policies."""
    found = [one for one in questions.policies() if namespace in ("", one.namespace)]
    states = [one for one in questions.rule_states(kind="policy") if any(_is_of(one, policy) for policy in found)]
    if output is Output.JSON:
        print_document({"policies": msgspec.to_builtins(found), "states": msgspec.to_builtins(states)})
    else:
        lines = [_line(one) + _counted([state for state in states if _is_of(state, one)]) for one in found]
        print_lines(map(Text, lines or ["No policy is declared."]))
    return Exit.OK


def show_one(questions: Client, name: str, as_of: int | None, output: Output) -> Exit:
    """Print a declared policy in each of its namespaces, and the datasets of which it does not hold at a time. Raises
    QuestionError if there is none.
    """
    found = [one for one in questions.policies() if one.name == name]
    if not found:
        raise QuestionError("policy", f"no policy is declared as {name!r}; see `whence policy list`")
    states = questions.rule_states(kind="policy", rule=name, as_of=None if as_of is None else iso(as_of))
    if output is Output.JSON:
        print_document({"policies": msgspec.to_builtins(found), "states": msgspec.to_builtins(states)})
    else:
        print_lines(Text(line) for one in found for line in (*_detail(one), *_where_not_held(one, states)))
    return Exit.OK


def _is_of(state: RuleState, policy: DeclaredPolicy) -> bool:
    node = parse_node(state.node)
    return state.rule == policy.name and isinstance(node, DatasetName) and node.namespace == policy.namespace


def _counted(states: Sequence[RuleState]) -> str:
    violated = sum(one.state == "violated" for one in states)
    return f"  ({violated:,} violated, {len(states) - violated:,} not evaluated)" if states else ""


def _where_not_held(policy: DeclaredPolicy, states: Sequence[RuleState]) -> Iterator[str]:
    return (line for one in states if _is_of(one, policy) for line in _state_lines(one))


def _state_lines(one: RuleState) -> Iterator[str]:
    yield f"  {one.state} since {one.since}: {safe(one.node)}"
    if one.columns:
        yield f"    columns {', '.join(map(safe, one.columns))}"


def _line(one: DeclaredPolicy) -> str:
    return f"{safe(one.name)}  {safe(one.namespace)}: {safe(one.reason or '')}; ask {safe(one.owner or 'nobody')}"


def _detail(one: DeclaredPolicy) -> Iterator[str]:
    yield _line(one)
    yield f"  declared {one.declared_at} by {safe(one.declared_by)}, version {one.version}"
    if one.text is not None:
        (policy,) = json.loads(one.text)["policies"]
        members = {key: value for key, value in policy.items() if key not in ("name", "reason", "owner", "namespaces")}
        yield from (f"  {key}: {safe(json.dumps(value, ensure_ascii=False))}" for key, value in members.items())
