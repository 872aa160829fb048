"""What declared policies and rules of certification say of each dataset, and how that changed."""
