"""The parts of an event that require a role, and the restriction that withholds them."""
