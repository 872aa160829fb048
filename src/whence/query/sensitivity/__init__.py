"""Sensitivity labels: which columns show sensitive values of others, how much of them, and along which way."""
