"""Receipts of notifications as one viewer may read them: who was notified is for those who may see everything."""

from dataclasses import replace

import msgspec

from whence.model.records.notifications import NOTIFICATION, ReceiptRecord


def read_receipt_record(payload: str) -> ReceiptRecord | None:
    """A receipt from the JSON of its facet; None if it has another form."""
    try:
        return msgspec.json.decode(payload, type=ReceiptRecord)
    except msgspec.DecodeError:
        return None


def shown_receipt_record(payload: str, facet: str) -> str:
    """The JSON of a receipt without receiver and reference; empty if it is none."""
    if facet == NOTIFICATION and (receipt := read_receipt_record(payload)):
        return msgspec.json.encode(replace(receipt, receiver="", reference="")).decode()
    return ""
