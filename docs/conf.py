"""The site: Sphinx reads the pages of the repository as they are (`make docs`).

The source folder is the root of the repository, so that a link from a page to ARCHITECTURE.md leads to the same file
here and in a browser of the repository. The table of contents is the list of links in docs/index.md: a page that is
missing there is a warning of Sphinx, and warnings are errors.
"""

import re

from sphinx.application import Sphinx

project = "Whence"
extensions = ["myst_parser"]
root_doc = "docs/index"
include_patterns = ["docs/**", "*.md"]
exclude_patterns = [".*", "bench", "build", "client", "deploy", "docs/site", "src", "tests", "ui"]

myst_heading_anchors = 4
# A sample of HTTP is a request line and a body, which no lexer reads; Mermaid has no lexer.
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = "Whence"
html_extra_path = ["site"]
html_copy_source = False
html_show_copyright = False

SECTION = re.compile(r"^## (.+)\n((?:(?!## ).*\n?)*)", re.MULTILINE)
LINK = re.compile(r"^- \[[^\]]+\]\(([\w./-]+)\.md\)", re.MULTILINE)


def contents(page: str) -> str:
    """The sections and links of the index as tables of contents that are not shown in the page."""
    sections = [
        "\n".join(["```{toctree}", ":hidden:", f":caption: {title}", "", *LINK.findall(links), "```"])
        for title, links in SECTION.findall(page)
    ]
    return "\n\n".join(sections)


def add_contents(_: Sphinx, name: str, source: list[str]) -> None:
    if name == root_doc:
        source[0] += "\n" + contents(source[0])


def setup(app: Sphinx) -> None:
    app.connect("source-read", add_contents)
