"""Checks how the Python client follows JSON before it is parsed. Prints what does not hold."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "clients/python"))

from subreport.bounds import DEPTH_MAX, JsonBounds  # noqa: E402
from subreport.sender import parse_json  # noqa: E402


def is_within(*parts):
    bounds = JsonBounds()
    return all([bounds.allow(part) for part in parts])


deep = "[" * DEPTH_MAX
for text, expected in (
    (deep + '"\\\\\\"[[[","漢",{}', False),
    (deep + '"\\\\\\"[[[","漢",1', True),
    ('"\\\\",' + deep + '"]\\\\",[', False),
):
    whole = text.encode()
    for first in range(len(whole) + 1):
        for second in range(first, len(whole) + 1):
            parts = whole[:first], whole[first:second], whole[second:]
            if is_within(*parts) != expected:
                print("followed otherwise when it is cut:", *parts)

# each byte is read once: otherwise this takes hours
if not is_within(b'["' + b'\\"' * 2**20):
    print("a long string is out of bounds")

# the bounds are those of UTF-8
for text, value in (('["a"]'.encode("utf-16"), None), (b"\xef\xbb\xbf[1]", [1]), (b"[1", None)):
    if parse_json(text) != value:
        print("parsed as another value:", text)
