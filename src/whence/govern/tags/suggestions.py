"""Which columns may be sensitive, by their names: words of five languages. A suggestion is not a tag.

Names are split into words at other characters than letters and at capitals (`customerEmail`, `Kunden-Mail`). A word
counts anywhere in a name; several words only if they are beside each other. A name that
often means something else (`cap`, `treatment`) is left out.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from whence.govern.tags.known import KnownDataset
from whence.model.names import FieldName
from whence.query.sensitivity.marks import categories_in

_BY_LANGUAGE: Mapping[str, Mapping[str, str]] = {
    "en": {
        "pii": "email, e mail, mail address, phone, mobile number, fax number, first name, last name, full name, "
        "surname, given name, maiden name, customer name, user name, person name, birth date, birthdate, birthday, "
        "date of birth, dob, birthplace, street, postal code, postcode, zip, zip code, home address, address line, "
        "ssn, social security, passport, driver license, driving licence, national id, tax id, ip, ip address, "
        "mac address, device id, gender, nationality, ethnicity, religion, license plate, latitude, longitude",
        "phi": "diagnosis, patient, medication, prescription, icd, icd10, blood type, allergy, disability, "
        "insurance number, health record, health insurance",
        "financial": "iban, bic, credit card, card number, cvv, cvc, account number, bank account, "
        "routing number, sort code, salary, income, wage",
        "sensitive": "password, passwd, secret, api key, access token, private key",
    },
    "de": {
        "pii": "vorname, nachname, familienname, geburtsname, geburtsdatum, geburtstag, geburtsort, strasse, "
        "hausnummer, plz, postleitzahl, wohnort, anschrift, telefon, telefonnummer, handy, handynummer, mobilnummer, "
        "mailadresse, personalausweis, ausweisnummer, reisepass, steuernummer, steuer id, sozialversicherungsnummer, "
        "geschlecht, staatsangehoerigkeit, religion, konfession, kennzeichen, kundenname",
        "phi": "diagnose, krankheit, medikament, versichertennummer, krankenkasse, blutgruppe, behandlung, behinderung",
        "financial": "kontonummer, bankleitzahl, blz, kreditkarte, kartennummer, gehalt, einkommen, lohn",
        "sensitive": "passwort, kennwort, geheimnis",
    },
    "fr": {
        "pii": "prenom, nom de famille, nom complet, courriel, adresse mail, telephone, date de naissance, "
        "lieu de naissance, code postal, rue, numero de securite sociale, nir, passeport, carte identite, sexe, "
        "nationalite, immatriculation",
        "phi": "diagnostic, maladie, medicament, groupe sanguin, mutuelle, traitement medical, handicap",
        "financial": "numero de carte, carte bancaire, numero de compte, salaire, revenu",
        "sensitive": "mot de passe, mdp",
    },
    "es": {
        "pii": "apellido, apellidos, nombre completo, nombre cliente, correo, correo electronico, telefono, "
        "telefono movil, fecha nacimiento, fecha de nacimiento, lugar de nacimiento, codigo postal, direccion, calle, "
        "dni, pasaporte, sexo, nacionalidad, matricula",
        "phi": "diagnostico, enfermedad, medicamento, grupo sanguineo, alergia, tratamiento medico, discapacidad",
        "financial": "tarjeta de credito, numero de tarjeta, numero de cuenta, cuenta bancaria, salario, ingresos",
        "sensitive": "contrasena, clave secreta",
    },
    "it": {
        "pii": "cognome, nome completo, nome cliente, posta elettronica, telefono, cellulare, data di nascita, "
        "data nascita, luogo di nascita, indirizzo, codice fiscale, passaporto, carta identita, sesso, "
        "cittadinanza, nazionalita, targa",
        "phi": "diagnosi, malattia, farmaco, gruppo sanguigno, allergia, tessera sanitaria, disabilita",
        "financial": "carta di credito, numero carta, numero conto, conto corrente, stipendio, reddito",
        "sensitive": "parola chiave segreta",
    },
}
LANGUAGES = tuple(_BY_LANGUAGE)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class Suggestion:
    """A column that may be sensitive. `word`: what is in its name, in `language`."""

    column: FieldName
    category: str
    word: str
    language: str


def suggest_tags(known: Iterable[KnownDataset], languages: Iterable[str] = LANGUAGES) -> Iterator[Suggestion]:
    """The columns whose names say that they are sensitive, and that no tag and no label marks so, in order.

    A tag that denies it (`pii=false`) is a decision, too: such a column is not suggested again.
    """
    chosen = frozenset(languages)
    for one in sorted(known, key=lambda one: one.name):
        for column in sorted(one.columns):
            decided = {category for tag in one.tags if tag.field in ("", column) for category in categories_of(tag.key)}
            decided |= {label.category for label in one.labels if label.column == column and label.grade}
            for category, (word, language) in sorted(find_words(column, chosen).items()):
                if category not in decided:
                    yield Suggestion(
                        column=FieldName(one.name, column), category=category, word=word, language=language
                    )


def categories_of(key: str) -> frozenset[str]:
    """The categories that a tag with this key is about."""
    return frozenset(categories_in(key))


def find_words(name: str, languages: Iterable[str] = LANGUAGES) -> Mapping[str, tuple[str, str]]:
    """The longest words of the dictionary in a name: (word, language) by category."""
    words = split_words(name)
    ends = {
        words[start:end]
        for start in range(len(words))
        for end in range(start + 1, min(len(words), start + _LONGEST) + 1)
    }
    found: dict[str, tuple[str, str]] = {}
    for several in sorted(ends, key=lambda one: (-len(one), one)):
        for language, category in _DICTIONARY.get(several, ()):
            if language in languages:
                found.setdefault(category, (" ".join(several), language))
    return found


def split_words(text: str) -> tuple[str, ...]:
    """The words of a name in lower case, without accents: `Straße`, `STRASSE` and `strasse` are one."""
    plain = text.replace("ß", "ss")
    for letter, spelled in (("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("Ä", "Ae"), ("Ö", "Oe"), ("Ü", "Ue")):
        plain = plain.replace(letter, spelled)
    bare = "".join(one for one in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(one))
    return tuple(word.lower() for word in _WORDS.findall(bare))


def _read_dictionary() -> Mapping[tuple[str, ...], tuple[tuple[str, str], ...]]:
    found: dict[tuple[str, ...], tuple[tuple[str, str], ...]] = {}
    for language, by_category in _BY_LANGUAGE.items():
        for category, words in by_category.items():
            for word in words.split(","):
                key = tuple(word.split())
                found[key] = (*found.get(key, ()), (language, category))
    return found


_DICTIONARY = _read_dictionary()
_LONGEST = max(map(len, _DICTIONARY))
