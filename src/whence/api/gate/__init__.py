"""Verdicts, approvals and waivers of gates over HTTP, under `/api/v2/gate`."""
