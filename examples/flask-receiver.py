"""Receives the events of `subreport sync --to webhook:URL`, and prints what to do.

  python3 flask-receiver.py SECRET_FILE

SECRET_FILE has the signing secret; during a rotation, the old and the new one, a line each.
Settings: PORT (3000). Needs: pip install flask
"""

import base64
import hmac
import os
import re
import sys
import time

from flask import Flask, request
from werkzeug.serving import make_server

if len(sys.argv) != 2:
    sys.exit("Usage: python3 flask-receiver.py SECRET_FILE")
with open(sys.argv[1], encoding="ascii") as file:
    keys = [base64.b64decode(line.strip().removeprefix("whsec_")) for line in file if line.strip()]

app = Flask(__name__)
body_bytes_max = 64 * 1024
seen: set[str] = set()  # in a program that restarts: a table with a unique id


def is_signed(body: bytes) -> bool:
    """Whether one of the keys signed the body within five minutes (Standard Webhooks 1.0)."""
    event_id, sent = request.headers.get("webhook-id", ""), request.headers.get("webhook-timestamp", "")
    if not re.fullmatch(r"[0-9]{1,12}", sent) or abs(time.time() - int(sent)) > 300:
        return False
    signed = f"{event_id}.{sent}.".encode() + body
    expected = [b"v1," + base64.b64encode(hmac.digest(key, signed, "sha256")) for key in keys]
    given = request.headers.get("webhook-signature", "").encode().split()
    return any(hmac.compare_digest(one, other) for one in expected for other in given)


@app.post("/hooks/subreport")
def receive():
    # a chunked body, whose length no header says, is refused too
    if request.content_length is None or request.content_length > body_bytes_max:
        return "", 413
    # the signature is of the bytes of the body, so read them before request.json
    if not is_signed(request.get_data()):
        return "", 400  # the sender tries again later
    event = request.get_json(force=True)
    if event["id"] not in seen:  # an event may come twice
        print(describe(event), flush=True)  # if it fails, the status is 500, and the sender tries again
        if len(seen) == 10_000:
            seen.clear()
        seen.add(event["id"])
    return "", 204


def describe(event: dict) -> str:
    data = event["data"]
    if event["type"] == "subscription.expiring":
        return f"{data['id']} ends at {data['expirationDate']}"
    return "read everything again" if data.get("reset") else f"read the changes since {data['since']}"


# behind a proxy, use a server for production, such as gunicorn
server = make_server("127.0.0.1", int(os.environ.get("PORT", "3000")), app, threaded=True)
print(f"listening on http://127.0.0.1:{server.server_port}/hooks/subreport", flush=True)
server.serve_forever()
