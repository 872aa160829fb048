"""The gate: what a change of code means for production, judged by rules. Pure functions over values; no I/O."""
