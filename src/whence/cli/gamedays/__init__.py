"""The work of `whence gameday`: plays scenarios in stores of their own, and prints what was found."""
