"""The weekly report as Markdown and HTML: golden texts, and what no name can do to them."""

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fixtures.golden_texts import compare
from whence.client.acts.reports import WeeklyReport
from whence.govern.reports.rendering.html import render_html
from whence.govern.reports.rendering.markdown import render_markdown
from whence.govern.reports.rendering.numbers import bytes_text, change_text, length_text, share_text

GOLDEN = Path(__file__).parent / "golden"
EVIL = "board\x1b[31m\u202e<script>alert(1)</script>|`@all`\n# x"


@pytest.mark.parametrize("name", ["full", "unknown", "hidden"])
def test_both_forms_are_the_committed_ones(name: str) -> None:
    found = msgspec.json.decode((GOLDEN / f"{name}.json").read_text("utf-8"), type=WeeklyReport)
    compare(GOLDEN / f"{name}.md", render_markdown(found))
    compare(GOLDEN / f"{name}.html", render_html(found).decode())
    assert (render_markdown(found), render_html(found)) == (render_markdown(found), render_html(found))


def test_what_cannot_be_known_is_never_a_zero() -> None:
    found = msgspec.json.decode((GOLDEN / "unknown.json").read_text("utf-8"), type=WeeklyReport)
    text = render_markdown(found)
    for part in text.split("\n## ")[1:]:
        title = part.partition("\n")[0]
        assert "not known" in part.lower() or title in ("Violations", "Gates", "Error budgets"), part
    assert "0 s" not in text.replace("| 0 s |", "")  # nothing watched it, which is known
    assert " 0.0%" not in text


class Page(HTMLParser):
    """The elements and attributes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.elements = set[str]()
        self.attributes = set[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}


def test_names_are_no_markup() -> None:
    document: dict[str, Any] = msgspec.json.decode((GOLDEN / "full.json").read_bytes())
    document["downtime"]["datasets"][0]["dataset"] = EVIL
    document["budgets"]["lowest"][0] |= {"slo": EVIL, "dataset": EVIL}
    document["unknown_upstreams"]["names"] = [EVIL]
    document["usage"]["largest"][0]["dataset"] = EVIL
    document["incidents"]["domains"][0]["domain"] = EVIL
    found = msgspec.convert(document, WeeklyReport)
    page, html = Page(), render_html(found).decode()
    page.feed(html)
    assert page.elements <= {
        *("html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "code"),
        *("table", "thead", "tbody", "tr", "th", "td"),
    }
    assert page.attributes <= {"lang", "charset", "http-equiv", "content", "name", "class"}
    markdown = render_markdown(found)
    assert not {"\x1b", "\u202e"} & set(html + markdown)
    rows = [line for line in markdown.splitlines() if "alert(1)" in line]
    assert len(rows) == 5
    counts = {line.replace("\\|", "").count("|") for line in rows}
    assert counts <= {2, 3, 4, 5, 6}
    assert all(line.startswith("| `board") or "| `board" in line for line in rows)
    assert "\n# x" not in markdown


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (length_text(0), "0 s"),
        (length_text(0.04), "0.04 s"),
        (length_text(59.6), "60 s"),
        (length_text(61), "1 min"),
        (length_text(3_599), "59 min"),
        (length_text(90_061), "1 d 1 h"),
        (length_text(86_400), "1 d"),
        (bytes_text(999), "999 B"),
        (bytes_text(2_500_000_000), "2.5 GB"),
        (bytes_text(1_234_000_000_000_000), "1,234 TB"),
        (share_text(1, 3), "33.3% (1 of 3)"),
        (share_text(0, 0), "none"),
        (change_text((1, 2), (3, 4)), "+25.0 points"),
        (change_text((1, 2), (2, 4)), "0.0 points"),
        (change_text((0, 0), (2, 4)), "no comparison"),
        (change_text(None, (2, 4)), "not known"),
    ],
)
def test_figures(found: str, expected: str) -> None:
    assert found == expected
