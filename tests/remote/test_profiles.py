"""Signing in at the terminal as a user does: real processes, a terminal where one is needed, files as they are left."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from api.process import Api
from fixtures.migrated_stores import open_migrated
from query.worlds.churn_story import WORLD
from query.worlds.random_worlds import load
from whence.cli.output.streams import Exit
from whence.store.connection.engine import sqlite_url

WHENCE = [sys.executable, "-m", "whence.cli"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A server that needs keys, over the churn story."""
    directory = tmp_path_factory.mktemp("server")
    api = Api(directory / "data", sqlite_url(directory / "store.db"), {"open": False})
    engine = open_migrated(api.store_url)
    load(engine, WORLD)
    engine.dispose()
    try:
        yield api.up()
    finally:
        api.down()
        api.listening.close()


@pytest.fixture(scope="module")
def key(server: Api) -> str:
    made = subprocess.run(
        [*WHENCE, "keys", "create", "ada", "--role", "reader", "--store", server.store_url, "-o", "json"],
        capture_output=True,
        check=True,
    )
    return str(json.loads(made.stdout)["key"])


def environment(home: Path, **more: str) -> dict[str, str]:
    mine = {name: value for name, value in os.environ.items() if not name.startswith(("WHENCE_", "XDG_"))}
    return mine | {"HOME": str(home), "XDG_CONFIG_HOME": str(home / "config"), "TERM": "xterm-256color"} | more


def whence(home: Path, *words: str, stdin: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*WHENCE, *words],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=environment(home, **more),
    )


def at_terminal(words: list[str], typed: bytes, env: Mapping[str, str]) -> tuple[int, bytes]:
    """A command in a terminal of its own: its exit code, and what is on the screen."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, env=dict(env), close_fds=True) as process:
        os.close(theirs)
        screen, answered = b"", False
        while True:
            try:
                screen += (read := os.read(ours, 65_536))
            except OSError:  # Linux: the last process has closed the terminal
                break
            if not read:
                break
            if typed and not answered and b"API key: " in screen:
                os.write(ours, typed)
                answered = True
        os.close(ours)
        return process.wait(120), screen


def url_of(api: Api) -> str:
    return f"http://127.0.0.1:{api.port}"


def test_a_key_is_typed_unseen_checked_and_kept_for_its_user_only(server: Api, key: str, tmp_path: Path) -> None:
    code, screen = at_terminal([*WHENCE, "login", url_of(server)], key.encode() + b"\n", environment(tmp_path))
    assert (code, key.encode() in screen) == (0, False), screen
    assert f"You are key:ada at {url_of(server)}: reader in *." in screen.decode()
    file = tmp_path / "config" / "whence" / "profiles.json"
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o077) == (0o600, 0)
    assert json.loads(file.read_text())["profiles"] == {"default": {"url": url_of(server), "key": key}}
    asked = whence(tmp_path, "search", "churn")
    assert (asked.returncode, "churn_probability" in asked.stdout) == (0, True), asked.stderr
    gone = whence(tmp_path, "logout")
    assert (gone.returncode, json.loads(file.read_text())) == (0, {"profiles": {}})
    assert whence(tmp_path, "logout").returncode == Exit.MISTAKE


@pytest.mark.parametrize("words", [("search", "churn"), ("doctor", "--timeout", "1")])
def test_a_key_with_a_line_break_is_cleaned_or_refused_unseen(
    words: tuple[str, ...], server: Api, key: str, tmp_path: Path
) -> None:
    to = {"WHENCE_URL": url_of(server)}
    asked = whence(tmp_path, *words, **to, WHENCE_API_KEY=f"{key}\n")
    assert "API key" not in asked.stdout + asked.stderr
    refused = whence(tmp_path, *words, **to, WHENCE_API_KEY=f"{key}\nis shown only now")
    assert (refused.returncode, refused.stdout) == (Exit.MISTAKE, "")
    assert "the API key in WHENCE_API_KEY has a line break" in refused.stderr
    assert key not in refused.stderr


def test_a_new_key_alone_is_on_stdout(tmp_path: Path) -> None:
    made = whence(tmp_path, "keys", "create", "ada", "--store", sqlite_url(tmp_path / "store.db"))
    assert made.stdout.startswith("whence_")
    assert (made.stdout.count("\n"), "belongs to key:ada" in made.stderr) == (1, True)


def test_a_key_is_said_to_be_in_a_database_if_the_environment_names_a_server(tmp_path: Path) -> None:
    store = sqlite_url(tmp_path / "store.db")
    made = whence(tmp_path, "keys", "create", "ada", "--store", store, WHENCE_URL="https://me:hush@prod:8080")
    assert (made.stdout.count("\n"), made.stdout.startswith("whence_")) == (1, True)
    assert (
        f"uses {sqlite_url(tmp_path / 'store.security.db')}; https://prod:8080 (WHENCE_URL) is not asked" in made.stderr
    )
    assert "hush" not in made.stderr
    assert "WHENCE_URL" not in whence(tmp_path, "keys", "list", "--store", store).stderr


def test_a_profile_has_its_own_key_which_goes_nowhere_else(server: Api, key: str, tmp_path: Path) -> None:
    kept = whence(tmp_path, "login", url_of(server), "--profile", "prod", stdin=f"{key}\n")
    assert kept.returncode == 0, kept.stderr
    assert "'prod'" in kept.stdout
    for more in ({}, {"WHENCE_API_KEY": "another"}):
        assert whence(tmp_path, "search", "churn", "--profile", "prod", **more).returncode == 0
    assert whence(tmp_path, "search", "churn", WHENCE_PROFILE="prod").returncode == 0
    assert whence(tmp_path, "search", "churn", "--url", url_of(server)).returncode == 0
    refused = whence(tmp_path, "search", "churn", "--url", f"http://localhost:{server.port}")
    assert (refused.returncode, "it needs an API key" in refused.stderr) == (Exit.MISTAKE, True)
    unknown = whence(tmp_path, "search", "churn", "--profile", "nope")
    assert (unknown.returncode, "there is no profile 'nope'; the profiles are prod" in unknown.stderr) == (
        Exit.MISTAKE,
        True,
    )
    both = whence(tmp_path, "search", "churn", "--profile", "prod", "--store", server.store_url)
    assert both.returncode == Exit.USAGE
    here = whence(tmp_path, "search", "churn", "--store", server.store_url, WHENCE_PROFILE="nope")
    assert here.returncode == 0, here.stderr


def test_events_are_sent_to_the_server_of_the_profile_with_its_key(server: Api, tmp_path: Path) -> None:
    writer = subprocess.run(
        [*WHENCE, "keys", "create", "etl", "--role", "writer", "--store", server.store_url, "-o", "json"],
        capture_output=True,
        check=True,
    )
    events = tmp_path / "events.jsonl"
    event: dict[str, Any] = {"eventType": "COMPLETE", "eventTime": "2026-11-23T10:00:00Z"}
    event |= {"producer": "https://example.test/etl"}
    event |= {"run": {"runId": "0192f7e2-0000-7000-8000-000000000001"}, "job": {"namespace": "prod", "name": "load"}}
    events.write_text(json.dumps(event) + "\n")
    stranger = whence(tmp_path, "ingest", str(events), "--url", url_of(server))
    assert (stranger.returncode, "`whence login`" in stranger.stdout) == (Exit.MISTAKE, True), stranger.stdout
    key = str(json.loads(writer.stdout)["key"])
    assert whence(tmp_path, "login", url_of(server), "--profile", "prod", stdin=f"{key}\n").returncode == 0
    chosen: list[tuple[list[str], dict[str, str]]] = [
        ([], {"WHENCE_PROFILE": "prod"}),
        (["--url", url_of(server)], {}),
        ([], {"WHENCE_URL": url_of(server)}),
        ([], {"OPENLINEAGE_URL": url_of(server)}),
    ]
    for words, more in chosen:
        sent = whence(tmp_path, "ingest", str(events), *words, **more)
        assert (sent.returncode, "1 of 1 events accepted" in sent.stdout) == (0, True), (words, more, sent.stderr)
    unknown = whence(tmp_path, "ingest", str(events), WHENCE_PROFILE="nope")
    assert "there is no profile 'nope'" in unknown.stderr


def test_what_is_refused_is_not_kept(server: Api, tmp_path: Path) -> None:
    refused = whence(tmp_path, "login", url_of(server), WHENCE_API_KEY="wrong")
    assert (refused.returncode, "it does not accept the API key" in refused.stderr) == (Exit.MISTAKE, True)
    away = whence(tmp_path, "login", "http://127.0.0.1:1", stdin="x\n")
    assert away.returncode == Exit.OUT_OF_SERVICE
    nowhere = whence(tmp_path, "login", stdin="x\n")
    assert (nowhere.returncode, "no server is given" in nowhere.stderr) == (Exit.MISTAKE, True)
    assert not (tmp_path / "config" / "whence").exists()


def test_a_broken_file_of_profiles_is_said_so(tmp_path: Path) -> None:
    file = tmp_path / "config" / "whence" / "profiles.json"
    file.parent.mkdir(parents=True)
    file.write_text("{")
    done = whence(tmp_path, "search", "churn")
    assert (done.returncode, "cannot be read" in done.stderr) == (Exit.MISTAKE, True)


def test_the_version(tmp_path: Path) -> None:
    option, command = whence(tmp_path, "--version"), whence(tmp_path, "version")
    assert (option.returncode, option.stdout) == (command.returncode, command.stdout) == (0, command.stdout)
    assert command.stdout.strip()[0].isdigit()


def test_colours_in_a_terminal_unless_it_is_told_not_to(server: Api, tmp_path: Path) -> None:
    words = [*WHENCE, "upstream", "churn_probability", "--store", server.store_url]
    colour = b"\x1b[32m"
    for more, has_colour in (({}, True), ({"NO_COLOR": "1"}, False)):
        code, screen = at_terminal(words, b"", environment(tmp_path, **more))
        assert (code, colour in screen) == (0, has_colour), more
        assert has_colour or not any(b"\x1b[%dm" % number in screen for number in (*range(30, 38), *range(90, 98)))


@pytest.mark.parametrize(
    ("shell", "asking"),
    [
        ("bash", {"COMP_WORDS": "whence up", "COMP_CWORD": "1"}),
        ("zsh", {"_TYPER_COMPLETE_ARGS": "whence up"}),
        ("fish", {"_TYPER_COMPLETE_ARGS": "whence up", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}),
    ],
)
def test_every_shell_is_told_how_commands_go_on(shell: str, asking: dict[str, str], tmp_path: Path) -> None:
    more = {**asking, "_WHENCE_COMPLETE": f"complete_{shell}"}
    named = [
        sys.executable,
        "-c",
        "import sys; sys.argv[0] = 'whence'; from whence.cli.commands.app import main; main()",
    ]
    done = subprocess.run(named, capture_output=True, text=True, check=False, env=environment(tmp_path, **more))
    assert "upstream" in done.stdout, done.stderr
    assert "downstream" not in done.stdout


def test_bash_completes_with_what_is_shown_and_installed(tmp_path: Path) -> None:
    script = "\n".join(
        [
            f'whence() {{ {sys.executable} -m whence.cli "$@"; }}',
            "whence --install-completion >/dev/null && grep -q completion ~/.bashrc || exit 7",
            "whence --show-completion",
        ]
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", script], capture_output=True, text=True, check=False, env=environment(tmp_path)
    )
    assert done.returncode == 0, done.stderr
    assert "complete -o default -F" in done.stdout
