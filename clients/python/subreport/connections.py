"""Connections whose responses have a deadline, and that use a proxy only to other machines."""

from __future__ import annotations

import functools
import http.client
import io
import re
import socket
import time
import urllib.request
from typing import Any
from urllib.parse import urlsplit


class Deadline:
    """When a part of an exchange must be over: its head, and then its body."""

    def __init__(self, timeout_ms: float) -> None:
        self._timeout_seconds = timeout_ms / 1000
        self.restart()

    def restart(self) -> None:
        """Another part of the exchange begins."""
        self._ends_at = time.monotonic() + self._timeout_seconds

    def seconds_left(self) -> float:
        """Raises TimeoutError if there are none."""
        left = self._ends_at - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left


class _TimedFile(io.RawIOBase):
    """The bytes of a socket: each read may only take what is left, however slowly bytes drip."""

    def __init__(self, raw: Any, sock: Any, deadline: Deadline) -> None:
        self._raw, self._sock, self._deadline = raw, sock, deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._sock.settimeout(self._deadline.seconds_left())
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _TimedResponse(http.client.HTTPResponse):
    def __init__(self, deadline: Deadline, sock: Any, *args: Any, **more: Any) -> None:
        super().__init__(sock, *args, **more)
        self.fp.close()
        raw = sock.makefile("rb", buffering=0)
        self.fp = io.BufferedReader(_TimedFile(raw, sock, deadline))


def _timed(kind: Any, deadline: Deadline, *args: Any, **more: Any) -> Any:
    connection = kind(*args, **more)
    connection.response_class = functools.partial(_TimedResponse, deadline)
    return connection


class TimedRequest(urllib.request.Request):
    """A request whose response has a deadline."""

    def __init__(self, url: str, body: bytes | None, headers: Any, deadline: Deadline) -> None:
        super().__init__(url, body, headers)
        self.deadline = deadline

    @property
    def proxy(self) -> str | None:
        """Host and port of the proxy, without its credentials."""
        direct = urlsplit(self.full_url).netloc
        return self.host.rpartition("@")[2] if self.host != direct else None


class _HttpHandler(urllib.request.HTTPHandler):
    def http_open(self, req: Any) -> Any:
        return self.do_open(functools.partial(_timed, http.client.HTTPConnection, req.deadline), req)


class _HttpsHandler(urllib.request.HTTPSHandler):
    def https_open(self, req: Any) -> Any:
        kind = functools.partial(_timed, http.client.HTTPSConnection, req.deadline)
        return self.do_open(kind, req, context=self._context)


class _ProxyHandler(urllib.request.ProxyHandler):
    def proxy_open(self, req: Any, proxy: str, type: str) -> Any:
        # a proxy elsewhere would receive the secrets, and could not reach this machine
        return None if is_on_this_machine(req.full_url) else super().proxy_open(req, proxy, type)


def create_opener() -> urllib.request.OpenerDirector:
    """An opener without redirects, cookies and passwords."""
    opener = urllib.request.OpenerDirector()
    for handler in (_ProxyHandler, _HttpHandler, _HttpsHandler):
        opener.add_handler(handler())
    return opener


def is_on_this_machine(url: str) -> bool:
    """Whether a URL leads to this machine."""
    return re.fullmatch(r"localhost|127\.\d+\.\d+\.\d+|::1", urlsplit(url).hostname or "") is not None
