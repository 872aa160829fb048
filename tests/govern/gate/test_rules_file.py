"""`gate.yaml`: what it may say, and that every mistake in it is reported with its line."""

from datetime import date

import pytest

from whence.errors import RulesFileError
from whence.govern.gate.policy import DEFAULT_RULES, Reaction, Rules, Verdict, Waiver
from whence.govern.gate.policy_file import read_rules

WHOLE = """\
version: 1
approval:
  downstream_nodes: 20
  certified: false
  tiers: [1, 2]
on_breaking: block
on_contract: approval
on_broken_reference: note
on_unknown: approval
on_incomplete: block
readers_within_days: 30
approvers:
  - owner: finance
    people: [bob, carol]
  - owner: "*"
    people: [dora]
paths:
  only: ["models/*"]
  ignore: ["models/sandbox/*"]
promotion:
  coverage: 80
  certified_inputs: true
waivers:
  - change: C-0123456789
    reason: the column moves on Monday
    owner: bob
    expires: 2027-01-31
"""


def test_a_file_that_says_everything() -> None:
    assert read_rules(WHOLE) == Rules(
        downstream_nodes=20,
        certified=False,
        tiers=frozenset({1, 2}),
        on_breaking=Reaction.BLOCK,
        on_contract=Reaction.APPROVAL,
        on_broken_reference=Reaction.NOTE,
        on_unknown=Reaction.APPROVAL,
        on_incomplete=Reaction.BLOCK,
        readers_within_days=30,
        approvers={"finance": frozenset({"bob", "carol"}), "*": frozenset({"dora"})},
        only_paths=("models/*",),
        ignored_paths=("models/sandbox/*",),
        promotion_coverage=80,
        promotion_certified_inputs=True,
        waivers=(
            Waiver(
                change="C-0123456789",
                reason="the column moves on Monday",
                owner="bob",
                expires=date(2027, 1, 31),
                place="gate.yaml:24",
            ),
        ),
    )


@pytest.mark.parametrize("text", ["", "# only a comment\n", "version: 1\n", "approval: {}\n"])
def test_what_a_file_leaves_out_has_its_default(text: str) -> None:
    assert read_rules(text) == DEFAULT_RULES


def test_the_defaults_are_those_of_lineage_verified_changes() -> None:
    assert (DEFAULT_RULES.downstream_nodes, DEFAULT_RULES.certified, DEFAULT_RULES.tiers) == (5, True, frozenset({1}))


def test_a_threshold_can_be_turned_off() -> None:
    assert read_rules("approval: {downstream_nodes: null}").downstream_nodes is None


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("aproval: {}", 1, "did you mean 'approval'?"),
        ("version: 1\napproval:\n  certifed: true", 3, "did you mean 'certified'?"),
        ("version: 2", 1, "version 1"),
        ("version: 1\nversion: 1", 2, "twice"),
        ("approval:\n  downstream_nodes: many", 2, "whole number"),
        ("approval:\n  downstream_nodes: -1", 2, "not negative"),
        ("approval:\n  certified: 'true'", 2, "true or false"),
        ("approval:\n  tiers: 1", 2, "a list"),
        ("on_contract: unknown", 1, "one of note, approval, block"),
        ("on_not_confirmed: block", 1, "one of judge, pass, note, approval"),
        ("on_unknown: pass", 1, "one of note, approval, unknown, block"),
        ("readers_within_days: 0", 1, "1 or more"),
        ("approvers: [{owner: a}]", 1, "'people' is missing"),
        ("approvers:\n- {owner: a, people: [b]}\n- {owner: a, people: [c]}", 3, "twice"),
        ("approvers: [{owner: ' ', people: [b]}]", 1, "not empty"),
        ("paths: [a]", 1, "key: value"),
        ("promotion:\n  coverage: 101", 2, "from 0 to 100"),
        ("waivers:\n- {change: C-1, reason: because, owner: bob}", 2, "'expires' is missing"),
        ("waivers:\n- {change: C-1, expires: 2027-01-01, owner: bob}", 2, "'reason' is missing"),
        ("waivers:\n- {change: C-1, expires: soon, owner: bob, reason: x}", 2, "a date"),
        ("waivers:\n- {change: C-1, expires: 2027-01-01, owner: bob, reason: x, scope: all}", 2, "belongs here"),
        ("a: [b", 1, "not YAML"),
        ("- a", 1, "key: value"),
        ("x: !!python/object/apply:os.system [id]", 1, "belongs here"),
    ],
)
def test_every_mistake_is_reported_with_its_line(text: str, line: int, reason: str) -> None:
    with pytest.raises(RulesFileError) as raised:
        read_rules(text, "whence/gate.yaml")
    assert raised.value.path == f"whence/gate.yaml:{line}"
    assert reason in raised.value.reason


def test_a_misspelling_of_any_key_is_refused() -> None:
    """Each key of the whole file, one at a time, without its last letter."""
    keys = [(number, line) for number, line in enumerate(WHOLE.splitlines()) if ":" in line]
    assert len(keys) == 27
    for number, line in keys:
        indent, key, rest = line.partition(line.strip().lstrip("- ").partition(":")[0])
        lines = WHOLE.splitlines()
        lines[number] = f"{indent}{key[:-1]}{rest}"
        with pytest.raises(RulesFileError) as raised:
            read_rules("\n".join(lines))
        assert raised.value.path.startswith("gate.yaml:"), line


def test_paths_are_patterns() -> None:
    rules = read_rules(WHOLE)
    assert [rules.judges(path) for path in ("models/a.sql", "models/sandbox/b.sql", "seeds/c.csv")] == [
        True,
        False,
        False,
    ]


def test_verdicts_grow_worse() -> None:
    assert [one.text for one in sorted(Verdict)] == ["pass", "note", "approval needed", "unknown", "blocked"]
