"""What questions need of a store, as protocols. The store implements them."""
