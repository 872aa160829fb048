"""Evidence packs over HTTP, and the public keys that verify them."""
