"""Streamable HTTP: a bearer token on every request, and only for the hosts the server is meant for."""

from __future__ import annotations

import hmac
import ipaddress
import os
import socket
from typing import TYPE_CHECKING, Any

from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import AnyHttpUrl, SecretStr

from pgrecall.errors import InvalidInput, PgrecallError
from pgrecall.query.endpoints import checked_key, key_in_file

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .server import MemoryServer

__all__ = ["TOKEN_FILE_VARIABLE", "TOKEN_VARIABLE", "authentication", "listening", "serve", "token", "url_of"]

TOKEN_VARIABLE = "PGRECALL_MCP_TOKEN"  # noqa: S105 - its name, not the token
TOKEN_FILE_VARIABLE = f"{TOKEN_VARIABLE}_FILE"

PATH = "/mcp"

_SHORTEST_TOKEN = 16
_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
_STOP_SECONDS = 3


def token() -> SecretStr:
    """Return the token that clients must send.

    Raises:
        InvalidInput: There is none, it is too short, or it is none that a header can hold.
    """
    file = os.environ.get(TOKEN_FILE_VARIABLE, "")
    if file and TOKEN_VARIABLE in os.environ:
        raise InvalidInput(
            f"{TOKEN_VARIABLE} and {TOKEN_FILE_VARIABLE} exclude each other", hint="Unset one of them."
        )
    if file:
        place = f"the file that {TOKEN_FILE_VARIABLE} names"
        given = checked_key(key_in_file(file, place), place)
    elif TOKEN_VARIABLE in os.environ:
        place = f"environment variable {TOKEN_VARIABLE}"
        given = checked_key(os.environ[TOKEN_VARIABLE], place)
    else:
        raise InvalidInput(
            "an MCP server over HTTP needs a token",
            hint=f"Set {TOKEN_FILE_VARIABLE} to a file that holds one, or {TOKEN_VARIABLE}; "
            "`openssl rand -hex 32` makes one.",
        )
    if len(given) < _SHORTEST_TOKEN:
        raise InvalidInput(
            f"{place} holds a token of less than {_SHORTEST_TOKEN} characters",
            hint="`openssl rand -hex 32` makes one that nobody guesses.",
        )
    return SecretStr(given)


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens there.

    Raises:
        PgrecallError: It cannot be had.
    """
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise PgrecallError(
            f"cannot listen on {host} port {port}: {reason}",
            hint="Choose a free port with --port, and an address of this machine with --host.",
        ) from None


def url_of(listener: socket.socket) -> str:
    """Return the address that clients on this machine connect to."""
    host, port = listener.getsockname()[:2]
    return f"http://{_bracketed(host)}:{port}{PATH}"


def protection(host: str, allowed: Iterable[str]) -> TransportSecuritySettings:
    """Return which Host and Origin headers are taken: none but the server's own stops DNS rebinding.

    Args:
        host: Where it listens.
        allowed: Names that it is called by, such as that of a proxy before it.

    Raises:
        InvalidInput: It listens on all addresses, and nobody said by which names it is called.
    """
    names = [_bracketed(name) for name in allowed]
    if _is_loopback(host):
        names.extend(_LOOPBACK_NAMES)
    elif not _is_unspecified(host):
        names.append(_bracketed(host))
    if not names:
        raise InvalidInput(
            f"{host} is every address of this machine",
            hint="Say by which names clients call it: --allowed-host memory.example.org.",
        )
    hosts = [form for name in names for form in (name, f"{name}:*")]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=hosts,
        allowed_origins=[f"{scheme}://{form}" for scheme in ("http", "https") for form in hosts],
    )


def authentication(secret: SecretStr, url: str) -> dict[str, Any]:
    """Return the arguments of `MCPServer` that have it ask for the token."""
    return {
        "token_verifier": _OneToken(secret),
        # Nobody issues tokens here; the SDK wants an address all the same, and tells it to nobody.
        "auth": AuthSettings(issuer_url=AnyHttpUrl(url), resource_server_url=None),
    }


async def serve(
    server: MemoryServer, listener: socket.socket, host: str, allowed_hosts: Iterable[str]
) -> None:
    """Serve until SIGTERM or SIGINT."""
    from pgrecall.contrib.http_serving import web_server

    app = server.streamable_http_app(
        streamable_http_path=PATH, transport_security=protection(host, allowed_hosts)
    )
    await web_server(app, timeout_graceful_shutdown=_STOP_SECONDS).serve(sockets=[listener])


class _OneToken:
    """Takes one token, and compares in constant time."""

    def __init__(self, secret: SecretStr) -> None:
        self._secret = secret

    async def verify_token(self, token: str) -> AccessToken | None:
        wanted = self._secret.get_secret_value().encode()
        if not hmac.compare_digest(token.encode(errors="surrogateescape"), wanted):
            return None
        return AccessToken(token=token, client_id="agent", scopes=[])


def _is_loopback(host: str) -> bool:
    address = _address(host)
    return host == "localhost" if address is None else address.is_loopback


def _is_unspecified(host: str) -> bool:
    address = _address(host)
    return host == "" if address is None else address.is_unspecified


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host
