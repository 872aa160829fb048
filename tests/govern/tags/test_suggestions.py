"""Which names of columns suggest sensitive data, in five languages; and what is decided is not suggested again."""

from dataclasses import replace

import pytest

from whence.govern.tags.known import KnownDataset, KnownLabel, KnownTag
from whence.govern.tags.suggestions import LANGUAGES, find_words, suggest_tags
from whence.model.names import DatasetName
from whence.model.sensitivity import Grade


@pytest.mark.parametrize(
    ("name", "category", "language"),
    [
        ("email", "pii", "en"),
        ("customerEmailAddress", "pii", "en"),
        ("CUST_DOB", "pii", "en"),
        ("IPAddress", "pii", "en"),
        ("billing.zip_code", "pii", "en"),
        ("icd10", "phi", "en"),
        ("blood-type", "phi", "en"),
        ("cardNumber", "financial", "en"),
        ("user_password", "sensitive", "en"),
        ("Straße", "pii", "de"),
        ("STRASSE", "pii", "de"),
        ("kunde_geburtsdatum", "pii", "de"),
        ("Staatsangehörigkeit", "pii", "de"),
        ("kontonummer", "financial", "de"),
        ("prénom", "pii", "fr"),
        ("date_de_naissance", "pii", "fr"),
        ("motDePasse", "sensitive", "fr"),
        ("correo_electrónico", "pii", "es"),
        ("apellidos", "pii", "es"),
        ("contraseña", "sensitive", "es"),
        ("codice_fiscale", "pii", "it"),
        ("dataDiNascita", "pii", "it"),
        ("stipendio_lordo", "financial", "it"),
    ],
)
def test_names_of_five_languages(name: str, category: str, language: str) -> None:
    assert find_words(name)[category][1] == language
    assert category not in find_words(name, set(LANGUAGES) - {language})


OTHERS = """id shipped_at zipped description product_name mailing panel market_cap ips order_number status amount
credit streetwear nombre health_check treatment …"""


@pytest.mark.parametrize("name", ["", *OTHERS.split()])
def test_other_names_suggest_nothing(name: str) -> None:
    assert find_words(name) == {}


def test_what_is_tagged_labelled_or_denied_is_not_suggested() -> None:
    one = KnownDataset(
        name=DatasetName("w", "db.users"), columns=frozenset({"email", "phone", "iban", "vorname", "age"})
    )
    assert [(str(found.column.field), found.category) for found in suggest_tags([one])] == [
        ("email", "pii"),
        ("iban", "financial"),
        ("phone", "pii"),
        ("vorname", "pii"),
    ]
    tags = (
        KnownTag(key="pii", value="true", field="email", source="USER"),
        KnownTag(key="pii", value="false", field="phone", source="USER"),
    )
    label = KnownLabel(column="iban", category="financial", grade=Grade.STATISTIC, possible=Grade.FULL)
    decided = replace(one, tags=tags, labels=(label,))
    assert [found.column.field for found in suggest_tags([decided])] == ["vorname"]
    assert [*suggest_tags([decided], ["en"])] == []
    whole = (KnownTag(key="pii", value="true", field="", source="DBT"),)
    assert [found.category for found in suggest_tags([replace(one, tags=whole)])] == ["financial"]
