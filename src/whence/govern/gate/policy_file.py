"""Reading `gate.yaml`: a closed schema, so a misspelt key is an error with its line, never a rule that is off."""

from collections.abc import Mapping

from whence.govern.gate.policy import DEFAULT_RULES, Reaction, Rules, Waiver
from whence.govern.yaml_nodes import Node, Reader, parse, read_each, read_members, read_version

_LONGEST_REASON = 1_000


def read_rules(text: str, file: str = "gate.yaml") -> Rules:
    """The rules that a file states; what it leaves out has its default. Raises RulesFileError with file and line."""
    root = parse(text, file)
    if root is None:
        return DEFAULT_RULES
    stated = read_members(root, _TOP)
    approval = stated.pop("approval", {})
    paths = stated.pop("paths", {})
    promotion = stated.pop("promotion", {})
    stated.pop("version", None)
    return Rules(
        **approval,
        **stated,
        **{f"promotion_{name}": value for name, value in promotion.items()},
        only_paths=paths.get("only", ()),
        ignored_paths=paths.get("ignore", ()),
        code_paths=paths.get("code", ()),
    )


def _count(node: Node) -> int:
    number = node.integer()
    if number < 0:
        raise node.mistake("write a number that is not negative")
    return number


def _count_or_none(node: Node) -> int | None:
    return None if node.is_null() else _count(node)


def _days(node: Node) -> int:
    if (number := node.integer()) < 1:
        raise node.mistake("write a number of days, 1 or more")
    return number


def _percent(node: Node) -> int:
    if not 0 <= (number := node.integer()) <= 100:
        raise node.mistake("write a percentage, from 0 to 100")
    return number


def _tiers(node: Node) -> frozenset[int]:
    return frozenset(item.integer() for item in node.list())


def _reaction(*allowed: Reaction) -> Reader:
    def read(node: Node) -> Reaction:
        if node.string() not in allowed:
            raise node.mistake(f"write one of {', '.join(allowed)}")
        return Reaction(node.string())

    return read


def _strings(node: Node) -> tuple[str, ...]:
    return tuple(item.filled() for item in node.list())


def _approvers(node: Node) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for item in node.list():
        entry = read_members(item, {"owner": Node.filled, "people": _strings}, ("owner", "people"))
        if entry["owner"] in found:
            raise item.mistake(f"the owner {entry['owner']!r} is here twice")
        found[entry["owner"]] = frozenset(entry["people"])
    return found


def _waivers(node: Node) -> tuple[Waiver, ...]:
    return read_each(node.list(), _waiver)


def _waiver(node: Node) -> Waiver:
    readers = {"change": Node.filled, "reason": _reason, "owner": Node.filled, "expires": Node.day}
    entry = read_members(node, readers, tuple(readers))
    return Waiver(**entry, place=node.place)


def _reason(node: Node) -> str:
    if len(text := node.filled()) > _LONGEST_REASON:
        raise node.mistake(f"a reason has at most {_LONGEST_REASON:,} characters")
    return text


_ANY = tuple(one for one in Reaction if one not in (Reaction.PASS, Reaction.JUDGE))
_KNOWN = tuple(one for one in _ANY if one is not Reaction.UNKNOWN)

_TOP: Mapping[str, Reader] = {
    "version": read_version,
    "approval": lambda node: read_members(
        node, {"downstream_nodes": _count_or_none, "certified": Node.boolean, "tiers": _tiers}
    ),
    "on_breaking": _reaction(*_KNOWN),
    "on_contract": _reaction(*_KNOWN),
    "on_broken_reference": _reaction(*_KNOWN),
    "on_unknown": _reaction(*_ANY),
    "on_not_confirmed": _reaction(Reaction.JUDGE, Reaction.PASS, Reaction.NOTE, Reaction.APPROVAL),
    "on_incomplete": _reaction(*_ANY),
    "on_unjudged": _reaction(*_ANY),
    "on_policy": _reaction(*_KNOWN),
    "readers_within_days": _days,
    "approvers": _approvers,
    "paths": lambda node: read_members(node, {"only": _strings, "ignore": _strings, "code": _strings}),
    "promotion": lambda node: read_members(node, {"coverage": _percent, "certified_inputs": Node.boolean}),
    "waivers": _waivers,
}
