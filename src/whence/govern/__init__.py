"""Rules over what the store knows: what it may forget, and which jobs have ended."""
