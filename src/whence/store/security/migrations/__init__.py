"""The steps by which a store's tables came to be what `tables` says."""
