"""Records, pages and changes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from email.message import Message
from typing import Any, Iterator
from urllib.parse import unquote

Record = dict[str, Any]

_MALFORMED = re.compile(r"%(?![0-9A-Fa-f]{2})")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def parse_subscription(record: Record) -> Record:
    """Returns a copy whose dates are datetimes, and whose auto_renew is a bool, if it has them."""
    dates = record.keys() & {"activationDate", "expirationDate", "createdDate"}
    parsed = {name: datetime.fromisoformat(record[name].replace("Z", "+00:00")) for name in dates}
    if "auto_renew" in record:
        parsed["auto_renew"] = record["auto_renew"].lower() == "true"
    return {**record, **parsed}


def number_in(headers: Message, name: str) -> int | None:
    """The whole number that a header has; None if it is absent, or has something else.

    The revision of a report has sixteen digits after a restore.
    """
    text = headers.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 16 else None


def explanation_in(headers: Message) -> str | None:
    """The header X-Explanation as it was before it was percent-encoded."""
    encoded = headers.get("x-explanation", "%")
    try:
        # of any server: no control characters for a terminal
        return None if _MALFORMED.search(encoded) else _CONTROL.sub(" ", unquote(encoded, errors="strict"))
    except UnicodeDecodeError:
        return None  # of another server


def is_removed(change: Record) -> bool:
    """Whether a change is the tombstone of a removed record: `{"id": …, "removed": True}`."""
    return "removed" in change


@dataclass(frozen=True)
class SubscriptionPage:
    """One page of a report with its totals, all from one snapshot."""

    records: list[Record]
    # Number of records of the whole report. This and the following numbers are None if another
    # server of the API does not send them.
    total_count: int | None
    total_pages: int | None
    current_page: int | None
    # `cursor` of the following page; None on the last page.
    next_cursor: str | None
    # `cursor` of the previous page; None on the first page.
    previous_cursor: str | None
    headers: Message
    correlation_id: str
    # Why no record matches: none has a status, product or plan of the filters.
    explanation: str | None = None
    # The values of the query's lists that no record has, whatever its other filters, by keyword.
    not_found: dict[str, list[str]] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)


@dataclass(frozen=True)
class ChangesPage:
    """A page of changes. Apply them in this order."""

    changes: list[Record]
    # The change token to continue from. Store it together with the applied changes.
    next: str
    # Whether more changes are available now. If False, the copy is up to date.
    has_more: bool
    # The revision of the report that the page is from; None if the service does not send it.
    revision: int | None


@dataclass(frozen=True)
class FollowPage(ChangesPage):
    """A page of changes to apply to a copy.

    `reset` says whether the copy must be emptied before: this is the first page of a full read.
    """

    reset: bool
