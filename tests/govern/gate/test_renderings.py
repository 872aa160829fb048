"""A judgement in all its forms: what leads, what is left out, and that no name is ever more than a name."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from govern.gate.cases import BOARD, FACTS, HEAD, NOW, ORDERS, REVENUE, affected, approval, assessment, change, many
from whence.govern.gate.impact import HIDDEN, Affected, Facts, Impact, Reach
from whence.govern.gate.judge import judge
from whence.govern.gate.judgement import Judgement
from whence.govern.gate.policy import DEFAULT_RULES, Rules
from whence.govern.gate.rendering.documents import judgement_document
from whence.govern.gate.rendering.findings import gitlab, rdjson, sarif
from whence.govern.gate.rendering.markdown import LONGEST, MARKER, markdown
from whence.govern.gate.rendering.names import code
from whence.govern.gate.rendering.summary import Summary, headline, summarize
from whence.govern.gate.rendering.text import text_lines
from whence.model.changes import ChangeKind
from whence.model.names import DatasetName, FieldName, JobName, Node

SARIF = jsonschema_rs.validator_for(json.loads((Path(__file__).parent / "sarif-2.1.0.json").read_text("utf-8")))
HOSTILE = (
    "@finance please | approve`` ```\n# merged\n<!-- whence:gate --><script>alert(1)</script>",
    "a\\|b\\\\|c`",
    "[click](javascript:alert(1)) ![x](https://evil.example/p.png) www.evil.example #1 !2",
    "\u202egnp.exe\u2066 \x1b[31mred\x1b[0m \x00 </details>",
    "`",
    " ",
    "\ud800",
)


def judged(*nodes: Node, kind: ChangeKind = ChangeKind.VALUES, **more: str) -> tuple[Judgement, Summary]:
    one = change(kind, **more)
    made = judge(assessment((one, Impact(affected=affected(*nodes)))), DEFAULT_RULES, HEAD, now=NOW)
    return made, summarize(made, FACTS)


def tokens(text: str) -> Iterator[Token]:
    """The parts of a comment, as a renderer of GitHub's dialect reads it."""
    for block in MarkdownIt("gfm-like", {"html": True, "linkify": False}).parse(text):
        yield block
        yield from block.children or ()


def outside_code(text: str) -> str:
    """All that a reader sees as text, and not as code."""
    return " ".join(one.content for one in tokens(text) if one.type in ("text", "html_inline", "html_block"))


def forms(judgement: Judgement, summary: Summary) -> dict[str, str]:
    """Every form, as it is written."""
    return {
        "text": "\n".join(text_lines(judgement, summary)),
        "markdown": markdown(judgement, summary),
        "json": json.dumps(judgement_document(judgement, summary)),
        "sarif": json.dumps(sarif(judgement, "0.1.0")),
        "gitlab": json.dumps(gitlab(judgement)),
        "rdjson": json.dumps(rdjson(judgement)),
    }


def test_the_comment_leads_with_dashboards_and_certified_datasets() -> None:
    text = markdown(*judged(*many(3), REVENUE, BOARD), link="https://whence.example/gate/1")
    assert text.startswith(f"{MARKER}\n### ✋ Whence gate: approval needed: 1 change, 1 dashboard, 1 certified dataset")
    leading = text.partition("#### Affected first of all")[2].partition("####")[0]
    rows = [line for line in leading.splitlines() if line.startswith("| ")][1:]
    assert rows == [
        f"| dashboard | `Revenue board` | by value, 5 hops | `{judged()[0].changes[0].id}` | `board-owner` |",
        f"| certified dataset, tier 1 | `shop.gold.revenue` | by value, 4 hops | `{judged()[0].changes[0].id}` | "
        "`finance` |",
    ]
    assert "[open the verdict](<https://whence.example/gate/1>)" in text


def test_a_pass_is_short() -> None:
    text = markdown(*judged(kind=ChangeKind.ADDED))
    assert text.count("\n") < 6
    assert "nothing that others rely on changes" in text


def test_approvals_and_what_is_stale_are_shown() -> None:
    made = judge(
        assessment((change(), Impact(affected=affected(REVENUE)))),
        Rules(approvers={"finance": frozenset({"bob"})}),
        HEAD,
        (approval("bob", "01d" * 13),),
        now=NOW,
    )
    text = markdown(made, summarize(made, FACTS))
    assert "| `finance` | `bob` | — |" in text
    assert "- `bob` approved `01d01d01d01d`, not this commit: approve again" in text


def test_a_comment_has_at_most_60_000_characters_and_whole_rows() -> None:
    wide = tuple(DatasetName("ns", f"{'x' * 500}{number}") for number in range(3_000))
    made, summary = judged(*wide)
    text = markdown(made, summary)
    assert len(text) <= LONGEST
    assert "more are left out here" in text
    assert text.count("<details>") == text.count("</details>") == 1
    assert {line.count("|") for line in text.splitlines() if line.startswith("|")} == {5, 6}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_never_markup(name: str) -> None:
    hostile, owner = DatasetName("ns", name), f"owner {name}"
    one = replace(change(before=name, after=name, reason=name, file=name), dataset=hostile, column=name)
    impact = Impact(affected=(Affected(node=FieldName(hostile, name), reach=Reach.VALUE, path=(hostile, hostile)),))
    facts: dict[Node, Facts] = {hostile: Facts(owners=(owner,), types=("DASHBOARD",), tier=1)}
    made = judge(replace(assessment((one, impact)), facts=facts), DEFAULT_RULES, HEAD, (approval(name),), now=NOW)
    text = markdown(made, summarize(made, facts))
    plain, tame = outside_code(text), outside_code(markdown(*judged(REVENUE)))
    kinds = {one.type for one in tokens(text)}
    assert kinds <= {one.type for one in tokens(markdown(*judged(REVENUE, BOARD)))} | {"bullet_list_open"} | {
        f"{part}_{end}" for part in ("bullet_list", "list_item", "paragraph") for end in ("open", "close")
    }
    assert set("@#![") & set(plain) <= set("@#![") & set(tame)
    assert "javascript" not in plain
    assert "evil" not in plain
    (posted,) = (outside_code(one["message"]) for one in rdjson(made)["diagnostics"])
    assert not set("@#![") & set(posted)
    assert "evil" not in posted
    assert text.count("\n### ") == 1
    assert {row.count("|") for row in text.splitlines() if row.startswith("| ") and "`" in row} <= {5, 6}
    assert "\x1b" not in "".join(forms(made, summarize(made, facts)).values())


@given(st.text(max_size=60))
def test_no_text_leaves_its_code_span(name: str) -> None:
    made, summary = judged(DatasetName("ns", name))
    rows = [block for block in tokens(markdown(made, summary)) if block.type == "code_inline"]
    assert len(rows) == len(
        [one for one in tokens(markdown(*judged(DatasetName("ns", "plain")))) if one.type == "code_inline"]
    )


def test_a_hidden_node_is_counted_and_never_named() -> None:
    token = DatasetName(HIDDEN, "8d969eef6ecad3c29a3a")
    column = FieldName(REVENUE, f"{HIDDEN}-0123456789abcdef0123")
    made, summary = judged(token, FieldName(token, f"{HIDDEN}-ffff"), JobName(HIDDEN, "5e88"), column)
    assert (summary.hidden, [one.subject for one in summary.hits]) == (2, [REVENUE])
    for form, text in forms(made, summary).items():
        assert not any(part in text for part in ("8d969eef", "01234567", "ffff", "5e88")), form
    assert "and 2 nodes that this key may not see" in forms(made, summary)["text"]


def test_the_surest_and_shortest_way_counts() -> None:
    way = (ORDERS, REVENUE)
    ways = (
        Affected(node=REVENUE, reach=Reach.ASSUMED, path=(ORDERS, REVENUE)),
        Affected(node=FieldName(REVENUE, "total"), reach=Reach.VALUE, path=(*way, REVENUE)),
        Affected(node=FieldName(REVENUE, "day"), reach=Reach.INFLUENCE, path=way),
    )
    made = judge(assessment((change(), Impact(affected=ways))), DEFAULT_RULES, HEAD, now=NOW)
    (hit,) = summarize(made, FACTS).hits
    assert (hit.nearest.reach.text, hit.nearest.distance) == ("by value", 2)


@pytest.mark.parametrize("kind", ChangeKind)
@pytest.mark.parametrize("name", ["models/orders.sql", "models/ord ers%20#?.sql", *HOSTILE])
def test_sarif_is_as_its_schema_demands(kind: ChangeKind, name: str) -> None:
    made, _ = judged(REVENUE, kind=kind, file=name, reason=name)
    document = sarif(made, "0.1.0")
    SARIF.validate(json.loads(json.dumps(document)))
    (run,) = document["runs"]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert unquote(uri) == name.encode("utf-8", "replace").decode()
    assert len(run["results"]) == (0 if kind.is_harmless else 1)


@pytest.mark.parametrize("file", ["models/a.sql", *(f"{name}.sql" for name in HOSTILE)])
def test_every_form_names_a_file_that_nothing_judged(file: str) -> None:
    made = judge(assessment(), DEFAULT_RULES, HEAD, now=NOW, unread=("README.md", file))
    summary = summarize(made, FACTS)
    assert headline(made, summary) == "unknown: 1 changed file not judged"
    SARIF.validate(json.loads(json.dumps(sarif(made, "1"))))
    (result,) = sarif(made, "1")["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("whence/not-judged", "warning")
    assert [one["check_name"] for one in gitlab(made)] == ["whence/not-judged"]
    assert [one["code"]["value"] for one in rdjson(made)["diagnostics"]] == ["whence/not-judged"]
    text = markdown(made, summary)
    assert "1 file not judged" in text
    assert outside_code(text).replace(" ", "") == outside_code(text.replace(code(file), "`x`")).replace(" ", "")
    approved = judge(assessment(), DEFAULT_RULES, HEAD, (approval("dora"),), now=NOW, unread=(file,))
    assert headline(approved, summary) == "note: 1 changed file not judged"


def test_findings_are_known_again_when_they_move() -> None:
    first, later = (judged(REVENUE)[0], judged(REVENUE, file="elsewhere.sql")[0])
    assert [one["fingerprint"] for one in gitlab(first)] == [one["fingerprint"] for one in gitlab(later)]
    prints = [sarif(one, "1")["runs"][0]["results"][0]["partialFingerprints"] for one in (first, later)]
    assert prints[0] == prints[1]


def test_gitlab_and_reviewdog_get_what_their_formats_name() -> None:
    made, _ = judged(REVENUE)
    (finding,) = gitlab(made)
    assert finding.keys() == {"description", "check_name", "fingerprint", "severity", "location"}
    assert finding["severity"] == "major"
    assert finding["location"] == {"path": "models/orders.sql", "lines": {"begin": 3}}
    (diagnostic,) = rdjson(made)["diagnostics"]
    assert diagnostic["severity"] == "WARNING"
    assert diagnostic["location"]["range"]["start"]["line"] == 3
    blocked, _ = judged(kind=ChangeKind.BROKEN_REFERENCE)
    assert (gitlab(blocked)[0]["severity"], rdjson(blocked)["diagnostics"][0]["severity"]) == ("blocker", "ERROR")


def test_the_headline_names_nothing() -> None:
    made, summary = judged(REVENUE, BOARD)
    assert headline(made, summary) == "approval needed: 1 change, 1 dashboard, 1 certified dataset affected"
