"""Commands about rules in files next to the code: contracts, objectives."""
