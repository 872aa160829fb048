"""How clients verify servers."""

import ssl


def server_verification(url: str) -> ssl.SSLContext | bool:
    """The `verify` of a client that asks one server and follows no redirect: as usual for https://.

    To read the certificates of the machine takes 20 ms of CPU time. A client of an http:// address gets none: over TLS
    it would trust nobody.
    """
    return True if url.lower().startswith("https:") else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
