"""The client: reads reports, renews access tokens and retries failed requests."""

from __future__ import annotations

import json
import re
import threading
from dataclasses import fields, replace
from datetime import datetime
from typing import Any, Callable, Iterable, Iterator, Literal
from urllib.parse import parse_qs, quote, urlsplit

from .bounds import shown
from .errors import ApiError, RejectionError, SubreportError, is_transient
from .export import EXPORT_SUMMARY, SubscriptionExport
from .query import body_of, is_for_body, is_long, not_found_in, query_string_of
from .records import ChangesPage, FollowPage, Record, SubscriptionPage, explanation_in, number_in, parse_subscription
from .sender import (
    Clock,
    RequestOptions,
    Response,
    SafeRequest,
    Sender,
    format_error,
    read_problem,
    require_secure_url,
)
from .tokens import AccessToken, TokenSettings, TokenSource, ValueStore

API_PATH = "/connect-api"
_LIST = "/v1/subscription"
_SEARCH = "/v1/subscription/search"
_SUMMARY = "/v1/subscription/summary"
_CHANGES = "/v1/subscription/changes"


def create_client(
    url: str | None = None,
    *,
    client_id: str | None,
    client_secret: str | None,
    base_url: str | None = None,
    token_url: str | None = None,
    revocation_url: str | None = None,
    issuer: str | None = None,
    scope: str | None = None,
    token_store: ValueStore | None = None,
    clock: Clock | None = None,
    **request_options: Any,
) -> "SubreportClient":
    """Creates a client. Nothing is sent before the first call.

    `url` is the URL of the service, which is also the issuer of its tokens unless `token_url` or
    `issuer` is given; or give `base_url`, which ends in `/connect-api`, with one of them.
    `token_store` shares tokens between processes or runs of a program.

    Request options: `timeout_ms` (for the headers of a response, and again for its body; 30,000),
    `attempts` (3), `correlation_id` (a string, or a function that returns one), `user_agent`,
    `allow_http` (permits http to other machines), and the hooks `on_request`, `on_response`,
    `on_retry`, which get a dict.

    Raises ValueError for a missing credential or a URL that would send secrets unencrypted.
    """
    if base_url is None:
        if not url:
            raise ValueError(
                "Cannot create a client: url must be given, such as https://reports.example.com: "
                "is it None?"
            )
        service = re.sub(r"^(https?://[^/]+.*?)/(connect-api|console|docs)([/?#].*)?$", r"\1", url)
        service = service.rstrip("/")
        base_url = service + API_PATH
        issuer = service if issuer is None and token_url is None else issuer
    elif not (token_url or issuer):
        raise ValueError(
            "Cannot create a client: token_url or issuer must be given with base_url, such as "
            "https://reports.example.com/oauth2/token: is it None?"
        )
    known = {each.name for each in fields(RequestOptions)}
    if unknown := sorted(set(request_options) - known):
        raise TypeError(
            f"Cannot create a client: unknown options: {', '.join(unknown)}; there are {', '.join(sorted(known))}"
        )
    options = RequestOptions(**request_options)
    for each in (base_url, issuer or token_url):
        require_secure_url(str(each), options.allow_http)
    clock = clock or Clock()
    settings = TokenSettings(
        client_id, client_secret, scope, token_url, revocation_url, issuer, token_store
    )
    sender = Sender(options, clock)
    tokens = TokenSource(settings, sender, clock)
    return SubreportClient(_Api(base_url.rstrip("/"), sender, tokens), tokens, clock)


class SubreportClient:
    """Reads reports. It may be shared by threads. Every failed request raises a SubreportError.

    Filters are keyword arguments with the names of the API's parameters, with `_` for `-`:
    `product_id`, `created_from`, `expires_within`. Dates may be datetimes with a time zone, or
    with `zone` strings without an offset. `status` and `by` may be lists, `auto_renew` may be a bool. None omits a parameter.
    """

    def __init__(self, api: "_Api", tokens: TokenSource, clock: Clock) -> None:
        self._api = api
        self._tokens = tokens
        self._clock = clock

    def subscriptions(
        self,
        *,
        parse: bool = False,
        correlation_id: str | None = None,
        **query: Any,
    ) -> "SubscriptionList":
        """Returns a report, whose pages are requested as they are read.

        `parse` converts dates and auto_renew of its records. A query with an `email`, or with a
        list of up to 1,000 values of `id`, `iccid` or `device_id`, is sent in a request body.
        """
        return SubscriptionList(self._api, query, is_for_body(query) or is_long(query), parse, correlation_id)

    def search(
        self,
        *,
        parse: bool = False,
        correlation_id: str | None = None,
        **query: Any,
    ) -> "SubscriptionList":
        """Returns the same report; the whole query is sent in request bodies, never in URLs."""
        return SubscriptionList(self._api, query, True, parse, correlation_id)

    def subscription(
        self,
        id: str,
        *,
        as_of: datetime | str | int | None = None,
        fields: str | Iterable[str] | None = None,
        zone: str | None = None,
        parse: bool = False,
        correlation_id: str | None = None,
    ) -> Record:
        """Returns one record; raises ApiError with the code NOT_FOUND if there is none."""
        query = {"as_of": as_of, "fields": fields, "zone": zone}
        record, _ = self._api.json(_path_of(id), query, correlation_id)
        return parse_subscription(record) if parse else record

    def history(self, id: str, *, correlation_id: str | None = None) -> dict[str, Any]:
        """Returns the kept versions of one record, newest first."""
        return self._api.json(f"{_path_of(id)}/history", {}, correlation_id)[0]

    def findings(self, *, correlation_id: str | None = None) -> dict[str, Any]:
        """Returns what is contradictory or missing in the records: exact counts, and examples."""
        return self._api.json(f"{_LIST}/findings", {}, correlation_id)[0]

    def export(
        self,
        *,
        format: Literal["csv", "ndjson", "parquet"],
        verify: bool = True,
        correlation_id: str | None = None,
        **query: Any,
    ) -> SubscriptionExport:
        """Returns the whole report from one snapshot, as a binary file object.

        Reading it to its end raises ExportError unless it is complete and unaltered: write it to a
        temporary file and rename it. Without `verify`, NDJSON ends with the summary line. With
        `dates="local"` and `zone`, CSV has local dates with their offsets.
        """
        wanted = {**query, "all": True, "format": format}
        headers = {"Prefer": EXPORT_SUMMARY} if verify else {}
        in_body = is_for_body(query)
        return self._api.send(
            _SEARCH if in_body else _LIST,
            {} if in_body else wanted,
            lambda response: SubscriptionExport(response, format if verify else None, query),
            correlation_id,
            body=wanted if in_body else None,
            headers=headers,
        )

    def summary(
        self,
        *,
        by: str | Iterable[str] | None = None,
        correlation_id: str | None = None,
        **filters: Any,
    ) -> dict[str, Any]:
        """Returns counts of records: `total`, and lists by the dimensions in `by`."""
        if is_for_body(filters):
            raise ValueError(
                "Cannot send an email address or ids in a URL: use search(…).total()"
            )
        by = by if by is None or isinstance(by, str) else list(by)
        return self._api.json(_SUMMARY, {**filters, "by": by}, correlation_id)[0]

    def changes(
        self,
        since: datetime | str | None = None,
        *,
        before: bool | None = None,
        kind: str | Iterable[str] | None = None,
        size: int | None = None,
        correlation_id: str | None = None,
        **filters: Any,
    ) -> Iterator[ChangesPage]:
        """Yields pages of changes after a change token or an instant, until the copy is up to date.

        `filters` are `order`, `field`, `from_`, `to`, `import_id`, `fields` and `zone`.

        Without a token, all changes from the beginning; with `now`, one empty page with the
        current token. Raises ApiError with the code RESYNC_REQUIRED if the token is no longer
        valid: then read everything again, without a token, into an empty copy.
        """
        kind = kind if kind is None or isinstance(kind, str) else list(kind)
        # `from` is a keyword
        filters = {name.rstrip("_"): value for name, value in filters.items()}
        query = {**filters, "before": before, "kind": kind, "size": size}
        while True:
            page = self._read_changes(since, query, correlation_id)
            yield page
            if not page.has_more:
                return
            since = page.next

    def changes_summary(
        self,
        since: datetime | str,
        *,
        until: datetime | str | int | None = None,
        zone: str | None = None,
        correlation_id: str | None = None,
    ) -> dict[str, Any]:
        """Returns exact counts of the changes after a change token or an instant."""
        query = {"since": since, "until": until, "zone": zone}
        return self._api.json(f"{_CHANGES}/summary", query, correlation_id)[0]

    def follow(
        self,
        on_page: Callable[[FollowPage], Any],
        *,
        stop: threading.Event | None = None,
        since: str | None = None,
        store: ValueStore | None = None,
        interval_ms: float = 60_000,
        on_error: Callable[[SubreportError], None] | None = None,
        correlation_id: str | None = None,
    ) -> None:
        """Calls `on_page` with each page of changes until the event `stop` is set.

        `store` keeps the change token, after `on_page` has returned. If the token is no longer
        valid, everything is read again; `reset` is True on the first page. After a lost
        connection, a timeout, 408, 429 or 5xx, calls `on_error` and continues.
        """
        stop = stop or threading.Event()
        token = (store.load() if store is not None else None) or since
        while not stop.is_set():
            try:
                page = self._read_changes(token, {}, correlation_id)
            except SubreportError as error:
                if isinstance(error, ApiError) and error.code == "RESYNC_REQUIRED" and token is not None:
                    token = None
                    continue
                if not is_transient(error):
                    raise
                if on_error is not None:
                    on_error(error)
                stop.wait(max(interval_ms, getattr(error, "retry_after_ms", None) or 0) / 1000)
                continue
            on_page(FollowPage(page.changes, page.next, page.has_more, page.revision, token is None))
            token = page.next
            if store is not None:
                store.save(token)
            if not page.has_more:
                stop.wait(interval_ms / 1000)

    def token(self) -> AccessToken:
        """Returns the current access token, renewed if necessary."""
        return self._tokens.token()

    def revoke(self, *, correlation_id: str | None = None) -> None:
        """Revokes the tokens of the client and removes them from the token store."""
        self._tokens.revoke(correlation_id)

    def _read_changes(
        self, since: Any, query: dict[str, Any], correlation_id: str | None
    ) -> ChangesPage:
        def read(size: int | None) -> Any:
            return self._api.json(_CHANGES, {**query, "since": since, "size": size}, correlation_id)

        size = query.get("size")
        body, response = self._api.widest(read) if size is None else read(size)
        revision = number_in(response.headers, "x-revision")
        return ChangesPage(body["changes"], body["next"], body["has_more"], revision)


class SubscriptionList:
    """A report. Each page is requested only when it is needed; iterating yields every record."""

    def __init__(
        self,
        api: "_Api",
        query: dict[str, Any],
        in_body: bool,
        parse: bool,
        correlation_id: str | None,
    ) -> None:
        self._api = api
        self._query = query
        self._in_body = in_body
        self._parse = parse
        self._correlation_id = correlation_id

    def __iter__(self) -> Iterator[Record]:
        for page in self.pages():
            yield from page.records

    def pages(self) -> Iterator[SubscriptionPage]:
        """Yields the pages, starting at the page of the query.

        Raises ValueError if a response does not say where the report continues, nor that it has
        all records.
        """
        return self._walk()

    def page(self, number: int | None = None) -> SubscriptionPage:
        """Returns the page with this number, by default the page of the query."""
        return self._request({} if number is None else {"page": number, "cursor": None})

    def to_list(self, *, max: int) -> list[Record]:
        """Returns all records; raises ValueError if there are more than `max`."""
        records: list[Record] = []
        for page in self._walk():
            count = max_of(page.total_count or 0, len(records) + len(page.records))
            if count > max:
                rule = f"it must have at most max = {max} records"
                raise ValueError(f"Cannot read the report into a list: {rule}: current value is {count}")
            records += page.records
        return records

    def first(self) -> Record | None:
        """Returns the first record, or None if there is none."""
        return next(iter(self._request(_START).records), None)

    def total(self) -> int:
        """Returns the number of records. Raises TypeError if another server of the API sends none."""
        total = self._request(_START).total_count
        if total is not None:
            return total
        raise TypeError("Cannot count: the response must have X-Total-Count")

    def _walk(self) -> Iterator[SubscriptionPage]:
        position = {name: self._query.get(name) for name in ("page", "cursor")}
        # a page number and a cursor are positions among pages of one size
        is_sized = any(self._query.get(name) is not None for name in ("size", "page", "cursor"))
        while True:
            page = (
                self._request(position)
                if is_sized
                else self._api.widest(lambda size: self._request({**position, "size": size}))
            )
            yield page
            following = _position_after(page, position)
            if following is None:
                return
            position = following

    def _request(self, position: dict[str, Any]) -> SubscriptionPage:
        wanted = {**self._query, **position}
        records, response = (
            self._api.json(_SEARCH, {}, self._correlation_id, body=wanted)
            if self._in_body
            else self._api.json(_LIST, wanted, self._correlation_id)
        )
        if not isinstance(records, list):
            raise format_error(response, "a JSON array of records")
        headers = response.headers
        return SubscriptionPage(
            records=[parse_subscription(each) for each in records] if self._parse else records,
            total_count=number_in(headers, "x-total-count"),
            total_pages=number_in(headers, "x-total-pages"),
            current_page=number_in(headers, "x-current-page"),
            next_cursor=_cursor_of(headers, "next"),
            previous_cursor=_cursor_of(headers, "previous"),
            headers=headers,
            correlation_id=response.context.correlation_id,
            explanation=explanation_in(headers),
            not_found=not_found_in(headers, wanted),
        )


max_of = max  # `to_list` has an argument of this name
_START = {"size": 1, "page": None, "cursor": None}


class _Api:
    """Requests of the API. All URLs begin with the base URL."""

    def __init__(self, base_url: str, sender: Sender, tokens: TokenSource) -> None:
        self._base_url = base_url
        self._sender = sender
        self._tokens = tokens
        self._size: int | None = 1_000

    def json(
        self, path: str, query: dict[str, Any], correlation_id: str | None, body: Any = None
    ) -> tuple[Any, Response]:
        """Sends a request; returns its parsed JSON body and the response."""
        return self.send(path, query, lambda it: (it.read_json(), it), correlation_id, body=body)

    def widest(self, run: Callable[[int | None], Any]) -> Any:
        """Runs a request for one of many pages, with the largest size that the service accepts.

        If it has a lower limit than 1,000, its first rejection names it.
        """
        try:
            return run(self._size)
        except ApiError as error:
            # another server may send anything
            errors = error.problem.get("errors")
            each = errors if isinstance(errors, list) else []
            faults = [fault for fault in each if isinstance(fault, dict) and fault.get("parameter") == "size"]
            if not faults:
                raise
            limit = re.search(r" to (\d+)", str(faults[0].get("rule")))
            self._size = int(limit[1]) if limit is not None else None
            return run(self._size)

    def send(
        self,
        path: str,
        query: dict[str, Any],
        read: Callable[[Response], Any],
        correlation_id: str | None,
        *,
        body: Any = None,
        headers: dict[str, str] | None = None,
    ) -> Any:
        """Sends a request; after a 401, whatever its body, once more with a new token."""
        correlation_id = self._sender.correlation_id_of(correlation_id)
        query_string = query_string_of(query)
        request = SafeRequest(
            self._base_url + path + (query_string and f"?{query_string}"),
            read,
            lambda response: read_problem(response, self._hint_on(response)),
            {**(headers or {}), **({} if body is None else {"Content-Type": "application/json"})},
            None if body is None else json.dumps(body_of(body)).encode(),
        )
        access_token = self._tokens.token().access_token
        try:
            return self._send_with(access_token, request, correlation_id)
        except RejectionError as error:
            if error.status != 401:
                raise
        self._tokens.invalidate(access_token)
        return self._send_with(self._tokens.token().access_token, request, correlation_id)

    def _send_with(self, access_token: str, request: SafeRequest, correlation_id: str) -> Any:
        headers = {**request.headers, "Authorization": f"Bearer {access_token}"}
        sent = replace(request, headers=headers, secrets=(access_token,))
        return self._sender.send(sent, correlation_id)

    def _hint_on(self, response: Response) -> str:
        """A base URL without the path of the API leads to 404."""
        if response.status != 404 or self._base_url.endswith(API_PATH):
            return ""
        return f": is the base URL '{self._base_url}{API_PATH}'?"


def _path_of(id: str) -> str:
    """Raises ValueError for an id whose path would be that of another operation."""
    if re.fullmatch(r"changes|findings|search|summary|\.{0,2}", id):
        raise ValueError(f"Cannot get a subscription: id must be that of a record: current value is '{id}'")
    return f"{_LIST}/{quote(id, safe='')}"


def _cursor_of(headers: Any, direction: str) -> str | None:
    """The cursor of a search, or of a link of a report.

    The client never requests a link itself, because it could lead to another origin.
    """
    cursor = headers.get(f"x-{direction}-cursor")
    link = headers.get(f"x-{direction}-page")
    if cursor is not None or link is None:
        return cursor
    return parse_qs(urlsplit(link).query).get("cursor", [None])[0]


def _position_after(page: SubscriptionPage, here: dict[str, Any]) -> dict[str, Any] | None:
    """The following page: a cursor, or a page number of another server of the API."""
    link = page.next_cursor or page.headers.get("x-next-page")
    if link is None:
        # a first page without a link is the whole report only if it has all records
        is_whole = page.total_count is not None and len(page.records) >= page.total_count
        if is_whole or not page.records or here["page"] or here["cursor"]:
            return None
    number = re.search(r"[?&]page=(\d+)", link or "")
    following = {"page": None if page.next_cursor or number is None else int(number[1]), "cursor": page.next_cursor}
    # an empty page, and one that leads to itself, would have no end
    if not page.records or following in ({"page": None, "cursor": None}, here):
        raise ValueError(
            "Cannot continue the report: the response must have X-Next-Page with a new cursor or page, and records: "
            f"current value is '{'null' if link is None else shown(link)}'"
        )
    return following
