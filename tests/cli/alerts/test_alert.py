"""`whence alert`: files with mistakes, routes, and trials that are printed or sent."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from govern.notifications.receivers import FILE
from govern.notifications.services import SECRET, Mailbox, Webhook, mail_server, serving
from whence.cli.commands.app import app

PASSWORD = "      username: whence\n      password: {file: /run/secrets/smtp}\n"


def ask(folder: Path, text: str, *words: str) -> Result:
    (folder / "receivers.yaml").write_text(text, "utf-8")
    return CliRunner().invoke(app, ["alert", words[0], str(folder / "receivers.yaml"), *words[1:]])


def test_receivers_are_listed_without_secrets(tmp_path: Path) -> None:
    found = ask(tmp_path, FILE, "receivers")
    assert found.exit_code == 0
    assert found.stdout.splitlines()[3:] == [
        "hook  webhook  https://hooks.example.com",
        "mail  email  orders@example.com, data@example.com",
        "tickets  github  shop/pipeline",
        "6 receivers, valid",
    ]
    assert json.loads(ask(tmp_path, FILE, "receivers", "--output", "json").stdout)["valid"] is True


def test_a_mistake_is_exit_code_5_for_a_check_and_2_for_a_trial(tmp_path: Path) -> None:
    wrong = FILE.replace("receiver: channel", "receiver: chanel")
    found = ask(tmp_path, wrong, "receivers")
    assert (found.exit_code, found.stdout.partition("receivers.yaml:")[2][:20]) == (5, "22: no receiver is n")
    assert json.loads(ask(tmp_path, wrong, "receivers", "--output", "json").stdout)["valid"] is False
    assert ask(tmp_path, wrong, "test").exit_code == 2
    assert ask(tmp_path, FILE, "test", "--receiver", "nobody").exit_code == 2
    assert ask(tmp_path, FILE, "test", "--severity", "urgent").exit_code == 2


@pytest.mark.parametrize(
    ("options", "receivers"),
    [
        ((), ["pager", "alertmanager"]),
        (("--severity", "ticket"), ["tickets"]),
        (("--owner", "team:finance", "--tier", "1"), ["mail"]),
        (("--namespace", "postgres://staging", "--severity", "ticket"), ["hook"]),
        (("--receiver", "hook", "--receiver", "mail"), ["hook", "mail"]),
    ],
)
def test_a_trial_prints_what_the_receivers_of_the_routes_get(
    tmp_path: Path, options: tuple[str, ...], receivers: list[str]
) -> None:
    found = ask(tmp_path, FILE, "test", *options, "--output", "json")
    assert [one["name"] for one in json.loads(found.stdout)["receivers"]] == receivers
    text = ask(tmp_path, FILE, "test", *options).stdout
    assert [line.split()[1] for line in text.splitlines() if line.startswith("== ")] == receivers
    assert text.endswith("nothing was sent; send it with --send\n")


def test_a_trial_is_sent_and_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_WEBHOOK_SECRET", SECRET)
    hook, mailbox = Webhook(), Mailbox()
    with serving(hook) as url, mail_server(mailbox) as (host, port):
        text = FILE.replace("https://hooks.example.com", url).replace("smtp.example.com:587", f"{host}:{port}")
        text = text.replace(
            "      username: whence\n      password: {file: /run/secrets/smtp}\n", "      security: none\n"
        )
        both = ("--receiver", "hook", "--receiver", "mail", "--send")
        assert ask(tmp_path, text, "test", *both).stdout == "sent: hook\nsent: mail\n"
        assert ask(tmp_path, text, "test", *both, "--resolve").exit_code == 0
    assert [one["type"] for one in hook.received.values()] == ["incident.open", "incident.resolved"]
    assert [one["Subject"].split()[0] for one in mailbox.mails] == ["[PAGE]", "[RESOLVED]"]


def test_a_receiver_that_fails_does_not_keep_the_others_from_theirs(tmp_path: Path) -> None:
    mailbox = Mailbox()
    with mail_server(mailbox) as (host, port):
        text = FILE.replace("smtp.example.com:587", f"{host}:{port}")
        text = text.replace(
            "      username: whence\n      password: {file: /run/secrets/smtp}\n", "      security: none\n"
        )
        sent = ask(tmp_path, text, "test", "--receiver", "hook", "--receiver", "mail", "--send", "--output", "json")
    assert (sent.exit_code, len(mailbox.mails)) == (4, 1)
    hook, mail = json.loads(sent.stdout)["sent"]
    assert (hook["mistake"], mail["mistake"]) == (
        "the environment variable TEST_WEBHOOK_SECRET: there is no secret; set it where this process runs",
        None,
    )


def test_a_trial_of_retraining_is_for_the_webhooks_of_the_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_WEBHOOK_SECRET", SECRET)
    hook = Webhook()
    with serving(hook) as url:
        text = FILE.replace("https://hooks.example.com/T0/secret-path", url)
        text += "retrain: [{receiver: hook, models: [churn*], on: schema}]\n"
        found = json.loads(ask(tmp_path, text, "test", "--retrain", "churn_v2", "--output", "json").stdout)
        (one,) = found["receivers"]
        content = json.loads(one["content"])
        assert (one["name"], content["type"]) == ("hook", "model.retrain")
        assert content["data"]["model"] == "dataset:prod:churn_v2"
        assert (
            json.loads(ask(tmp_path, text, "test", "--retrain", "spam", "--output", "json").stdout)["receivers"] == []
        )
        assert not hook.received
        assert ask(tmp_path, text, "test", "--retrain", "churn_v2", "--send").exit_code == 0
    assert [body["type"] for body in hook.received.values()] == ["model.retrain"]
    for wrong in (
        text.replace("receiver: hook, models", "receiver: mail, models"),
        text.replace("on: schema", "on: x"),
    ):
        assert ask(tmp_path, wrong, "receivers").exit_code == 5
