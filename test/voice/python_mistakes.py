"""Makes mistakes with the Python client: expressions of JSON on standard input, sentences out."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "clients/python"))

import subreport  # noqa: E402

given = json.load(sys.stdin)
credentials = {name: given[name] for name in ("client_id", "client_secret")}
client = subreport.create_client(given["url"], **credentials)
names = {"subreport": subreport, "client": client, "url": given["url"], **credentials}


def sentence(expression):
    try:
        eval(expression, dict(names))
    except Exception as error:  # every error is a sentence
        return f"{type(error).__name__}: {error}"
    return "no error"


json.dump([sentence(each) for each in given["given"]], sys.stdout)
