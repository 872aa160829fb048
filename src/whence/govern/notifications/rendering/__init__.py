"""A notice in the form of each kind of receiver. Pure; foreign texts are no markup, mention or header anywhere."""
