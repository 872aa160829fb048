"""ibis: column lineage out of the typed graph of its expressions, whatever database runs them."""

from whence_client.ibis.hooks import capture

__all__ = ["capture"]
