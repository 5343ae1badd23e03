"""Errors of the client. Each class has its own set of codes."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from email.message import Message
from email.utils import parsedate_to_datetime
from typing import Any


@dataclass(frozen=True)
class ErrorContext:
    """The request of an error."""

    correlation_id: str
    attempts: int


class SubreportError(Exception):
    """A failed request.

    `code` says why; `correlation_id` is the `X-Correlation-ID` of the request, to include in a
    report of a problem; `attempts` is the number of attempts that were made.
    """

    def __init__(self, code: str, message: str, context: ErrorContext) -> None:
        super().__init__(message)
        self.code = code
        self.correlation_id = context.correlation_id
        self.attempts = context.attempts


class RejectionError(SubreportError):
    """A response that is not successful, with its `status` and `headers`.

    `retry_after_ms` is how long to wait before the next attempt, if the response says it.
    """

    def __init__(self, code: str, message: str, response: Any, context: ErrorContext) -> None:
        super().__init__(code, message, context)
        self.status: int = response.status
        self.headers: Message = response.headers
        self.retry_after_ms = read_retry_after(response.headers)


class ApiError(RejectionError):
    """The service rejected a request (RFC 9457). `problem` is the complete response body."""

    def __init__(self, problem: dict[str, Any], response: Any, context: ErrorContext, hint: str = "") -> None:
        message = in_words(str(problem.get("detail", problem["type"]))) + hint
        super().__init__(problem["type"], message, response, context)
        self.problem = problem


def in_words(detail: str) -> str:
    """The sentences of a problem with the parameters that they name in quotes as keywords.

    Values that were sent, and suggestions of values, stay as they are.
    """
    return "; ".join(map(_sentence, re.split(r"; (?=Cannot )", detail)))


def _sentence(text: str) -> str:
    is_of_names = ": it must be a known name; " in text
    rule = text if is_of_names else re.split(r": current value is |; did you mean ", text)[0]
    words = re.sub(r"(?:parameter )?'([\w\[\]-]+)(?:=([\w-]+))?'", _keyword, rule)
    # the list of all names
    words = re.sub(r"(?<=it must be one of )id, [a-z, -]+", lambda list_: list_[0].replace("-", "_"), words)
    return words + text[len(rule) :]


def _keyword(match: re.Match[str]) -> str:
    name, value = match[1].replace("-", "_"), match[2]
    if name == "all":
        return "export()"
    name = {"from": "from_"}.get(name, name)
    return f"'{name}'" if value is None else f"{name}='{value}'"


class TokenRequestError(RejectionError):
    """The token endpoint rejected the credentials or the request (RFC 6749 section 5.2)."""


class ResponseError(RejectionError):
    """A response that is not from the service, such as the error page of a proxy.

    Its code is REDIRECTED, UNKNOWN_ERROR or UNKNOWN_FORMAT.
    """


class NetworkError(SubreportError):
    """The connection failed or was lost; `__cause__` is the error of Python.

    Its code is CONNECTION_REFUSED, CONNECTION_LOST, HOST_NOT_FOUND, CERTIFICATE_REJECTED,
    HEADERS_OVERFLOW or NETWORK_FAILED.
    """


class DeadlineError(SubreportError):
    """The service took longer than `timeout_ms`. Its code is TIMEOUT."""


class ExportError(SubreportError):
    """An export is incomplete or altered, or cannot be verified. Discard what was read.

    Its code is INCOMPLETE, UNVERIFIABLE, ROWS_DIFFER or HASH_DIFFERS.
    """


def is_transient(error: BaseException) -> bool:
    """Whether the same request may succeed later: lost connections, timeouts, 408, 429, 5xx."""
    if isinstance(error, (NetworkError, DeadlineError)):
        return True
    status = error.status if isinstance(error, RejectionError) else 0
    return status >= 500 or status in (408, 429)


def read_retry_after(headers: Message) -> float | None:
    """Parses `Retry-After` to milliseconds: seconds, or a date (RFC 9110 section 10.2.3)."""
    value = headers.get("retry-after", "")
    if value.isascii() and value.isdigit():
        return float(value) * 1000
    try:
        return max(0.0, (parsedate_to_datetime(value).timestamp() - time.time()) * 1000)
    except (TypeError, ValueError, OverflowError):
        return None


# Every `type` of a problem response, and every `error` of the token endpoint. A response with
# another one is not from this service.
ERROR_CODES = frozenset(
    """
    INVALID_HTTP_MESSAGE INVALID_REQUEST_PARAMS UNAUTHORISED SESSION_ENDED ACCESS_DENIED NOT_FOUND
    METHOD_NOT_ALLOWED UNACCEPTABLE REQUEST_TIMEOUT CONFLICT RESYNC_REQUIRED HISTORY_NOT_KEPT
    PAYLOAD_TOO_LARGE STORAGE_BUDGET_EXCEEDED URI_TOO_LONG UNSUPPORTED_MEDIA_TYPE TOO_MANY_REQUESTS
    HEADERS_TOO_LARGE INTERNAL_ERROR UNAVAILABLE
    """.split()
)
TOKEN_ERROR_CODES = frozenset(
    """
    invalid_request invalid_client invalid_grant unauthorized_client unsupported_grant_type
    invalid_scope unsupported_token_type slow_down server_error temporarily_unavailable
    """.split()
)
