"""Reads a report for the tests, from a server that is hostile: JSON on standard input and output.

Output: the error, and by how many bytes the largest size of the process grew.
"""

import builtins
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "clients/python"))

import subreport  # noqa: E402


def peak_bytes():
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024


def main():
    options = json.load(sys.stdin)
    before = peak_bytes()
    error, message = None, ""
    try:
        for _record in subreport.create_client(**options).subscriptions():
            pass
    except Exception as raised:
        error, message = raised, str(raised)
    outcome = {
        "name": type(error).__name__,
        "code": getattr(error, "code", None),
        "message": message,
        "problem": getattr(error, "problem", None),
        "grown": peak_bytes() - before,
        "shadowed": [name for name in subreport.__all__ if hasattr(builtins, name)],
    }
    json.dump(outcome, sys.stdout)


main()
