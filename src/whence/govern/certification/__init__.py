"""Certification as a rule: which datasets may be relied on, judged again and again, by what is known of each."""
