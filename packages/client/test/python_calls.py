"""Runs calls of the Python client for the tests: JSON on standard input and output.

Input: {"options": {…}, "threads": 1, "calls": [{"method", "query", "options", "read"}]}.
Output: a list of results, as the test compares them with those of the TypeScript client.
"""

import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import is_dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).parents[3] / "clients/python"))

import subreport  # noqa: E402


def plain(value):
    """A result as JSON: pages without their headers, datetimes as the service writes them."""
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%S.000Z")
    if isinstance(value, subreport.SubscriptionExport):
        text = value.read().decode("latin1")
        return {
            "total_count": value.total_count,
            "explanation": value.explanation,
            "not_found": value.not_found,
            "text": text,
        }
    if is_dataclass(value):
        members = {name: getattr(value, name) for name in value.__dataclass_fields__}
        members.pop("headers", None)
        return plain(members)
    if isinstance(value, dict):
        return {name: plain(member) for name, member in value.items()}
    if hasattr(value, "__iter__") and not isinstance(value, str):
        return [plain(member) for member in value]
    return value


# the names of the TypeScript client, which Python has for errors of its own
NAMES = {"NetworkError": "ConnectionError", "DeadlineError": "TimeoutError"}


def failure(error):
    if not isinstance(error, subreport.SubreportError):
        return {"name": type(error).__name__, "message": str(error)}
    members = ("code", "attempts", "status", "retry_after_ms", "problem")
    given = {name: getattr(error, name) for name in members if getattr(error, name, None) is not None}
    name = NAMES.get(type(error).__name__, type(error).__name__)
    return {"name": name, "message": str(error), **given}


def run(client, call):
    try:
        arguments = {**call.get("query", {}), **call.get("options", {})}
        result = getattr(client, call["method"])(*call.get("positional", []), **arguments)
        if "read" in call:
            method, arguments = call["read"]
            result = getattr(result, method)(**arguments)
        return {"result": plain(result)}
    except Exception as error:  # every error is a result
        return {"error": failure(error)}


class ManualClock(subreport.sender.Clock):
    """A clock that only moves when a test moves it, or when something sleeps."""

    time = 1_000

    def now(self):
        return self.time

    def sleep(self, ms):
        self.time += ms

    def advance(self, ms):
        self.time += ms


def follow_to_end(client, **options):
    """Follows until the copy is up to date."""
    stop, found = threading.Event(), {"errors": [], "pages": [], "saved": []}
    store = SimpleNamespace(load=lambda: None, save=found["saved"].append)

    def on_page(page):
        found["pages"].append(page)
        if not page.has_more:
            stop.set()

    def on_error(error):
        found["errors"].append(error.code)

    client.follow(on_page, stop=stop, store=store, on_error=on_error, **options)
    return found


def main():
    given = json.load(sys.stdin)
    clock = ManualClock()
    try:
        client = subreport.create_client(clock=clock, **given["options"])
    except Exception as error:
        json.dump(failure(error), sys.stdout)
        return
    client.advance = clock.advance
    client.follow_to_end = partial(follow_to_end, client)
    with ThreadPoolExecutor(given.get("threads", 1)) as threads:
        results = list(threads.map(lambda call: run(client, call), given["calls"]))
    json.dump(results, sys.stdout)


main()
