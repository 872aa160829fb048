"""Lineage KPIs: each is one SQL file over the published tables, its definition in words at its head (kpis.md).

A query returns one row: value, numerator, denominator. Its parameters are `:since` and `:at`, the period measured.
"""
