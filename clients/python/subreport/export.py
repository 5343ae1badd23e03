"""Exports: the whole report as a stream of bytes that is verified at its end."""

from __future__ import annotations

import hashlib
import io
import re
from typing import Any, Mapping

from .errors import ErrorContext, ExportError
from .query import not_found_in
from .records import explanation_in, number_in
from .sender import Response

# The preference of a client that reads no trailers: the last line is the summary, in CSV too.
EXPORT_SUMMARY = "export-summary"

# Longer than the summary line, so that it is never passed on.
_HELD_BYTES = 256
# Longest line: no record comes near.
_LINE_BYTES_MAX = 2**20
# Most bytes of a record in a Parquet file.
_RECORD_BYTES_MAX = 4_096

_SUMMARY_LINE = re.compile(rb'\{"summary":\{"rows":(\d{1,15}),"sha256":"([0-9a-f]{64})"\}\}\r?\n')


class SubscriptionExport(io.BufferedReader):
    """The bytes of a report: a binary file object, to read in parts or line by line.

    Reading it to its end raises ExportError unless it is complete and unaltered. `total_count` is
    the number of records, from the same snapshot; None if a proxy removed it. `explanation` says
    why there are none, if none has a status, product or plan of the filters. `not_found` has the
    values of the query's lists that no record has.
    """

    def __init__(
        self, response: Response, verified: str | None, query: Mapping[str, Any]
    ) -> None:
        if verified is not None and response.headers.get("preference-applied") != EXPORT_SUMMARY:
            raise ExportError(
                "UNVERIFIABLE",
                "Cannot verify the export: it must have the header "
                f"Preference-Applied: {EXPORT_SUMMARY}",
                response.context,
            )
        self.total_count = number_in(response.headers, "x-total-count")
        self.explanation = explanation_in(response.headers)
        self.not_found = not_found_in(response.headers, query)
        self.headers = response.headers
        self.correlation_id = response.context.correlation_id
        check = None if verified is None else _ExportCheck(verified, self.total_count, response.context)
        super().__init__(_Body(response, check), 65_536)
        response.is_kept = True


class _Body(io.RawIOBase):
    """The body of a response, without its summary."""

    def __init__(self, response: Response, check: "_ExportCheck | None") -> None:
        self._response = response
        self._check = check
        self._ready = memoryview(b"")
        self._is_at_end = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready and not self._is_at_end:
            self._ready = memoryview(self._next())
        count = min(len(buffer), len(self._ready))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def _next(self) -> bytes:
        part = self._response.read1()
        self._is_at_end = not part
        if self._check is None:
            return part
        return self._check.next(part) if part else self._check.end()

    def close(self) -> None:
        self._response.close()
        super().close()


class _ExportCheck:
    """Passes the records on and removes the summary; compares rows and SHA-256 at the end."""

    def __init__(self, file_format: str, rows: int | None, context: ErrorContext) -> None:
        self._is_parquet = file_format == "parquet"
        self._announced = float("inf") if rows is None else rows
        self._bytes_max = _LINE_BYTES_MAX + (self._announced * _RECORD_BYTES_MAX if self._is_parquet else 0)
        self._context = context
        self._hash = hashlib.sha256()
        self._held = b""
        self._lines = -1 if file_format == "csv" else 0  # its header
        # of the line, or of the whole Parquet file, which has no lines
        self._line_bytes = 0

    def next(self, part: bytes) -> bytes:
        """Returns the bytes that may be passed on after a part of the body has arrived."""
        held = self._held + part
        end = max(0, len(held) - _HELD_BYTES)
        self._held = held[end:]
        return self._accept(held[:end])

    def end(self) -> bytes:
        """Returns the last bytes of the records."""
        start = max(self._held.rfind(b'{"summary":'), 0)
        summary = _SUMMARY_LINE.fullmatch(self._held[start:])
        if summary is None:
            raise self._error("INCOMPLETE", "end with its summary", "there is none")
        last = self._accept(self._held[:start])
        told = int(summary[1])
        announced = told if self._announced == float("inf") else self._announced
        rows = announced if self._is_parquet else self._lines
        if rows != told:
            raise self._error("ROWS_DIFFER", f"have {told} records", f"it has {rows}")
        sha256, expected = self._hash.hexdigest(), summary[2].decode()
        if sha256 != expected:
            raise self._error("HASH_DIFFERS", f"have the SHA-256 {expected}", f"it is {sha256}")
        return last

    def _accept(self, part: bytes) -> bytes:
        self._hash.update(part)
        # no field has a line break, so each line is a record, in CSV too
        lines = 0 if self._is_parquet else part.count(b"\n")
        self._lines += lines
        after_last = len(part) - (part.rfind(b"\n") + 1)
        self._line_bytes = after_last if lines else self._line_bytes + len(part)
        # without these, an export that never ends would be read for ever
        if self._lines > self._announced:
            raise self._error("ROWS_DIFFER", "have as many records as announced", "it has more")
        if self._line_bytes > self._bytes_max:
            raise self._error("INCOMPLETE", "end", "it goes on")
        return part

    def _error(self, code: str, rule: str, found: str) -> ExportError:
        return ExportError(code, f"Cannot use the export: it must {rule}: {found}", self._context)
