"""Differences between dialects, as data: quoting, case, functions."""
