"""Bounds of responses, and what of them a message may show."""

from __future__ import annotations

import re
import unicodedata
from base64 import b64encode
from typing import Any, Iterable
from urllib.parse import quote, quote_plus

# Most bytes of a page: 10,000 records, the largest that an operator can allow.
PAGE_BYTES_MAX = 32 * 2**20
# Most bytes of any other response.
BYTES_MAX = 2**20
# Deepest nesting and most values: values without content take 30 times the memory of their text.
DEPTH_MAX = 16
VALUES_MAX = 500_000

# A string, or all that follows the beginning of one that goes on in the next part.
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|(".*)', re.DOTALL)
_END_OF_STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_BRACKETS = re.compile(rb"[\[{]+|[\]}]+")


class JsonBounds:
    """Follows a JSON text in parts, before it is parsed, whether it is valid or not."""

    def __init__(self) -> None:
        self._depth, self._values = 0, 1
        self._is_in_string = self._is_escaped = False

    def allow(self, part: bytes) -> bool:
        """Whether the text stays within bounds up to the end of this part."""
        if self._is_escaped:
            # an empty part leaves it escaped
            part, self._is_escaped = part[1:], part == b""
            if self._is_escaped:
                return True
        if self._is_in_string:
            end = _END_OF_STRING.match(part)
            if end is None:
                return self._enter_string(part)
            part, self._is_in_string = part[end.end() :], False
        text = _STRING.sub(rb"\1", part)
        start = text.find(b'"')
        if start >= 0:
            self._enter_string(text[start + 1 :])
            text = text[:start]
        self._values += text.count(b",")
        for run in _BRACKETS.findall(text):
            is_opening = run[0] in b"[{"
            self._depth += len(run) if is_opening else -len(run)
            self._values += len(run) if is_opening else 0
            if self._depth > DEPTH_MAX:
                return False
        return self._values <= VALUES_MAX

    def _enter_string(self, rest: bytes) -> bool:
        """A string that goes on in the next part."""
        self._is_in_string = True
        self._is_escaped = (len(rest) - len(rest.rstrip(b"\\"))) % 2 == 1
        return True


def spellings_of(secrets: Iterable[str | None]) -> list[str]:
    """Secrets as a server may send them back, the longest first."""
    given = {secret for secret in secrets if secret}
    encoded = {b64encode(secret.encode()).decode().rstrip("=") for secret in given}
    quoted = {encode(secret) for secret in given for encode in (lambda it: quote(it, safe=""), quote_plus)}
    return sorted(given | encoded | quoted, key=len, reverse=True)


def shown(text: str, secrets: Iterable[str] = ()) -> str:
    """Text of a server for a message: without secrets, and without what a terminal interprets."""
    for secret in secrets:
        text = text.replace(secret, "***")
    if text.isprintable():
        return text
    return "".join("\ufffd" if _is_control(character) else character for character in text)


def _is_control(character: str) -> bool:
    # U+200D joins emoji
    return unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp") and character != "\u200d"


def shown_in(value: Any, secrets: list[str]) -> Any:
    """The same for all strings of a JSON value."""
    if isinstance(value, str):
        return shown(value, secrets)
    if isinstance(value, list):
        return [shown_in(each, secrets) for each in value]
    if isinstance(value, dict):
        return {shown(name, secrets): shown_in(each, secrets) for name, each in value.items()}
    return value
