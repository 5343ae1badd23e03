"""A gateway to an S3 that accepts every signature. botocore computes the signature of each request
again; one that differs is answered with 403, as by S3, and is not sent on.

python3 verify_signatures.py HOST PORT ACCESS_KEY_ID SECRET_ACCESS_KEY REGION: prints its port, and a
line for each request.
"""

import hashlib
import http.client
import http.server
import re
import sys
from urllib.parse import urlsplit

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

host, port, access_key, secret, region = sys.argv[1:]
authorization_pattern = re.compile(
    rf"AWS4-HMAC-SHA256 Credential={access_key}/(\d{{8}})/{region}/s3/aws4_request, "
    r"SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})"
)
must_be_signed = {"host", "x-amz-content-sha256", "x-amz-date"}


def fault_of(method, path, headers, body):
    """Returns the code of S3's error, or None."""
    matched = authorization_pattern.fullmatch(headers.get("authorization", ""))
    if matched is None:
        return "AccessDenied"
    date, names, signature = matched.groups()
    signed = {name: headers[name] for name in names.split(";")}
    if not must_be_signed <= signed.keys() or not signed["x-amz-date"].startswith(date):
        return "AccessDenied"
    if signed["x-amz-content-sha256"] != hashlib.sha256(body).hexdigest():
        return "XAmzContentSHA256Mismatch"
    auth = S3SigV4Auth(Credentials(access_key, secret), "s3", region)
    request = AWSRequest(method, f"http://{headers['host']}{path}", headers=signed, data=body)
    request.context["timestamp"] = signed["x-amz-date"]
    string_to_sign = auth.string_to_sign(request, auth.canonical_request(request))
    return None if auth.signature(string_to_sign, request) == signature else "SignatureDoesNotMatch"


class Gateway(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_request(self):
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(int(headers.get("content-length", 0)))
        fault = fault_of(self.command, self.path, headers, body)
        print(fault or "valid", self.command, urlsplit(self.path).path, flush=True)
        if fault is not None:
            return self.respond(403, {}, f"<Error><Code>{fault}</Code></Error>".encode())
        upstream = http.client.HTTPConnection(host, int(port))
        upstream.request(self.command, self.path, body, headers)
        response = upstream.getresponse()
        content = response.read()
        upstream.close()
        kept = {name: value for name, value in response.getheaders() if name.lower() in ("etag", "content-type")}
        return self.respond(response.status, kept, content)

    def respond(self, status, headers, content):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("content-length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_request

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Gateway)
print(server.server_address[1], flush=True)
server.serve_forever()
