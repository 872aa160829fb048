"""`whence demo --governance`: personal data in the demo, followed to the predictions, judged, reported and proven.

Every answer is that of a command of Whence, run as a user would run it; nothing is prepared but a Git repository.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

from whence.cli.client import Client
from whence.client.questions import connect
from whence.demo.call_lists import call_list
from whence.demo.repository import commit, git
from whence.demo.tour import Tour, say
from whence.errors import WhenceError
from whence.model.names import FieldName, parse_node

FILE, POLICIES = "sql/mailing.sql", "policies.yaml"
EXPORT, MODEL, PREDICTIONS, MASKED = "raw/crm_export", "models/churn", "gold/predictions", "silver/customers.email_hash"
CRM = call_list("crm-prod")
TAGS = (
    (f"{EXPORT}.customer_id", "PII"),
    (f"{EXPORT}.monthly_charges", "PII"),
    ("crm-prod.main.call_list.customer_id", "PII"),
    (EXPORT, "retention=2 years"),
)
"""What is tagged here, beside the `name` and `email` that the demo's owners tagged."""
_PATIENCE_SECONDS = 120

MAILING_SQL = "create table main.mailing as\nselect churn_probability\nfrom main.call_list\n"
MAILING_WITH_PERSONS = MAILING_SQL.replace("churn_probability", "customer_id, churn_probability")
POLICIES_YAML = f"""version: 1
policies:
  - name: no personal data in the mailing
    reason: the agency that gets it has no contract about personal data
    owner: privacy
    namespaces: ["{CRM.namespace}"]
    forbid: {{kind: column, name: main.mailing, label: pii>=pseudonymous}}
    unless: {{tag: approved=privacy}}
    examples:
      - {{is: violated, node: {{column: mail, name: main.mailing, label: pii>=full}}}}
      - {{is: ok, node: {{column: mean, name: main.mailing, label: pii>=statistic}}}}
  - name: no personal data in models
    reason: a person has to approve it
    owner: ml
    namespaces: [file]
    forbid: {{kind: dataset, type: MODEL, label: pii>=pseudonymous}}
    unless: {{tag: approved=privacy}}
    examples:
      - {{is: violated, node: {{type: MODEL, label: pii>=full}}}}
"""


def main() -> None:
    """Show the tour from the command line."""
    parser = argparse.ArgumentParser(prog="python -m whence.demo.governance", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the demo's data directory")
    parser.add_argument("--url", required=True, help="the address of the demo's server")
    parser.add_argument("--folder", type=Path, required=True, help="the directory to make, for all files")
    arguments = parser.parse_args()
    try:
        show_governance(Tour(data=arguments.data, folder=arguments.folder, say=say), arguments.url)
    except WhenceError as error:
        sys.exit(str(error))


def show_governance(tour: Tour, url: str) -> None:
    """Print which predictions are made of personal data, what policies say of it, a report, a proven pack, and where
    the same is in the browser. `url`: the address of the demo's server. Raises WhenceError.
    """
    tour.folder.mkdir(parents=True)
    tag_columns(tour, url)
    show_labels(tour)
    show_blocked_column(tour)
    show_declared_policies(tour, url)
    tour.say("\n# Where is the data of a person, how long is it kept, and in which order is it erased?")
    tour.run("subject", "--tag", "PII", "--report", "data-subject.md")
    tour.say(f"(the report is {tour.folder / 'data-subject.md'})")
    show_evidence(tour)
    tour.say("\n# The same in the browser:")
    for name, address in _pages(url):
        tour.say(f"{name}\n  {address}")


def tag_columns(tour: Tour, url: str) -> None:
    """Tag columns as a steward does, and wait until the graph has it."""
    tour.say("# A data protection officer tags more columns that are about a person, beside names and addresses:")
    for node, tag in TAGS:
        tour.run("tags", "add", node, tag, "--url", url)
    client = Client(url)
    reached = client.get(f"/api/v2/progress?wait_for=head&timeout={_PATIENCE_SECONDS}").json.get("reached")
    client.close()
    if not reached:
        raise WhenceError(f"the store did not get the tags in {_PATIENCE_SECONDS} s")


def show_labels(tour: Tour) -> None:
    """The labels of the predictions, of the features of their model, and of the masked column."""
    tour.say("\n# Which predictions are made of personal data, and how much of it do they show?")
    tour.run("sensitivity", PREDICTIONS, "--at-least", "influenced")
    tour.say("\n# By which features of the model does it come in?")
    tour.run("card", MODEL)
    tour.say("\n# The e-mail address is only kept as a hash. Is that clean? No: it is pseudonymous.")
    tour.run("sensitivity", MASKED)
    tour.say("\n# All of it:")
    tour.run("search", "label:pii>=partial", "--kind", "field")


def show_blocked_column(tour: Tour) -> None:
    """A pull request that brings personal data where a policy forbids it, judged by the gate."""
    tour.say("\n# A pull request adds the customer's number to a mailing. Its repository has policies:")
    repository = tour.folder / "repository"
    make_pull_request(repository)
    tour.say(POLICIES_YAML.rstrip())
    tour.run("policy", "test", f"repository/{POLICIES}")
    tour.say("$ git -C repository diff main")
    tour.say(git(repository, "diff", "main", "--", FILE).rstrip())
    columns = tour.folder / "columns.json"
    columns.write_text(json.dumps({CRM.name: ["customer_id", "churn_probability"]}), "utf-8")
    code = ("--sql", "sql", "--dialect", "sqlite", "--namespace", CRM.namespace)
    tour.run("gate", "--repository", "repository", "--base", "main", *code, "--columns", "columns.json", fine=(5,))


def make_pull_request(repository: Path) -> None:
    """A repository with the SQL of a mailing and policies, and a branch that adds a column."""
    repository.mkdir()
    git(repository, "init", "-q", "-b", "main")
    commit(repository, POLICIES, POLICIES_YAML, "forbid personal data in the mailing", "Pia <pia@privacy.example>")
    commit(repository, FILE, MAILING_SQL, "write the mailing", "Cora <cora@crm.example>")
    git(repository, "switch", "-q", "-c", "with-customers")
    commit(repository, FILE, MAILING_WITH_PERSONS, "add the customers", "Ben <ben@crm.example>")


def show_declared_policies(tour: Tour, url: str) -> None:
    """The same policies, declared to the server, and what they say of the data that is there."""
    tour.say("\n# The server judges by them, too, all the data that is there. A step that was not read is no pass:")
    tour.run("policy", "apply", f"repository/{POLICIES}", "--url", url)
    tour.run("policy", "evaluate", f"repository/{POLICIES}", "--url", url, fine=(5,))


def show_evidence(tour: Tour) -> None:
    """A signed pack of the predictions, verified by Whence, and by programs that know nothing of it; and a forgery."""
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
    else:
        tour.shell("sh", "verify.sh", "pack", "whence.pem")
    tour.say("\n# What if somebody changes the name of a source in it?")
    tour.shell("cp", "-r", "pack", "forged")
    tour.shell("sh", "-c", "sed s/crm_export/erp_export/ pack/lineage.json > forged/lineage.json")
    tour.run("evidence", "verify", "forged", "--key", "whence.pem", fine=(1,))


def _pages(url: str) -> Iterator[tuple[str, str]]:
    """What to see in the web UI: a title, and an address."""
    with connect(url) as questions:
        predictions, mail = (questions.upstream(one, depth=1).root for one in (PREDICTIONS, MASKED))
    column = parse_node(mail)
    assert isinstance(column, FieldName)
    yield "governance: sensitive columns, policies, certifications, access", f"{url}/ui/board?of=governance"
    lens = {"node": predictions, "lens": "pii"}
    yield "the predictions, through the lens of personal data", f"{url}/ui/lineage?{urlencode(lens)}"
    way = {"node": str(column.dataset), "col": mail, "panel": "label", "lens": "pii"}
    yield "the way of the e-mail address into its hash", f"{url}/ui/lineage?{urlencode(way)}"
    yield "the predictions themselves, with their evidence pack", f"{url}/ui/node?{urlencode({'node': predictions})}"


if __name__ == "__main__":
    main()
