"""`whence demo --governance`: personal data in the demo, followed to the predictions, judged, reported and proven.

Every answer is that of a command of Whence, run as a user would run it; nothing is prepared but a Git repository.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from whence.cli.client import Client
from whence.demo.call_lists import call_list
from whence.demo.repository import commit, git
from whence.demo.tour import Say, Tour, say
from whence.errors import WhenceError
from whence.model.names import DatasetName

FILE, POLICIES = "sql/mailing.sql", "policies.yaml"
TAGGED = ("customer_id", "monthly_charges")
"""The columns of the CRM's export that are tagged as personal data here, beside `name` and `email`."""
TAGGED_IN_CALL_LIST = ("customer_id",)
PREDICTIONS = "gold/predictions"

MAILING_SQL = "create table main.mailing as\nselect churn_probability\nfrom main.call_list\n"
MAILING_WITH_PERSONS = MAILING_SQL.replace("churn_probability", "customer_id, churn_probability")
POLICIES_YAML = """version: 1
policies:
  - name: no personal data in the mailing
    reason: the agency that gets it has no contract about personal data
    owner: privacy
    forbid: {kind: column, name: main.mailing, label: pii>=pseudonymous}
    unless: {tag: approved=privacy}
    examples:
      - {is: violated, node: {column: mail, name: main.mailing, label: pii>=full}}
      - {is: ok, node: {column: mean, name: main.mailing, label: pii>=statistic}}
"""


def main() -> None:
    """Show the tour from the command line."""
    parser = argparse.ArgumentParser(prog="python -m whence.demo.governance", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the demo's data directory")
    parser.add_argument("--url", required=True, help="the address of the demo's server")
    parser.add_argument("--folder", type=Path, required=True, help="the directory to make, for all files")
    arguments = parser.parse_args()
    try:
        export = DatasetName("file", str(arguments.data.absolute() / "churn" / "raw" / "crm_export"))
        tag_columns(arguments.url, {export: TAGGED, call_list("crm-prod"): TAGGED_IN_CALL_LIST}, say)
        show_governance(Tour(data=arguments.data, folder=arguments.folder, say=say))
    except WhenceError as error:
        sys.exit(str(error))


def tag_columns(url: str, columns: Mapping[DatasetName, Sequence[str]], say: Say) -> None:
    """Tag columns as a steward does, and wait until the graph has it. Raises WhenceError."""
    say("# A data protection officer tags more columns that are about a person, beside names and addresses:")
    client = Client(url)
    for dataset, several in columns.items():
        for column in several:
            path = f"{quote(dataset.namespace, safe='')}/datasets/{quote(dataset.name, safe='')}"
            reply = client.post(f"/api/v1/namespaces/{path}/fields/{column}/tags/PII", b"")
            say(f"POST /api/v1/namespaces/{dataset.namespace}/datasets/{dataset.name}/fields/{column}/tags/PII")
            if reply.status not in {200, 201}:
                raise WhenceError(f"{column} could not be tagged: {reply.json.get('detail', reply.status)}")
    reached = client.get("/api/v2/progress?wait_for=head&timeout=120").json.get("reached")
    client.close()
    if not reached:
        raise WhenceError("the store did not get the tags in 120 s")


def show_governance(tour: Tour) -> None:
    """Print which predictions are made of personal data, what a policy blocks, a report, and a proven pack."""
    tour.folder.mkdir(parents=True)
    show_labels(tour)
    show_blocked_column(tour)
    tour.say("\n# Where is the data of a person, how long is it kept, and in which order is it erased?")
    tour.run("subject", "--tag", "PII", "--report", "data-subject.md")
    tour.say(f"(the report is {tour.folder / 'data-subject.md'})")
    show_evidence(tour)


def show_labels(tour: Tour) -> None:
    """The labels of the predictions, and of the masked column."""
    tour.say("\n# Which predictions are made of personal data, and how much of it do they show?")
    tour.run("sensitivity", PREDICTIONS, "--at-least", "influenced")
    tour.say("\n# The e-mail address is only kept as a hash. Is that clean? No: it is pseudonymous.")
    tour.run("sensitivity", "silver/customers.email_hash")
    tour.say("\n# All of it:")
    tour.run("search", "label:pii>=partial", "--kind", "field")


def show_blocked_column(tour: Tour) -> None:
    """A pull request that brings personal data where a policy forbids it, judged by the gate."""
    tour.say("\n# A pull request adds the customer's number to a mailing. Its repository has a policy:")
    repository = tour.folder / "repository"
    make_pull_request(repository)
    tour.say(POLICIES_YAML.rstrip())
    tour.run("policy", "test", f"repository/{POLICIES}")
    tour.say("$ git -C repository diff main")
    tour.say(git(repository, "diff", "main", "--", FILE).rstrip())
    columns = tour.folder / "columns.json"
    columns.write_text(json.dumps({"main.call_list": ["customer_id", "churn_probability"]}), "utf-8")
    code = ("--sql", "sql", "--dialect", "sqlite", "--namespace", call_list("crm-prod").namespace)
    tour.run("gate", "--repository", "repository", "--base", "main", *code, "--columns", "columns.json", fine=(5,))


def make_pull_request(repository: Path) -> None:
    """A repository with the SQL of a mailing and a policy, and a branch that adds a column."""
    repository.mkdir()
    git(repository, "init", "-q", "-b", "main")
    commit(repository, POLICIES, POLICIES_YAML, "forbid personal data in the mailing", "Pia <pia@privacy.example>")
    commit(repository, FILE, MAILING_SQL, "write the mailing", "Cora <cora@crm.example>")
    git(repository, "switch", "-q", "-c", "with-customers")
    commit(repository, FILE, MAILING_WITH_PERSONS, "add the customers", "Ben <ben@crm.example>")


def show_evidence(tour: Tour) -> None:
    """A signed pack of the predictions, verified by Whence, and by programs that know nothing of it."""
    tour.say("\n# Prove it to an auditor: a signed pack with the events behind every edge")
    if not json.loads(tour.read("evidence", "key", "list", "--output", "json"))["keys"]:
        tour.run("evidence", "key", "create")
    tour.say("$ whence evidence key list --output json | jq -r '.keys[-1].pem' > whence.pem")
    keys = json.loads(tour.read("evidence", "key", "list", "--output", "json"))["keys"]
    (tour.folder / "whence.pem").write_text(keys[-1]["pem"], "utf-8")
    tour.run("evidence", PREDICTIONS, "-o", "pack")
    tour.run("evidence", "verify", "pack", "--key", "whence.pem")
    tour.say("$ whence evidence script > verify.sh")
    (tour.folder / "verify.sh").write_text(tour.read("evidence", "script"), "utf-8")
    if missing := [one for one in ("jq", "openssl") if shutil.which(one) is None]:
        tour.say(f"(sh verify.sh pack whence.pem needs {' and '.join(missing)}, which this machine lacks)")
        return
    tour.shell("sh", "verify.sh", "pack", "whence.pem")


if __name__ == "__main__":
    main()
