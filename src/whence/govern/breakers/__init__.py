"""Circuit breakers: whether what a model, job or dataset reads may be used now, and why not."""
