"""Random databases of a hospital group, its insurers and its medical supplies: small domains, NULLs, ties, duplicates.

The tables in `KEYS` have a primary key, the others repeat rows, as what arrives from devices and interfaces does. No
foreign key holds: a reference may lead nowhere.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from random import Random

TABLES: Mapping[str, Mapping[str, str]] = {
    "hospitals": {
        "hospital_id": "INTEGER",
        "hospital_name": "VARCHAR",
        "country": "VARCHAR",
        "region": "VARCHAR",
        "beds": "INTEGER",
        "opened_on": "DATE",
        "is_teaching": "BOOLEAN",
    },
    "wards": {
        "ward_id": "INTEGER",
        "hospital_id": "INTEGER",
        "ward_code": "VARCHAR",
        "specialty": "VARCHAR",
        "beds": "INTEGER",
        "parent_ward_id": "INTEGER",
        "closed_on": "DATE",
    },
    "patients": {
        "patient_id": "INTEGER",
        "mrn": "VARCHAR",
        "first_name": "VARCHAR",
        "last_name": "VARCHAR",
        "birth_date": "DATE",
        "sex": "VARCHAR",
        "country": "VARCHAR",
        "registered_at": "TIMESTAMPTZ",
        "is_deceased": "BOOLEAN",
        "contact": "JSON",
        "allergies": "VARCHAR[]",
    },
    "encounters": {
        "encounter_id": "INTEGER",
        "patient_id": "INTEGER",
        "ward_id": "INTEGER",
        "kind": "VARCHAR",
        "physician": "VARCHAR",
        "admitted_at": "TIMESTAMP",
        "discharged_at": "TIMESTAMP",
        "triage_level": "INTEGER",
        "outcome": "VARCHAR",
        "charge": "DECIMAL(12,2)",
    },
    "diagnoses": {
        "encounter_id": "INTEGER",
        "seq_no": "INTEGER",
        "icd_code": "VARCHAR",
        "is_primary": "BOOLEAN",
        "recorded_on": "DATE",
    },
    "vitals": {
        "patient_id": "INTEGER",
        "encounter_id": "INTEGER",
        "metric": "VARCHAR",
        "reading": "DECIMAL(8,2)",
        "measured_at": "TIMESTAMP",
        "device": "VARCHAR",
    },
    "lab_results_raw": {
        "result_id": "VARCHAR",
        "patient_id": "VARCHAR",
        "test_code": "VARCHAR",
        "result_value": "VARCHAR",
        "unit": "VARCHAR",
        "taken_at": "VARCHAR",
        "loaded_at": "TIMESTAMP",
        "payload": "JSON",
    },
    "policies": {
        "policy_id": "INTEGER",
        "patient_id": "INTEGER",
        "insurer": "VARCHAR",
        "plan": "VARCHAR",
        "valid_from": "DATE",
        "valid_to": "DATE",
        "deductible": "DECIMAL(10,2)",
        "copay_rate": "DECIMAL(5,4)",
        "is_active": "BOOLEAN",
    },
    "claims": {
        "claim_id": "INTEGER",
        "encounter_id": "INTEGER",
        "policy_id": "INTEGER",
        "status": "VARCHAR",
        "submitted_on": "DATE",
        "decided_on": "DATE",
        "amount": "DECIMAL(12,2)",
        "approved_amount": "DECIMAL(12,2)",
        "currency": "VARCHAR",
        "denial_code": "VARCHAR",
    },
    "claim_payments": {
        "payment_id": "INTEGER",
        "claim_id": "INTEGER",
        "paid_at": "TIMESTAMPTZ",
        "amount": "DECIMAL(12,2)",
        "channel": "VARCHAR",
        "is_reversal": "BOOLEAN",
    },
    "items": {
        "item_id": "INTEGER",
        "sku": "VARCHAR",
        "item_name": "VARCHAR",
        "category": "VARCHAR",
        "unit_cost": "DECIMAL(10,2)",
        "pack_size": "INTEGER",
        "is_controlled": "BOOLEAN",
        "shelf_life_days": "INTEGER",
        "tags": "VARCHAR[]",
    },
    "stock_movements": {
        "movement_id": "INTEGER",
        "item_id": "INTEGER",
        "hospital_id": "INTEGER",
        "kind": "VARCHAR",
        "quantity": "INTEGER",
        "moved_at": "TIMESTAMP",
        "lot": "VARCHAR",
    },
    "purchase_orders": {
        "order_id": "INTEGER",
        "supplier": "VARCHAR",
        "hospital_id": "INTEGER",
        "status": "VARCHAR",
        "ordered_on": "DATE",
        "expected_on": "DATE",
        "received_at": "TIMESTAMP",
        "currency": "VARCHAR",
    },
    "order_lines": {
        "order_id": "INTEGER",
        "line_no": "INTEGER",
        "item_id": "INTEGER",
        "quantity": "INTEGER",
        "received_quantity": "INTEGER",
        "unit_price": "DECIMAL(10,2)",
        "discount_pct": "INTEGER",
    },
    "shipments": {
        "shipment_id": "INTEGER",
        "order_id": "INTEGER",
        "carrier": "VARCHAR",
        "shipped_at": "TIMESTAMPTZ",
        "delivered_at": "TIMESTAMPTZ",
        "temperatures": "DECIMAL(4,1)[]",
    },
    "portal_events": {
        "patient_id": "INTEGER",
        "event_name": "VARCHAR",
        "event_at": "TIMESTAMP",
        "page": "VARCHAR",
        "properties": "JSON",
    },
}
TARGETS: Mapping[str, Mapping[str, str]] = {
    "dim_patients": {
        "patient_id": "INTEGER",
        "full_name": "VARCHAR",
        "country": "VARCHAR",
        "valid_from": "DATE",
        "valid_to": "DATE",
        "is_current": "BOOLEAN",
    },
    "stock_levels": {
        "item_id": "INTEGER",
        "hospital_id": "INTEGER",
        "on_hand": "BIGINT",
        "reorder_point": "INTEGER",
        "updated_at": "TIMESTAMP",
    },
    "fct_claims": {
        "claim_id": "INTEGER",
        "patient_id": "INTEGER",
        "status": "VARCHAR",
        "amount": "DECIMAL(12,2)",
        "paid": "DECIMAL(38,2)",
        "decided_on": "DATE",
    },
    "ward_census": {"day": "DATE", "ward_id": "INTEGER", "admissions": "BIGINT", "discharges": "BIGINT"},
}
"""Tables that exist, with rows, before a statement writes them."""
KEYS: Mapping[str, tuple[str, ...]] = {
    "hospitals": ("hospital_id",),
    "wards": ("ward_id",),
    "patients": ("patient_id",),
    "encounters": ("encounter_id",),
    "diagnoses": ("encounter_id", "seq_no"),
    "policies": ("policy_id",),
    "claims": ("claim_id",),
    "claim_payments": ("payment_id",),
    "items": ("item_id",),
    "purchase_orders": ("order_id",),
    "order_lines": ("order_id", "line_no"),
    "shipments": ("shipment_id",),
    "stock_levels": ("item_id", "hospital_id"),
}
"""The primary keys, which are unique and never NULL."""
_NULLS = (0.03, 0.1, 0.25)
_OFTEN_NULL = {"valid_to": 0.25, "birth_date": 0.25, "full_name": 0.6, "dim_patients.country": 0.5}
"""Columns, or those of one table, that are NULL at least this often."""
_COUNTS = {
    "dim_patients": (8, 14, 24),
    "hospitals": (2, 4),
    "patients": (3, 6, 9),
    "wards": (3, 6, 9),
    "encounters": (5, 12, 18),
    "vitals": (6, 14, 24),
    "lab_results_raw": (6, 16, 36),
    "portal_events": (10, 24, 60),
    "stock_movements": (6, 14, 24),
    "diagnoses": (5, 12, 18),
    "order_lines": (5, 12, 18),
}
_MONEY = ("0", "10.00", "10.00", "49.90", "99.99", "100.00", "250.50", "-5.00", "1000.00", "0.005")
_CODES = ("J45.901", "J45.90", "j45.901", "I10", "J459", "E11.9", "S72_0", "Z00")
_TEXTS: Mapping[str, Sequence[str]] = {
    "hospital_name": ("Hôpital Saint-Éloi", "Zürich Süd", "St. Mary's", "CHU Liège", "zürich süd", ""),
    "country": ("CH", "CH", "FR", "ch", ""),
    "region": ("north", "south", "Île", "NORTH"),
    "ward_code": ("ICU-1", "ICU-2", "ICU_1", "ER", "er", "MAT-10"),
    "specialty": ("cardiology", "Cardiology", "surgery", "paediatrics", "icu"),
    "mrn": ("000123", "123", "A-77 ", " a-77", "CH-9"),
    "first_name": ("Zoë", "José", "jose", "Ann ", "Ann", "O'Neil", ""),
    "last_name": ("Müller", "Muller", "de la Cruz", "ÉTIENNE", "Smith", ""),
    "sex": ("F", "M", "X", "f"),
    "encounters.kind": ("inpatient", "inpatient", "outpatient", "emergency", "Emergency"),
    "physician": ("Dr. Frei", "Dr. Rossi", "dr. frei", ""),
    "outcome": ("discharged", "discharged", "transferred", "deceased", "left"),
    "icd_code": _CODES,
    "metric": ("hr", "hr", "spo2", "temp"),
    "device": ("m1", "m2", "M1"),
    "result_id": ("r1", "r2", "r3", "r4"),
    "lab_results_raw.patient_id": ("1", "1", "2", " 2", "03", "x"),
    "test_code": ("HBA1C", "HBA1C", "hba1c", "GLU"),
    "result_value": ("5.4", "7", " 7 ", "<0.1", "n/a", "6.50", "126", "-1", ""),
    "unit": ("%", "%", "mg/dL", "MG/DL"),
    "insurer": ("Helsana", "CSS", "css", "AXA"),
    "plan": ("basic", "plus", "Plus", "private"),
    "claims.status": ("submitted", "approved", "approved", "denied", "paid", "Paid"),
    "fct_claims.status": ("submitted", "approved", "denied", "paid"),
    "currency": ("EUR", "CHF", "USD", "eur"),
    "denial_code": ("D1", "D2", "D10", ""),
    "channel": ("sepa", "card", "cheque"),
    "sku": ("GL-100", "GL-10 X", "gl-100", "SY_5", "SY-5", "MASK"),
    "item_name": ("Gants stériles", "gants steriles", "Syringe 5ml", "Mask 50%", "Mask 50"),
    "category": ("consumable", "drug", "device", "Drug"),
    "stock_movements.kind": ("in", "in", "out", "adjust", "waste"),
    "lot": ("L1", "L2", "l1", ""),
    "supplier": ("MedPro", "Santé+", "medpro", "Acme"),
    "purchase_orders.status": ("open", "received", "partial", "cancelled"),
    "carrier": ("DHL", "UPS", "dhl", "Poste"),
    "event_name": ("login", "login", "view", "book", "confirm", "cancel"),
    "page": ("/home", "/book/1", "/book/22", "/results", "/Results", ""),
    "full_name": ("Zoë Müller", "Ann Smith", "Ann  Smith"),
    "contact": (
        '{"email": "zoe@care.ch", "phones": ["+41 1", "+33 2"], "address": {"zip": "8001", "city": "Zürich"}}',
        '{"email": "ANN@care.ch", "phones": [], "address": {"zip": 1000}}',
        '{"email": null, "consent": true}',
        '{"email": "bob@mail.fr", "consent": false, "phones": ["+41 1"]}',
        '{"email": "desk@care.ch", "address": {}}',
        "{}",
    ),
    "payload": (
        '{"flag": "H", "ref": {"low": 4, "high": 6.5}, "panel": ["a", "b"]}',
        '{"flag": "L", "ref": {"low": 60, "high": 110}, "panel": []}',
        '{"flag": null, "ref": {}}',
        '{"ref": {"low": "4"}, "panel": ["a", "a"]}',
        "{}",
    ),
    "properties": (
        '{"device": "mobile", "ab": "A", "ms": 120}',
        '{"device": "Desktop", "ab": "B", "ms": 30}',
        '{"device": "desktop", "ms": null}',
        '{"ab": "A", "ms": "120"}',
        "{}",
    ),
}
_WORDS = ("latex", "penicillin", "Latex", "sterile", "")
_TIMES = ("00:00:00", "00:00:00", "09:30:00", "10:00:00", "10:29:59", "10:30:00", "10:30:59", "22:30:00", "23:59:59")
_OFFSETS = ("+00", "+00", "+02", "-05")
_DAYS = tuple(date(2023, 12, 31) + timedelta(days) for days in (0, 1, 2, 31, 59, 60, 61, 91, 92, 365))
"""The ends and beginnings of months, a leap day, and a day that is in the first week of the next year."""
_BIRTHS = ("1931-05-01", "1959-03-01", "1960-02-29", "2006-03-01", "2006-04-01", "2019-12-31", "2024-01-01")


def target_of(statement: str) -> str:
    """The table or view that a statement writes; empty for a query."""
    text = re.sub(r"--[^\n]*\n|/\*.*?\*/", " ", statement, flags=re.DOTALL).strip()
    found = re.match(
        r"(?i)(?:MERGE INTO|INSERT INTO|DELETE FROM|UPDATE|CREATE(?: OR REPLACE)? (?:TABLE|VIEW)(?: IF NOT EXISTS)?)"
        r" (\w+)",
        text,
    )
    return found[1] if found else ""


def scripts(seed: int, versions: Sequence[str]) -> Iterator[str]:
    """The statements that create the tables that versions of a statement name, and fill them at random. Values are on
    both sides of the dates and numbers that the versions compare with.
    """
    text, random = "\n".join(versions), Random(f"care:{seed}")
    pools, nulls = _pools(text, random), random.choice(_NULLS)
    for table, columns in tables_of(text).items():
        typed = ", ".join(f"{name} {kind}" for name, kind in columns.items())
        key = f", PRIMARY KEY ({', '.join(KEYS[table])})" if table in KEYS and table in TABLES else ""
        yield f"CREATE TABLE {table} ({typed}{key})"
        yield f"INSERT INTO {table} VALUES {', '.join(_rows(random, pools, nulls, table, columns))}"


def tables_of(text: str) -> dict[str, Mapping[str, str]]:
    """The tables that a text names, with their columns and types."""
    return {table: columns for table, columns in {**TABLES, **TARGETS}.items() if re.search(rf"(?i)\b{table}\b", text)}


def _rows(
    random: Random, pools: Mapping[str, Sequence[str]], nulls: float, table: str, columns: Mapping[str, str]
) -> Sequence[str]:
    key, rows = KEYS.get(table, ()), dict[object, str]()
    for number in range(random.choice(_COUNTS.get(table, (3, 8, 12)))):
        cells = {name: _cell(random, pools, nulls, table, name, kind) for name, kind in columns.items()}
        if len(key) == 1:
            cells[key[0]] = str(number + 1)
        for name in key[: len(key) - 1]:
            cells[name] = random.choice(pools["keys"])
        if len(key) > 1:
            cells[key[-1]] = str(random.randint(1, 4))
        rows.setdefault(tuple(cells[name] for name in key) or number, f"({', '.join(cells.values())})")
    repeated = [] if key else random.sample(list(rows.values()), min(len(rows), random.choice((0, 1, 2))))
    return [*random.sample(list(rows.values()), len(rows)), *repeated]


def _pools(text: str, random: Random) -> Mapping[str, Sequence[str]]:
    named = sorted({date.fromisoformat(day) for day in re.findall(r"\b20\d{2}-\d{2}-\d{2}", text)})
    near = [day + timedelta(days=shift) for day in named for shift in (-1, 0, 0, 0, 1)]
    days = random.sample(_DAYS, random.choice((2, 4, 6)))
    days += random.sample(near, min(len(near), random.choice((2, 4, 6))))
    first = random.choice(days)
    days += [first + timedelta(days=shift) for shift in random.sample((1, 2, 3, 6, 7, 8, 29, 30, 31, 365), 3)]
    spans = re.findall(r"(?i)\binterval '?(\d+) days?\b", text)
    for span in spans:
        days += [first, first, *(first + timedelta(days=int(span) + shift) for shift in (0, 0, 1, 1))]
    numbers = {int(number) for number in re.findall(r"(?<![-.\w:'])\d{1,4}(?![-.\w:'])", text)}
    near_numbers = sorted({number + shift for number in numbers for shift in (-1, 0, 1)})
    chosen = list(map(str, random.sample(near_numbers, min(len(near_numbers), 5))))
    times = random.sample(_TIMES, random.choice((2, 4)))
    if spans and random.random() < 0.6:
        times = times[:1]
    moments = [f"{day} {time}" for day in days for time in times]
    all_texts = random.random() < 0.6
    return {
        "DATE": [str(day) for day in days],
        "TIMESTAMP": moments,
        "TIMESTAMPTZ": [f"{moment}{random.choice(_OFFSETS)}" for moment in moments],
        "DECIMAL": [*random.sample(_MONEY, random.choice((2, 4, 7))), *chosen[: random.choice((0, 3))]],
        "INTEGER": ["0", "1", "2", "3", "10", "-4", *chosen],
        "BOOLEAN": ["true", "false"],
        "birth_date": _BIRTHS,
        "copay_rate": ("0", "0.1", "0.2500", "1"),
        "discount_pct": ("0", "0", "5", "15", "100"),
        "taken_at": [*random.sample(moments, 4), str(days[0]), "not a date", ""],
        **{name: random.sample(texts, len(texts) if all_texts else 2) for name, texts in _TEXTS.items()},
        "keys": [str(key) for key in range(1, random.choice((3, 4, 6)))],
    }


def _cell(random: Random, pools: Mapping[str, Sequence[str]], nulls: float, table: str, column: str, kind: str) -> str:
    if random.random() < max(nulls, _OFTEN_NULL.get(f"{table}.{column}", _OFTEN_NULL.get(column, 0))):
        return "NULL"
    texts = pools.get(f"{table}.{column}") or pools.get(column)
    if texts:
        return _quoted(random.choice(texts))
    if column.endswith("_id"):
        return random.choice(pools["keys"])
    match kind:
        case "VARCHAR[]":
            return f"[{', '.join(random.choice(('NULL', *map(_quoted, _WORDS))) for _ in range(random.randint(0, 3)))}]"
        case "DECIMAL(4,1)[]":
            readings = ("NULL", "2.0", "7.9", "8.0", "8.1", "-1.5")
            return f"[{', '.join(random.choice(readings) for _ in range(random.randint(0, 4)))}]"
    return _quoted(random.choice(pools["INTEGER" if kind == "BIGINT" else kind.partition("(")[0]]))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
