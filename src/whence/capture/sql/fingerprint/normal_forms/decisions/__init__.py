"""CASE, defaults and conditions as functions of finitely many situations, which have one normal form."""
