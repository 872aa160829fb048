"""Tags of warehouses: which of them sensitivity labels ask for, and which of theirs are events here."""
