"""What the values of a column are, by the recognisers of Presidio: numbers that states and health insurers give people.

These are patterns with check digits: they need no language model, and read nothing from a network. Presidio comes with
the extra `presidio`.
"""

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from whence.errors import WhenceError
from whence.govern.tags.suggestions import split_words
from whence.govern.tags.value_kinds import ENOUGH, FoundKind, has_enough

INSTALL = "it needs Presidio: pip install 'whence-lineage[presidio]'"
_RECOGNISERS: Mapping[str, str] = {
    "AuMedicareRecognizer": "phi",
    "AuTfnRecognizer": "pii",
    "CryptoRecognizer": "financial",
    "DeHealthInsuranceRecognizer": "phi",
    "DeIdCardRecognizer": "pii",
    "DeSocialSecurityRecognizer": "pii",
    "DeTaxIdRecognizer": "pii",
    "EsNieRecognizer": "pii",
    "EsNifRecognizer": "pii",
    "FiPersonalIdentityCodeRecognizer": "pii",
    "InAadhaarRecognizer": "pii",
    "ItFiscalCodeRecognizer": "pii",
    "KrRrnRecognizer": "pii",
    "MacAddressRecognizer": "pii",
    "NgNinRecognizer": "pii",
    "NhsRecognizer": "phi",
    "PlPeselRecognizer": "pii",
    "SePersonnummerRecognizer": "pii",
    "SgFinRecognizer": "pii",
    "ThTninRecognizer": "pii",
    "TrNationalIdRecognizer": "pii",
    "UkDrivingLicenceRecognizer": "pii",
    "UkNinoRecognizer": "pii",
    "UsItinRecognizer": "pii",
    "UsMbiRecognizer": "phi",
    "UsSsnRecognizer": "pii",
    "ZaIdNumberRecognizer": "pii",
}
"""The recognisers that are asked, with the category of what they find. Others find what is of no person (companies,
postal codes), what has no check digit (passports, licences), or what `value_kinds` finds.
"""
_MOST = 200
"""Values of a column that Presidio looks at: some milliseconds each."""
_SURE = 0.6
"""The score from which on a finding counts. A pattern without check digits has it only if the column's name agrees."""

Finder = Callable[[str, Sequence[str]], FoundKind | None]


def open_finder() -> Finder:
    """A function that finds the kind of a column's values as `find_kind` does. Raises WhenceError without Presidio."""
    try:
        presidio, engines = import_module("presidio_analyzer"), import_module("presidio_analyzer.nlp_engine")
        known = import_module("presidio_analyzer.predefined_recognizers")
    except ImportError as error:
        raise WhenceError(INSTALL) from error
    recognisers = {name: getattr(known, name)(supported_language="en") for name in _RECOGNISERS if hasattr(known, name)}
    registry = presidio.RecognizerRegistry(recognizers=list(recognisers.values()), supported_languages=["en"])
    no_language = engines.NoOpNlpEngine([{"lang_code": "en", "model_name": "none"}])
    no_language.load()
    engine = presidio.AnalyzerEngine(registry=registry, nlp_engine=no_language, supported_languages=["en"])
    categories = {entity: _RECOGNISERS[name] for name, one in recognisers.items() for entity in one.supported_entities}

    def find(column: str, values: Sequence[str]) -> FoundKind | None:
        some = [one for text in values if (one := text.strip())]
        if not has_enough(some):
            return None
        sample = random.Random(0).sample(some, min(len(some), _MOST))
        context = list(split_words(column))
        counts = Counter(entity for text in sample for entity in _entities(engine, text, context))
        return _most_common(column, counts, len(sample), categories)

    return find


def _entities(engine: Any, text: str, context: Sequence[str]) -> set[str]:
    """What a whole value is."""
    found = engine.analyze(text, language="en", context=context)
    return {one.entity_type for one in found if (one.start, one.end) == (0, len(text)) and one.score >= _SURE}


def _most_common(column: str, counts: Counter[str], of: int, categories: Mapping[str, str]) -> FoundKind | None:
    entity, count = max(counts.items(), key=lambda one: (one[1], one[0]), default=("", 0))
    if count < ENOUGH * of:
        return None
    tag = entity.lower().replace("_", "-")
    return FoundKind(column=column, category=categories[entity], kind=entity, tag=tag, share=count / of, values=of)
