"""Queries: keyword arguments as parameters of the API."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from email.message import Message
from typing import Any, Mapping
from urllib.parse import parse_qsl, urlencode


def body_of(query: Mapping[str, Any]) -> dict[str, Any]:
    """The query as members of a JSON body: `product_id` becomes `product-id`; no None.

    Raises ValueError for a value that the service could only ignore, because an ignored filter
    returns more records than requested.
    """
    return {
        name.replace("_", "-"): _member_of(name, value)
        for name, value in query.items()
        if value is not None
    }


def query_string_of(query: Mapping[str, Any]) -> str:
    """The same as a query string: lists are separated by commas."""
    return urlencode({name: _text_of(value) for name, value in body_of(query).items()})


_LISTS = ("id", "iccid", "device-id")


def is_for_body(query: Mapping[str, Any]) -> bool:
    """Whether a query is sent in a body: with an email address or a list of ids."""
    body = body_of(query)
    return "email" in body or any(isinstance(body.get(name), list) for name in _LISTS)


def is_long(query: Mapping[str, Any]) -> bool:
    """Whether a query is too long for a URL, as the links to other pages, in headers, have it twice."""
    return len(query_string_of(query)) > 300


def not_found_in(headers: Message, query: Mapping[str, Any]) -> dict[str, list[str]]:
    """The listed values at the positions of X-Not-Found, by keyword.

    They are ranges such as `iccid=2,5-7`, or the bits of a number such as `iccid=0xe4`.
    """
    body = body_of(query)
    found: dict[str, list[str]] = {}
    for name, text in parse_qsl(headers.get("x-not-found", ""), keep_blank_values=True):
        values = body.get(name)
        if name not in _LISTS or not isinstance(values, list):
            continue  # of another server
        if re.fullmatch("0x[0-9a-f]{1,250}", text):
            bits = int(text, 16)
            found[name.replace("-", "_")] = [value for at, value in enumerate(values) if bits >> at & 1]
            continue
        ranges = re.findall(r"(\d{1,9})(?:-(\d{1,9}))?", text)
        found[name.replace("-", "_")] = [
            value for first, last in ranges for value in values[int(first) : int(last or first) + 1]
        ]
    return found


def _member_of(name: str, value: Any) -> Any:
    if isinstance(value, (tuple, set, frozenset)):
        value = list(value)
    rule = None
    if value in ("", []):
        rule = "a value, or None to omit it"
    elif isinstance(value, datetime) and value.tzinfo is None:
        rule = "a datetime with a time zone"
    if rule is not None:
        raise ValueError(f"Cannot use '{name}': it must be {rule}: current value is {value!r}")
    return instant_of(value) if isinstance(value, datetime) else value


def instant_of(value: datetime) -> str:
    """A datetime as the service reads it."""
    return value.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _text_of(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
