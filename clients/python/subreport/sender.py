"""Sends requests with a time limit, and retries failed ones."""

from __future__ import annotations

import http.client
import json
import random
import re
import secrets
import socket
import ssl
import time
import urllib.error
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping
from urllib.parse import urlsplit

from .bounds import (
    BYTES_MAX,
    DEPTH_MAX,
    PAGE_BYTES_MAX,
    VALUES_MAX,
    JsonBounds,
    shown,
    shown_in,
    spellings_of,
)
from .connections import Deadline, TimedRequest, create_opener, is_on_this_machine
from .errors import (
    ERROR_CODES,
    TOKEN_ERROR_CODES,
    ApiError,
    DeadlineError,
    ErrorContext,
    NetworkError,
    ResponseError,
    SubreportError,
    TokenRequestError,
    is_transient,
)

# A longer Retry-After is reported to the caller. The service's limits are per minute.
_WAIT_MS_MAX = 60_000
_FIRST_WAIT_MS = 250


class Clock:
    """The time in milliseconds, replaceable by tests."""

    def now(self) -> float:
        """A monotonic clock, which setting the system clock does not change."""
        return time.monotonic() * 1000

    def wall_time(self) -> float:
        """Milliseconds since 1970, by the system clock."""
        return time.time() * 1000

    def sleep(self, ms: float) -> None:
        """Waits."""
        time.sleep(ms / 1000)


@dataclass(frozen=True)
class RequestOptions:
    """How requests are sent; `create_client` describes the members."""

    timeout_ms: float = 30_000
    attempts: int = 3
    correlation_id: str | Callable[[], str] | None = None
    on_request: Callable[[dict[str, Any]], None] | None = None
    on_response: Callable[[dict[str, Any]], None] | None = None
    on_retry: Callable[[dict[str, Any]], None] | None = None
    user_agent: str = "subreport-python"
    allow_http: bool = False


@dataclass(frozen=True)
class SafeRequest:
    """An idempotent request, which may be retried. A body makes it a POST."""

    url: str
    # Reads a successful response.
    read: Callable[["Response"], Any]
    # Makes the error of any other response.
    read_rejection: Callable[["Response"], SubreportError]
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    # Secrets of the request, which no message may show.
    secrets: tuple[str | None, ...] = ()


class Response:
    """A response whose body is read under the time limit of its attempt."""

    def __init__(self, raw: Any, exchange: "Exchange", secrets: tuple[str | None, ...], sent_at: float) -> None:
        self.status: int = raw.status
        self.headers = raw.headers
        self.url = exchange.url
        self.context = exchange.context
        self.sent_at = sent_at
        self.is_kept = False
        # as a server may send them back
        self.secrets = spellings_of(secrets)
        self._raw = raw
        self._exchange = exchange

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        return origin_of(self.url)

    def read1(self, size: int = 65_536) -> bytes:
        """The bytes that have arrived, empty at the end. Raises if the body was cut off."""
        self._exchange.deadline.restart()
        return self._read1(size)

    def _read1(self, size: int = 65_536) -> bytes:
        with explained(self._exchange):
            part = self._raw.read1(size)
            # http.client does not raise if a body of known length ends early
            if not part and self._raw.length:
                raise http.client.IncompleteRead(b"", self._raw.length)
            return part

    def _read_text(self, max_bytes: int) -> bytearray:
        """The whole body, which will be parsed; raises ResponseError if it exceeds a bound."""
        text, bounds = bytearray(), JsonBounds()
        self._exchange.deadline.restart()
        while part := self._read1():
            text += part
            if len(text) > max_bytes:
                raise format_error(self, f"at most {max_bytes} bytes")
            if not bounds.allow(part):
                rule = f"JSON with at most {VALUES_MAX:,} values, at most {DEPTH_MAX} levels deep"
                raise format_error(self, rule)
        return text

    def read_json(self) -> Any:
        """The parsed body; raises ResponseError if it is not JSON."""
        body = parse_json(self._read_text(PAGE_BYTES_MAX))
        if body is None:
            raise format_error(self, "JSON")
        return body

    def read_short_json(self) -> dict[str, Any]:
        """The parsed JSON object; empty if the body is another one."""
        body = parse_json(self._read_text(BYTES_MAX))
        return body if isinstance(body, dict) else {}

    def close(self) -> None:
        """Closes the connection."""
        self._raw.close()


class Sender:
    """Sends requests."""

    def __init__(self, options: RequestOptions, clock: Clock) -> None:
        self._options = options
        self._clock = clock
        self._opener = create_opener()

    def correlation_id_of(self, given: str | None) -> str:
        """The correlation id of a call: its own, that of the client, or a random one."""
        ours = self._options.correlation_id
        return given or (ours() if callable(ours) else ours) or secrets.token_hex(16)

    def send(self, request: SafeRequest, correlation_id: str | None = None) -> Any:
        """Sends a request; raises a SubreportError."""
        options = self._options
        require_secure_url(request.url, options.allow_http)
        event: dict[str, Any] = {
            "method": "GET" if request.body is None else "POST",
            "url": request.url,
            "correlation_id": self.correlation_id_of(correlation_id),
            "attempt": 0,
        }
        while True:
            event["attempt"] += 1
            try:
                return self._attempt(request, event)
            except SubreportError as error:
                wait_ms = _retry_delay_ms(error, event["attempt"])
                if wait_ms is None or event["attempt"] >= options.attempts:
                    raise
                if options.on_retry is not None:
                    options.on_retry({**event, "error": error, "wait_ms": wait_ms})
                self._clock.sleep(wait_ms)

    def _attempt(self, request: SafeRequest, event: dict[str, Any]) -> Any:
        options, url = self._options, request.url
        context = ErrorContext(event["correlation_id"], event["attempt"])
        headers = {
            **request.headers,
            "User-Agent": options.user_agent,
            "X-Correlation-ID": context.correlation_id,
        }
        if options.on_request is not None:
            options.on_request(dict(event))
        sent_at = self._clock.now()
        deadline = Deadline(options.timeout_ms)
        sent = TimedRequest(url, request.body, headers, deadline)
        exchange = Exchange(sent, options.timeout_ms, context)
        with explained(exchange):
            raw = self._opener.open(sent, timeout=deadline.seconds_left())
        response = Response(raw, exchange, request.secrets, sent_at)
        try:
            if options.on_response is not None:
                duration_ms = self._clock.now() - sent_at
                more = {"status": raw.status, "headers": raw.headers, "duration_ms": duration_ms}
                options.on_response({**event, **more})
            if 200 <= response.status < 300:
                return request.read(response)
            if 300 <= response.status < 400:
                raise _redirect_error(response)
            raise request.read_rejection(response)
        finally:
            if not response.is_kept:
                response.close()


@dataclass(frozen=True)
class Exchange:
    """A request that was sent, and its time limit."""

    sent: TimedRequest
    timeout_ms: float
    context: ErrorContext

    @property
    def url(self) -> str:
        return self.sent.full_url

    @property
    def deadline(self) -> Deadline:
        return self.sent.deadline


class explained:
    """A block whose failures of the network become errors of the client."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, _type: Any, failure: Any, _trace: Any) -> None:
        reason = failure.reason if isinstance(failure, urllib.error.URLError) else failure
        if isinstance(reason, TimeoutError):
            raise _deadline_error(self._exchange) from failure
        if isinstance(reason, (OSError, http.client.HTTPException)):
            raise _network_error(self._exchange, reason) from failure


def _deadline_error(exchange: Exchange) -> DeadlineError:
    rule = f"it must respond within {exchange.timeout_ms:g} ms{_way_of(exchange)}"
    return DeadlineError("TIMEOUT", f"Cannot reach {origin_of(exchange.url)}: {rule}", exchange.context)


def _way_of(exchange: Exchange) -> str:
    proxy = exchange.sent.proxy
    return "" if proxy is None else f": through the proxy {proxy}"


def _network_error(exchange: Exchange, reason: Exception) -> NetworkError:
    code, what = "NETWORK_FAILED", "the network failed"
    if isinstance(reason, ConnectionRefusedError):
        code, what = "CONNECTION_REFUSED", "the connection was refused"
    elif isinstance(reason, socket.gaierror):
        code, what = "HOST_NOT_FOUND", "the host name was not found"
    elif isinstance(reason, ssl.SSLError):
        code, what = "CERTIFICATE_REJECTED", "its certificate was rejected"
    elif isinstance(reason, (http.client.HTTPException, OSError)) and not _is_unreachable(reason):
        code, what = "CONNECTION_LOST", "the connection was closed before the response was complete"
    if isinstance(reason, http.client.LineTooLong) or "headers" in str(reason):
        what = f"its headers must be shorter{_way_of(exchange)}"
        message = f"Cannot read the response of {origin_of(exchange.url)}: {what}"
        return NetworkError("HEADERS_OVERFLOW", message, exchange.context)
    rule = f"it must accept the request and respond: {what}{_way_of(exchange)}"
    return NetworkError(code, f"Cannot reach {origin_of(exchange.url)}: {rule}", exchange.context)


def _is_unreachable(reason: Exception) -> bool:
    lost = (http.client.HTTPException, ConnectionResetError, ConnectionAbortedError, BrokenPipeError)
    return not isinstance(reason, lost)


def _retry_delay_ms(error: SubreportError, attempt: int) -> float | None:
    """`Retry-After`, or exponential backoff with full jitter; None if a retry does not help."""
    if not is_transient(error):
        return None
    retry_after_ms = getattr(error, "retry_after_ms", None)
    if retry_after_ms is not None:
        return retry_after_ms if retry_after_ms <= _WAIT_MS_MAX else None
    return random.random() * min(_WAIT_MS_MAX, _FIRST_WAIT_MS * 2**attempt)


def read_problem(response: Response, hint: str = "") -> SubreportError:
    """The error of the API: a problem document (RFC 9457) of the error table."""
    problem = shown_in(response.read_short_json(), response.secrets)
    if str(problem.get("type")) not in ERROR_CODES:
        return _unknown_error(response, "a problem document (RFC 9457)", hint)
    correlation_id = problem.get("correlation_id", response.context.correlation_id)
    return ApiError(problem, response, ErrorContext(correlation_id, response.context.attempts), hint)


def read_token_error(response: Response) -> SubreportError:
    """The error of the token endpoint, without the secrets that were sent to it."""
    body = response.read_short_json()
    code = str(body.get("error"))
    if code not in TOKEN_ERROR_CODES:
        return _unknown_error(response, "an error of RFC 6749 section 5.2")
    text = shown(str(body.get("error_description", code)), response.secrets)
    return TokenRequestError(code, text, response, response.context)


def _unknown_error(response: Response, expected: str, hint: str = "") -> ResponseError:
    message = (
        f"Cannot read the response of {response.origin}: it must be {expected}: "
        f"its status was {response.status}{hint}"
    )
    return ResponseError("UNKNOWN_ERROR", message, response, response.context)


def _redirect_error(response: Response) -> ResponseError:
    # its query and its user may be secret
    location = re.sub(r"[?#].*|(?<=//)[^/?#]*@", "", response.headers.get("location", "unknown"))
    target = shown(location, response.secrets)
    message = (
        f"Cannot use {response.origin}: it must not redirect: "
        f"the redirect leads to '{target}'"
    )
    return ResponseError("REDIRECTED", message, response, response.context)


def format_error(response: Response, expected: str) -> ResponseError:
    """The error of a successful response whose body cannot be read."""
    message = f"Cannot read the response of {response.origin}: it must be {shown(expected, response.secrets)}"
    return ResponseError("UNKNOWN_FORMAT", message, response, response.context)


def parse_json(text: bytes | bytearray) -> Any:
    """The value, or None if the text is not JSON."""
    try:
        # by itself, it would detect UTF-16, whose bytes are not bounded
        return json.loads(text.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None


def origin_of(url: str) -> str:
    """Scheme, host and port."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def require_secure_url(text: str, allow_http: bool = False) -> None:
    """Raises ValueError unless a URL protects the secrets that are sent to it."""
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(
            "Cannot use a URL: it must be one such as https://reports.example.com: "
            f"current value is '{text}'"
        )
    is_safe = parts.scheme == "https" or allow_http or is_on_this_machine(text)
    if is_safe and "@" not in parts.netloc:
        return
    raise ValueError(
        "Cannot send secrets to a URL: it must be https without a user name, or http on this "
        "machine (allow_http permits http elsewhere): "
        f"current value is '{parts.scheme}://{parts.netloc.rpartition('@')[2]}'"
    )
