"""The ports through which questions read a store, as protocols. The store implements them."""
