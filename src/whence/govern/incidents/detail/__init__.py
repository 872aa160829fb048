"""What is known around one incident: causes, impact, budgets, and what limits it."""
