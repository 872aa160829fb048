"""Tags of warehouses at the terminal: plans, imports, and what differs."""
