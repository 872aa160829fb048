"""Names that mean the same become one, and no others (rules 26-28, 34)."""

import inspect
from enum import Enum
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from openlineage.client.naming import dataset as naming

from fixtures.golden_cases import GOLDEN
from oracle import naming as oracle
from whence.model.names import DatasetName, JobName
from whence.openlineage.names.naming import (
    Fold,
    NameRules,
    normalise,
    normalise_job,
    read_field_name,
)
from whence_client.redaction.credentials import strip_credentials

PAIRS = [line.split(" => ") for line in (GOLDEN / "names.txt").read_text().splitlines()[1:] if " => " in line]
PIECES = st.sampled_from(
    [
        "s3a",
        "s3",
        "file",
        "postgres",
        "kafka",
        "abfs",
        "://",
        ":",
        "@",
        "/",
        "//",
        "None",
        "5432",
        "db",
        "[::1]",
        ",",
        " ",
        ".",
    ]
)
TEXTS = st.lists(PIECES, min_size=1, max_size=9).map("".join) | st.text(min_size=1, max_size=9)
HELPERS = [cls for _, cls in inspect.getmembers(naming, inspect.isclass) if hasattr(cls, "__attrs_attrs__")]


def pair(text: str) -> tuple[str, str]:
    namespace, name = text.split(" | ")
    return namespace, name


@pytest.mark.parametrize(("given", "expected"), PAIRS, ids=[given for given, _ in PAIRS])
def test_normal_form(given: str, expected: str) -> None:
    assert normalise(*pair(given)) == DatasetName(*pair(expected))


@given(TEXTS, TEXTS)
def test_normalising_again_changes_nothing(namespace: str, name: str) -> None:
    try:
        once = normalise(namespace, name)
    except ValueError:
        assert "\0" in namespace + name
        return
    assert normalise(once.namespace, once.name) == once
    assert once.namespace
    assert once.name


@given(TEXTS)
def test_dropping_credentials_again_changes_nothing(text: str) -> None:
    assert strip_credentials(strip_credentials(text)) == strip_credentials(text)


@pytest.mark.parametrize("helper", HELPERS, ids=lambda cls: cls.__name__)
def test_names_after_the_specification_are_normal(helper: Any) -> None:
    """What openlineage-python's own naming helpers build is left as it is."""
    names = [one.name.lstrip("_") for one in helper.__attrs_attrs__]
    parts: dict[str, Any] = {name: "5433" if "port" in name else "Part" for name in names}
    if "resource_type" in parts:
        parts["resource_type"] = next(iter(naming.PubSubResourceType))
    made = helper(**parts)
    assert normalise(made.get_namespace(), made.get_name()) == DatasetName(made.get_namespace(), made.get_name())


def test_helpers_are_found() -> None:
    assert len(HELPERS) >= 25
    assert not any(issubclass(cls, Enum) for cls in HELPERS)


@pytest.mark.parametrize(("scheme", "port"), NameRules().ports.items())
def test_default_ports_are_those_of_the_specifications_form(scheme: str, port: int) -> None:
    assert normalise(f"{scheme}://host", "x").namespace == f"{scheme}://host:{port}"


def test_letter_case_is_folded_by_rule_only() -> None:
    rules = NameRules(folds={"snowflake": Fold.UPPER, "postgres": Fold.LOWER, "bigquery": Fold.LOWER})
    assert rules.apply("snowflake://a", "db.S.t") == DatasetName("snowflake://a", "DB.S.T")
    assert rules.apply("postgres://Db", "A.b.C") == DatasetName("postgres://Db:5432", "a.b.c")
    assert rules.apply("bigquery", "P.D.T") == DatasetName("bigquery", "p.d.t")
    assert rules.apply("kafka://k", "Topic") == DatasetName("kafka://k:9092", "Topic")
    assert NameRules().apply("snowflake://a", "db.S.t").name == "db.S.t"


def test_names_of_thousands_of_characters() -> None:
    long = "x" * 5_000
    assert normalise("s3a://lake/", f"{long}//{long}/").name == f"{long}/{long}"
    field = read_field_name({"namespace": "n", "name": long, "field": long})
    assert field is not None
    assert field.field == long


def test_job_names_lose_credentials_only() -> None:
    assert normalise_job("s3a://u:p@jobs/", "a//b/") == JobName("s3a://jobs/", "a//b/")


@pytest.mark.parametrize("name", [("a\0", "b"), ("a", "b\0"), ("a", "\0" * 500)])
def test_nul_is_refused(name: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match=r"U\+0000"):
        normalise(*name)
    with pytest.raises(ValueError, match=r"U\+0000"):
        normalise_job(*name)


SECRETS = st.sampled_from(
    [
        *("?", "&", ";", "=", "/", "//", "@", ":", "://", ".", "-", "_", " ", "k", "K", "ſ", "x" * 79),
        *("password", "passwort", "PWD", "sig", "Token", "api", "access", "Key", "key=", "secret=", "signature="),
        *("ghp_", "glpat-", "AKIA", "hf_", "npm_", "dapi", "AIza", "whence_", "sk_live_", "xoxb-", "github_pat_"),
        *("0123456789abcdef", "ABCDEF0123", "01234567_", "hooks.slack.com/", "services/", "s3", "file", "postgres"),
    ]
)
HOSTILE = st.lists(SECRETS, min_size=1, max_size=12).map("".join)


@given(HOSTILE, HOSTILE)
@example("x://a:b?token=/&@h", "t")
@example("s3", "hooks.slack.com//services//0123456789abcdef0123456789abcdef")
def test_names_lose_their_credentials_as_the_oracle_says(namespace: str, name: str) -> None:
    once = normalise(namespace, name)
    assert (once.namespace, once.name) == oracle.normal(namespace, name)
    assert normalise(once.namespace, once.name) == once
    assert normalise_job(namespace, name).name == oracle.without_credentials(name)


ORDINARY = st.text("abcXYZ019_.-/ =,:$#%+~()[]{}'\"äß漢", max_size=120)


@given(ORDINARY, st.sampled_from(["", "s3://bucket/", "postgres://db:5432/", "hive://h:9083/token=", "dt=1/password="]))
def test_ordinary_names_stay(text: str, before: str) -> None:
    assert strip_credentials(before + text) == before + text
