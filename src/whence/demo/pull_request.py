"""`whence demo --gate`: a pull request that renames a contracted column of the demo, and its verdict."""

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from whence.cli.answers.ask import Questions
from whence.cli.answers.local.store import StoreQuestions
from whence.cli.gate.forms import Form, exit_of
from whence.cli.gate.sql_code import SqlFolder
from whence.cli.gate.verdict import Judged, Wanted, judge_head, record_judged, written
from whence.client.questions import connect
from whence.demo.call_lists import CALL_LIST_SQL, call_list
from whence.demo.repository import commit, git
from whence.errors import WhenceError

FILE = "sql/call_list.sql"
REPOSITORY = "github.example/crm/call-list"
COLUMN, RENAMED = "churn_probability", "churn_score"
_COLUMNS = {"main.predictions": ("customer_id", COLUMN)}

Say = Callable[[str], None]


def main() -> None:
    """Show the pull request from the command line."""
    parser = argparse.ArgumentParser(prog="python -m whence.demo.pull_request", description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="the directory to make, for the repository")
    parser.add_argument("--store", required=True, help="the URL of the demo's store")
    parser.add_argument("--url", default="", help="the demo's server, to record the verdict there")
    arguments = parser.parse_args()
    try:
        show_pull_request(arguments.folder, arguments.store, _say, arguments.url)
    except WhenceError as error:
        sys.exit(str(error))


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def show_pull_request(folder: Path, store: str, say: Say, url: str = "") -> Judged:
    """Make the pull request in a folder, judge it by the demo's store, and print the comment that it would get.

    `url`: the demo's server, where the verdict is recorded and has a page; empty: nowhere. Raises ArtifactError if Git
    is missing or refuses, and what the store or the server raises.
    """
    make_pull_request(folder)
    say(f"(the repository is {folder})")
    say("$ git diff main")
    say(git(folder, "diff", "main", "--", FILE).rstrip())
    namespace = call_list("crm-prod").namespace
    record = f" --record --repository-name {REPOSITORY}" if url else ""
    say(f"$ whence gate --base main --sql sql --dialect sqlite --namespace {namespace}{record} -o markdown")
    code = SqlFolder(path="sql", dialect="sqlite", namespace=namespace, columns=_COLUMNS)
    with _open_questions(store, url) as questions:
        wanted = Wanted(folder=folder, base="main", sql=code, repository=REPOSITORY)
        judged = judge_head(wanted, questions, None, None)
        judged = record_judged(judged, questions, None) if url else judged
    say(written(judged, Form.MARKDOWN).rstrip())
    say(f"exit code {int(exit_of(judged.judgement.verdict))}: {judged.judgement.verdict.text}")
    return judged


@contextmanager
def _open_questions(store: str, url: str) -> Iterator[Questions]:
    if not url:
        yield StoreQuestions(store)
        return
    with connect(url) as client:
        yield client


def make_pull_request(folder: Path) -> None:
    """A repository with the SQL of the call list, and a branch `rename` that renames a column in it."""
    (folder / FILE).parent.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    commit(folder, FILE, CALL_LIST_SQL, "write the call list", "Cora <cora@crm.example>")
    git(folder, "switch", "-q", "-c", "rename")
    renamed = CALL_LIST_SQL.replace(f", {COLUMN}", f", {COLUMN} as {RENAMED}", 1)
    commit(folder, FILE, renamed, "call the probability a score", "Ben <ben@crm.example>")


if __name__ == "__main__":
    main()
