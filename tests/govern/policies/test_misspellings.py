"""Every key, attribute and word of the closed schema of policies: misspelt in any way, it is refused with its line."""

import re
from collections.abc import Iterator

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from whence.errors import RulesFileError
from whence.govern.policies.condition_file import EXPIRES, _attributes
from whence.govern.policies.policy_file import _DECLASSIFIER, _TOP, read_policies
from whence.govern.yaml_nodes import Node

FILE = """\
version: 1
categories:
  secret: [vault]
declassifiers:
  - function: vault_mask
    grade: pseudonymous
    reason: reviewed
    owner: privacy
namespaces: [prod]
policies:
  - name: one
    reason: two
    owner: three
    forbid:
      kind: column
      namespace: prod
      name: users
      column: mail
      tag: pii
      owner: ada
      owned: true
      type: MODEL
      tier: 1
      certified: true
      label: secret>=partial
      outlives_sources: true
      reads:
        kind: dataset
        derived_from:
          label: pii>=full
    unless:
      - tag: approved
        expires: 2027-01-01
    examples:
      - is: violated
        node:
          kind: column
          namespace: prod
          name: users
          column: mail
          tag: pii
          owner: ada
          type: MODEL
          tier: 1
          certified: true
          label: pii>=full
          assumed: pii>=full
          source_retention: 30d
          unknown: hidden
          reads:
            - name: raw
      - is: not evaluated
        node:
          name: raw
  - name: four
    reason: five
    owner: six
    namespaces: prod
    where:
      kind: column
    require:
      tag: masked
  - name: seven
    reason: eight
    owner: nine
    where:
      label: pii>=full
    restrict: reading
    readers: group:privacy
"""
LINES = FILE.splitlines()
_KEY = re.compile(r"^[\s-]*(\w+):")
KEYS = [(at, found.start(1), found.end(1)) for at, line in enumerate(LINES) if (found := _KEY.match(line))]
_CLOSED = re.compile(r"^[\s-]*(?:kind|is|grade|restrict|label|assumed|certified|owned|outlives_sources): (.+)$")


def _closed_words() -> Iterator[tuple[int, int, int]]:
    """Each word of a value of which the schema knows all words."""
    for at, line in enumerate(LINES):
        if found := _CLOSED.match(line):
            for one in re.finditer(r"[a-z]+", found[1]):
                yield at, found.start(1) + one.start(), found.start(1) + one.end()


def misspelled(word: str, at: int, letter: str, how: str) -> str:
    """The word with a letter left out, doubled, replaced, added, or exchanged with the next one."""
    at %= len(word)
    before, one, after = word[:at], word[at], word[at + 1 :]
    match how:
        case "without":
            return before + after
        case "doubled":
            return before + one + one + after
        case "replaced":
            return before + letter + after
        case "added":
            return before + letter + one + after
        case "upper":
            return before + one.upper() + after
    return before + after[:1] + one + after[1:]


edits = st.tuples(
    st.integers(0, 20),
    st.sampled_from("abcdefghijklmnopqrstuvwxyz_"),
    st.sampled_from(("without", "doubled", "replaced", "added", "exchanged", "upper")),
)


def refuse(place: tuple[int, int, int], edit: tuple[int, str, str]) -> None:
    line, start, end = place
    word = LINES[line][start:end]
    wrong = misspelled(word, *edit)
    assume(wrong and wrong != word)
    lines = [*LINES]
    lines[line] = lines[line][:start] + wrong + lines[line][end:]
    with pytest.raises(RulesFileError) as raised:
        read_policies("\n".join(lines))
    assert "policies.yaml:" in str(raised.value)
    if lines[line].lstrip("- ").startswith(wrong):
        assert f"policies.yaml:{line + 1}:" in str(raised.value), (wrong, str(raised.value))


def test_the_file_is_valid_and_has_every_key_of_the_schema() -> None:
    assert len(read_policies(FILE).policies) == 3
    written = {LINES[at][start:end] for at, start, end in KEYS}
    assert {*_TOP, *_DECLASSIFIER, *_attributes(frozenset(), Node.filled), EXPIRES} <= written


@given(st.sampled_from([one for one in KEYS if "secret" not in LINES[one[0]] or ">=" in LINES[one[0]]]), edits)
@example(KEYS[0], (0, "x", "without"))
def test_a_misspelt_key_is_refused(place: tuple[int, int, int], edit: tuple[int, str, str]) -> None:
    refuse(place, edit)


@given(st.sampled_from(list(_closed_words())), edits)
def test_a_misspelt_word_is_refused(place: tuple[int, int, int], edit: tuple[int, str, str]) -> None:
    refuse(place, edit)
