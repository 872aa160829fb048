"""Signed heads: what the event log and the audit log were at a time, signed, so that a later cut can be proven."""
