"""Running the service with uvicorn: where it listens, by which certificate, and how it stops."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from indistinct.errors import InvalidParameter, MissingExtra

if TYPE_CHECKING:
    import uvicorn

    from indistinct.queries import PrivateDatabase
    from indistinct.server.tokens import TokenBook
    from indistinct.server.work import Limits

__all__ = ["Listening", "make_server"]


@dataclass(frozen=True, slots=True)
class Listening:
    """Where to listen: on this machine alone unless told otherwise, and then only with a certificate or a proxy.

    >>> Listening(host="0.0.0.0")
    Traceback (most recent call last):
    ...
    indistinct.errors.InvalidParameter: host must be an address of this machine alone, but is '0.0.0.0'. Tokens ...
    """

    host: str = "127.0.0.1"
    port: int = 8000
    certificate: Path | None = None
    private_key: Path | None = None
    behind_proxy: bool = False
    """A proxy on the way keeps the tokens secret, by TLS of its own."""

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65_535:
            raise InvalidParameter("port", self.port, "lie in [0, 65535]")
        for name in ("certificate", "private_key"):
            path = getattr(self, name)
            if path is not None and not path.is_file():
                raise InvalidParameter(name, str(path), "be a file that exists")
        if (self.certificate is None) != (self.private_key is None):
            raise InvalidParameter("certificate and private key", "one of them", "be given together")
        if self.certificate is not None and self.private_key is not None:
            _check_pair(self.certificate, self.private_key)
        if not (self._is_loopback() or self.certificate or self.behind_proxy):
            raise InvalidParameter(
                "host",
                self.host,
                "be an address of this machine alone",
                instead="Tokens would be open to the network: give a certificate, or say that a proxy has one.",
            )

    def _is_loopback(self) -> bool:
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


def _check_pair(certificate: Path, private_key: Path) -> None:
    """Before anything is opened; and nobody is asked for a passphrase, as there may be nobody."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, private_key, password=lambda: b"")
    except (ssl.SSLError, OSError, ValueError):
        raise InvalidParameter(
            "certificate and private key",
            f"{certificate}, {private_key}",
            "be PEM files that belong together and can be read without a passphrase",
        ) from None


def make_server(database: PrivateDatabase, tokens: TokenBook, limits: Limits, listening: Listening) -> uvicorn.Server:
    """A server that is not yet running; `run` runs it until it is told to stop, then lets what has begun end."""
    try:
        import uvicorn

        from indistinct.server.connections import Connection
        from indistinct.server.service import Service, make_app
    except ImportError as error:
        raise MissingExtra("the service", "server") from error
    return uvicorn.Server(
        uvicorn.Config(
            make_app(Service(database, tokens, limits)),
            host=listening.host,
            port=listening.port,
            ssl_certfile=listening.certificate,
            ssl_keyfile=listening.private_key,
            http=Connection,
            ws="none",
            access_log=False,
            log_level="error",  # a warning is what strangers can cause at will
            server_header=False,
            proxy_headers=False,
            h11_max_incomplete_event_size=16_384,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=int(limits.seconds) + 5,
        )
    )
