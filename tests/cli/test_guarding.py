"""Keys, grants and the audit log at the terminal; https; and the first key of `whence up`."""

import json
import re
import socket
import ssl
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from typer.testing import CliRunner, Result

from whence.cli.administration.access.keys import show_first_key
from whence.cli.commands.app import app
from whence.cli.output.streams import Exit
from whence.cli.process.serve import Guard, plan
from whence.govern.api_keys import parse_key
from whence.model.access import Action, ReadingRestriction, Role
from whence.model.names import DatasetName, FieldName
from whence.store.connection.engine import sqlite_url
from whence.store.security.database import open_security, read_security, write_security
from whence.store.security.policy import Policy, read_policy
from whence.store.security.restrictions import replace_restrictions
from whence.store.security.tables import metadata

Whence = Callable[..., Result]


@pytest.fixture
def whence(tmp_path: Path) -> Whence:
    """`whence("keys", "list")`, on a data directory of its own."""
    runner = CliRunner(env={"WHENCE_DATA": str(tmp_path), "COLUMNS": "200"})
    return lambda *arguments: runner.invoke(app, arguments)


def of(whence: Whence, *arguments: str) -> Any:
    """What a command answers, as JSON."""
    done = whence(*arguments, "-o", "json")
    assert done.exit_code == Exit.OK, done.output
    return json.loads(done.stdout)


def policy(directory: Path) -> Policy:
    engine = open_security(sqlite_url(directory / "store.security.db"))
    with read_security(engine) as connection:
        found = read_policy(connection)
    engine.dispose()
    return found


def test_a_key_is_shown_once_and_its_grant_holds(whence: Whence, tmp_path: Path) -> None:
    more = ["--role", "writer", "-n", "air*", "--scope", "write", "--expires-in", "1d"]
    made = of(whence, "keys", "create", "airflow", *more)
    key = parse_key(made["key"])
    assert key is not None
    assert key.id == made["id"]
    viewer = policy(tmp_path).viewer("key:airflow")
    assert viewer.is_allowed(Action.WRITE, "airport")
    assert not viewer.is_allowed(Action.WRITE, "train")
    listed = of(whence, "keys", "list")["keys"]
    assert [(one["name"], one["state"], one["scopes"]) for one in listed] == [("airflow", "live", ["write"])]
    assert made["key"].split("_")[2] not in f"{listed}{whence('keys', 'list').stdout}"
    assert whence("keys", "create", "airflow").exit_code == Exit.MISTAKE


def test_rotating_and_revoking(whence: Whence) -> None:
    first = of(whence, "keys", "create", "ci")
    second = of(whence, "keys", "rotate", "ci", "--overlap", "0s")
    states = {one["id"]: one["state"] for one in of(whence, "keys", "list")["keys"]}
    assert states == {first["id"]: "expired", second["id"]: "live"}
    assert whence("keys", "revoke", second["id"]).stdout == f"revoked {second['id']} of key:ci\n"
    assert whence("keys", "revoke", "ci").exit_code == Exit.MISTAKE
    assert whence("keys", "rotate", "ci").exit_code == Exit.MISTAKE


def test_grants_are_given_listed_and_taken_back(whence: Whence, tmp_path: Path) -> None:
    assert whence("access", "grant", "group:eng", "--role", "reader", "-n", "warehouse*").exit_code == Exit.OK
    assert whence("access", "hide", "*", "--fields", "*ssn*").exit_code == Exit.OK
    assert of(whence, "access", "list") == {
        "grants": [{"subject": "group:eng", "role": "reader", "namespaces": "warehouse*"}],
        "hidings": [{"subject": "*", "namespaces": "*", "datasets": "*", "fields": "*ssn*"}],
        "restrictions": [],
    }
    assert "group:eng  reader  warehouse*" in whence("access", "list").stdout
    assert whence("access", "revoke-grant", "group:eng", "-n", "warehouse*").exit_code == Exit.OK
    assert whence("access", "revoke-grant", "group:eng", "-n", "warehouse*").exit_code == Exit.MISTAKE
    assert whence("access", "hide", "*", "--fields", "*ssn*", "--undo").exit_code == Exit.OK
    assert whence("access", "hide", "*", "--fields", "*ssn*", "--undo").exit_code == Exit.MISTAKE
    assert (policy(tmp_path).grants, policy(tmp_path).hidings) == ({}, {})


def test_restricted_columns_are_listed_with_who_reads_them(whence: Whence, tmp_path: Path) -> None:
    table = DatasetName("s3://shop", "crm")
    columns = frozenset(FieldName(table, f"c{number}") for number in range(7))
    assert of(whence, "access", "list")["restrictions"] == []
    security = open_security(sqlite_url(tmp_path / "store.security.db"))
    with write_security(security) as connection:
        replace_restrictions(
            connection, [ReadingRestriction(policy="mail", readers=("group:privacy",), fields=columns)]
        )
    security.dispose()
    (one,) = of(whence, "access", "list")["restrictions"]
    assert (one["policy"], one["namespace"], one["readers"]) == ("mail", "s3://shop", ["group:privacy"])
    assert one["columns"] == sorted(map(str, columns))
    line = "only stewards, group:privacy  see  crm.c0, crm.c1, crm.c2, crm.c3, crm.c4 and 2 more in s3://shop"
    assert line in whence("access", "list").stdout


@pytest.mark.parametrize("subject", ["ada", "role:admin", "user:", "*"])
def test_a_grant_is_for_somebody(whence: Whence, subject: str) -> None:
    assert whence("access", "grant", subject, "--role", "reader").exit_code == Exit.MISTAKE
    assert whence("access", "grant", "user:ada", "--role", "owner").exit_code == Exit.USAGE
    assert of(whence, "access", "list")["grants"] == []


def test_every_change_is_in_the_audit_log_and_a_failed_one_is_not(whence: Whence, tmp_path: Path) -> None:
    secret = of(whence, "keys", "create", "ci")["key"]
    whence("keys", "create", "ci")
    whence("access", "grant", "key:ci", "--role", "admin")
    whence("access", "sign-out", "user:ada")
    found = of(whence, "audit", "list")["entries"]
    assert [one["what"] for one in found] == ["whence access sign-out", "whence access grant", "whence keys create"]
    assert {one["who"].partition(":")[0] for one in found} == {"cli"}
    assert secret not in json.dumps(found)
    assert [
        one["number"] for one in of(whence, "audit", "list", "--node", "key:ci", "--action", "keys")["entries"]
    ] == [1]


def test_the_log_is_verified(whence: Whence) -> None:
    for name in ("a", "b"):
        whence("keys", "create", name)
    assert of(whence, "audit", "verify")["rows"] == 2
    assert "2 rows are as they were written" in whence("audit", "verify").stdout


def test_the_first_key_is_made_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = sqlite_url(tmp_path / "new" / "s.db")
    show_first_key(url)
    captured = capsys.readouterr()
    assert captured.out == ""
    shown = re.search(r"whence_\S+", captured.err)
    assert shown
    assert parse_key(shown[0])
    show_first_key(url)
    assert capsys.readouterr().err == ""
    engine = open_security(url)
    with read_security(engine) as connection:
        assert read_policy(connection).viewer("key:admin").is_allowed(Action.ADMIN, "any")
        assert read_policy(connection).grants["key:admin"][0].role is Role.ADMIN
    engine.dispose()
    assert (tmp_path / "new" / "s.db").stat().st_mode & 0o077 == 0


def test_the_tables_are_those_that_are_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "explanation" / "security.md").read_text("utf-8")
    (listed,) = re.findall(r"tables of their own\s*\(([^)]*)\)", page)
    assert set(re.findall(r"`(\w+)`", listed)) == set(metadata.tables)


def test_a_plan_says_how_the_api_is_guarded(tmp_path: Path) -> None:
    cert = tmp_path / "cert.pem"
    guarded = plan(tmp_path, "sqlite://", guard=Guard(security="sqlite:///s.db", tls_cert=cert))
    assert guarded.tls
    assert guarded.children["api"][-2:] == ["--tls-cert", str(cert)]
    assert guarded.environment["WHENCE_SECURITY"] == "sqlite:///s.db"
    assert "s.db" not in str((guarded.children, guarded))
    assert "--open" not in plan(tmp_path, "sqlite://").children["api"]


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate for localhost, with its key in the same file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    start = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start - timedelta(hours=1))
        .not_valid_after(start + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file = tmp_path / "both.pem"
    file.write_bytes(private + made.public_bytes(pem))
    return file


def api(directory: Path, *more: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "whence.api", "--data", str(directory)]
    command += ["--store", sqlite_url(directory / "store.db"), *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_https_is_served_with_a_certificate(tmp_path: Path, certificate: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as one:
        port = one.getsockname()[1]
    with api(tmp_path, "--port", str(port), "--tls-cert", str(certificate)) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        trusted = ssl.create_default_context(cafile=str(certificate))
        with urllib.request.urlopen(f"https://localhost:{port}/health/live", context=trusted) as answer:
            assert json.load(answer) == {"status": "live"}
        with pytest.raises(OSError, match=r"."):
            urllib.request.urlopen(f"http://localhost:{port}/health/live")
        process.terminate()


def test_open_is_refused_where_others_can_reach_it(tmp_path: Path) -> None:
    with api(tmp_path, "--port", "0", "--host", "0.0.0.0", "--open") as process:
        _, errors = process.communicate(timeout=60)
    assert process.returncode == Exit.USAGE
    assert "serves only loopback addresses" in errors
