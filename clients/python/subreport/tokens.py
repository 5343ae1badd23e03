"""Access tokens: requested once for all threads, renewed before they expire."""

from __future__ import annotations

import random
import re
import threading
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timezone
from typing import Any, Protocol
from urllib.parse import urlencode, urljoin, urlsplit

from .connections import is_on_this_machine
from .errors import RejectionError, SubreportError, TokenRequestError
from .sender import (
    Clock,
    Response,
    SafeRequest,
    Sender,
    format_error,
    read_problem,
    read_token_error,
)


class ValueStore(Protocol):
    """Stores one value, for example in a file: a change token, a position, or tokens."""

    def load(self) -> Any:
        """Returns the stored value, or None."""

    def save(self, value: Any) -> None:
        """Stores a value; None removes it."""


@dataclass(frozen=True)
class AccessToken:
    """An access token. `expires_at` is by the system clock."""

    access_token: str
    expires_at: datetime
    scope: str | None


@dataclass(frozen=True)
class _Stored:
    """Tokens as a `token_store` keeps them, as a dict; times in milliseconds since 1970."""

    key: str
    access_token: str
    scope: str | None
    refresh_token: str | None
    lifetime_ms: float
    expires_at: float
    refresh_expires_at: float | None


@dataclass(frozen=True)
class _Held:
    """Tokens with their times on the monotonic clock."""

    stored: _Stored
    renew_at: float
    expires_at: float
    refresh_expires_at: float


@dataclass(frozen=True)
class TokenSettings:
    """Credentials, and the token endpoint or the issuer whose metadata names it."""

    client_id: str | None
    client_secret: str | None
    scope: str | None = None
    token_url: str | None = None
    revocation_url: str | None = None
    issuer: str | None = None
    token_store: ValueStore | None = None


# A share of the lifetime, so that short-lived tokens are not renewed immediately.
_EARLY_SHARE = 0.2
_EARLY_MS_MAX = 60_000
# The lifetime if the token endpoint does not state one, as RFC 6749 section 5.1 permits.
_LIFETIME_MS_DEFAULT = 60_000
# Delays after rejected credentials and after a failed early renewal.
_PAUSE_MS_REJECTED = 60_000
_PAUSE_MS_FAILED = 5_000


# The longest lifetime that is believed: a century, of which a datetime has many.
_LIFETIME_MS_MAX = 3_155_760_000_000


def _ms_of(seconds: Any, default: float) -> float:
    """A number of seconds, which another server may send as a string or as null."""
    try:
        return min(max(float(seconds), 0) * 1000, _LIFETIME_MS_MAX)
    except (TypeError, ValueError, OverflowError):
        return default


class TokenSource:
    """Provides a valid access token.

    Concurrent threads share one token request. Before the token expires, it is renewed in the
    background while the old one is still used. If the refresh token is no longer valid, the
    credentials are used. After the token endpoint has rejected the credentials, no token is
    requested for a minute.
    """

    def __init__(self, settings: TokenSettings, sender: Sender, clock: Clock) -> None:
        _require_credentials(settings)
        self._settings = settings
        self._sender = sender
        self._clock = clock
        endpoint = settings.issuer or settings.token_url
        self._key = f"{endpoint} {settings.client_id} {settings.scope or ''}"
        self._urls: tuple[str, str] | None = None
        self._held: _Held | None = None
        self._renewing = threading.Lock()
        self._rejection: SubreportError | None = None
        self._paused_until = float("-inf")

    def token(self) -> AccessToken:
        """Returns a valid access token; raises TokenRequestError or another SubreportError."""
        stored = self._valid().stored
        expires_at = datetime.fromtimestamp(stored.expires_at / 1000, timezone.utc)
        return AccessToken(stored.access_token, expires_at, stored.scope)

    def invalidate(self, access_token: str) -> None:
        """Discards an access token that the service rejected, unless it was already replaced."""
        held = self._held
        if held is not None and held.stored.access_token == access_token:
            self._held = replace(held, expires_at=float("-inf"))

    def revoke(self, correlation_id: str | None = None) -> None:
        """Revokes the tokens (RFC 7009), then removes them from the store."""
        with self._renewing:
            held = self._load() or self._held
            if held is None:
                return
            token = held.stored.refresh_token or held.stored.access_token
            revocation_url = self._endpoints()[1]
            self._post(revocation_url, {"token": token}, Response.read_short_json, correlation_id)
            self._held = None
            if self._settings.token_store is not None:
                self._settings.token_store.save(None)

    def _valid(self) -> _Held:
        held, now = self._held, self._clock.now()
        if held is None or now >= held.expires_at:
            with self._renewing:
                current = self._held  # another thread may have renewed it
                if current is not None and self._clock.now() < current.expires_at:
                    return current
                return self._renew()
        if now >= held.renew_at and now >= self._paused_until and self._renewing.acquire(blocking=False):
            # the lock is released by the thread
            threading.Thread(target=self._renew_early, args=(held,), daemon=True).start()
        return held

    def _renew_early(self, held: _Held) -> None:
        try:
            if self._held is held:
                self._renew()
        except Exception:
            # the current token is still valid; calls after its expiry report the error
            self._paused_until = max(self._paused_until, self._clock.now() + _PAUSE_MS_FAILED)
        finally:
            self._renewing.release()

    def _renew(self) -> _Held:
        """The following token, requested by the thread that has the lock."""
        if self._rejection is not None and self._clock.now() < self._paused_until:
            raise self._rejection
        self._rejection = None
        try:
            self._held = self._next_token()
            return self._held
        except TokenRequestError as error:
            if error.code in ("invalid_client", "unauthorized_client"):
                self._rejection = error
                self._paused_until = self._clock.now() + _PAUSE_MS_REJECTED
            raise

    def _next_token(self) -> _Held:
        """The token that another process has stored, or a new one."""
        shared = self._load()
        ours = self._held.stored.access_token if self._held is not None else None
        is_newer = shared is not None and shared.stored.access_token != ours
        if is_newer and self._clock.now() < shared.renew_at:
            return shared
        held = self._request(shared or self._held)
        if self._settings.token_store is not None:
            self._settings.token_store.save(asdict(held.stored))
        return held

    def _load(self) -> _Held | None:
        store = self._settings.token_store
        value = store.load() if store is not None else None
        if not value or value.get("key") != self._key:
            return None
        return _hold(_Stored(**value), self._clock.now(), self._clock.wall_time())

    def _request(self, held: _Held | None) -> _Held:
        refresh_token = held.stored.refresh_token if held is not None else None
        if refresh_token is not None and self._clock.now() < held.refresh_expires_at:
            try:
                grant = {"grant_type": "refresh_token", "refresh_token": refresh_token}
                return self._exchange(grant, held.stored)
            except RejectionError as error:
                # other servers reject a refresh token with bodies of their own
                if error.status not in (400, 401) or error.code == "invalid_client":
                    raise
        return self._exchange({"grant_type": "client_credentials"}, None)

    def _exchange(self, grant: dict[str, str], previous: _Stored | None) -> _Held:
        scope = self._settings.scope
        form = grant if scope is None else {**grant, "scope": scope}

        def read(response: Response) -> _Held:
            body = response.read_short_json()
            if not isinstance(body.get("access_token"), str):
                raise format_error(response, "a token response (RFC 6749 section 5.1)")
            return self._hold_response(body, previous, response.sent_at)

        return self._post(self._endpoints()[0], form, read)

    def _hold_response(self, body: dict[str, Any], previous: _Stored | None, sent_at: float) -> _Held:
        """Lifetimes start when the request was sent, before the token was issued.

        A response without a refresh token leaves the previous one valid (RFC 6749 section 6).
        """
        sent_wall = self._clock.wall_time() - (self._clock.now() - sent_at)
        lifetime_ms = _ms_of(body.get("expires_in"), _LIFETIME_MS_DEFAULT)
        refresh_token, refresh_ms = body.get("refresh_token"), _ms_of(body.get("refresh_expires_in"), 0)
        refresh_expires_at = sent_wall + refresh_ms if refresh_ms > 0 else None
        if refresh_token is None and previous is not None:
            refresh_token = previous.refresh_token
            refresh_expires_at = previous.refresh_expires_at or refresh_expires_at
        stored = _Stored(
            key=self._key,
            access_token=body["access_token"],
            scope=body.get("scope"),
            refresh_token=refresh_token,
            lifetime_ms=lifetime_ms,
            expires_at=sent_wall + lifetime_ms,
            refresh_expires_at=refresh_expires_at,
        )
        return _hold(stored, sent_at, sent_wall)

    def _endpoints(self) -> tuple[str, str]:
        """The token and the revocation endpoint, found once."""
        if self._urls is None:
            settings = self._settings
            self._urls = (
                self._discover(settings.issuer)
                if settings.token_url is None
                else _urls_of(settings.token_url, settings.revocation_url)
            )
        return self._urls

    def _discover(self, issuer: str) -> tuple[str, str]:
        """RFC 8414 section 3.1 puts the path of the issuer last, OpenID Connect first."""
        parts = urlsplit(issuer)
        origin, path = f"{parts.scheme}://{parts.netloc}", parts.path.removesuffix("/")
        try:
            return self._read_metadata(issuer, f"{origin}/.well-known/oauth-authorization-server{path}")
        except RejectionError:
            return self._read_metadata(issuer, f"{origin}{path}/.well-known/openid-configuration")

    def _read_metadata(self, issuer: str, url: str) -> tuple[str, str]:
        def read(response: Response) -> tuple[str, str]:
            metadata = response.read_short_json()
            token_url = metadata.get("token_endpoint")
            # RFC 8414 section 3.3: otherwise another issuer could receive the secret
            if metadata.get("issuer") != issuer or not isinstance(token_url, str):
                found = metadata.get("issuer", "none")
                other = "" if found == issuer else f": its issuer is '{found}'"
                raise format_error(response, f"the metadata of issuer '{issuer}' with its token_endpoint{other}")
            urls = _urls_of(token_url, metadata.get("revocation_endpoint"))
            # a service on this machine could receive the secret without TLS
            if not is_on_this_machine(issuer) and any(map(is_on_this_machine, urls)):
                expected = f"the metadata of issuer '{issuer}' with endpoints of other machines"
                raise format_error(response, expected)
            return urls

        hint = f": is '{issuer}' the URL of the service, or the issuer of its tokens?"
        return self._sender.send(SafeRequest(url, read, lambda response: read_problem(response, hint)))

    def _post(self, url: str, form: dict[str, str], read: Any, correlation_id: str | None = None) -> Any:
        settings = self._settings
        body = {**form, "client_id": settings.client_id, "client_secret": settings.client_secret}
        held = self._held.stored.access_token if self._held is not None else None
        secrets = (settings.client_secret, form.get("refresh_token"), form.get("token"), held)
        request = SafeRequest(
            url,
            read,
            read_token_error,
            {"Content-Type": "application/x-www-form-urlencoded"},
            urlencode(body).encode(),
            secrets,
        )
        return self._sender.send(request, correlation_id)


def _require_credentials(settings: TokenSettings) -> None:
    """Raises ValueError with every credential that is missing, such as an unset variable."""
    variables = {"client_id": "CLIENT_ID", "client_secret": "CLIENT_SECRET"}
    missing = [name for name in variables if not getattr(settings, name)]
    faults = [f"{name} must be given: is {variables[name]} set?" for name in missing]
    # a secret of a file often ends with one, which the token endpoint would call wrong
    broken = [name for name in variables if re.search(r"[\r\n]", getattr(settings, name) or "")]
    faults += [f"{name} must have no line break, such as that at the end of a file" for name in broken]
    if faults:
        raise ValueError(f"Cannot request tokens: {'; '.join(faults)}")


def _urls_of(token_url: str, revocation_url: str | None) -> tuple[str, str]:
    """In our service and Keycloak, the revocation endpoint differs only in the last segment."""
    return token_url, revocation_url or urljoin(token_url, "revoke")


def _hold(stored: _Stored, now: float, wall_time: float) -> _Held:
    """The system clock may have been set back: never valid for longer than the lifetime."""
    expires_at = now + min(stored.expires_at - wall_time, stored.lifetime_ms)
    # spreads clients that started at the same time
    early = min(stored.lifetime_ms * _EARLY_SHARE, _EARLY_MS_MAX) * (0.9 + random.random() * 0.2)
    refresh_expires_at = (
        float("inf") if stored.refresh_expires_at is None else now + stored.refresh_expires_at - wall_time
    )
    return _Held(stored, expires_at - early, expires_at, refresh_expires_at)
