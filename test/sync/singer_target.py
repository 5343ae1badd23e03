"""A Singer target: keeps the records of a stream in a SQLite file, and prints each state it has stored.

python3 singer_target.py copy.db < messages

Lines of its own stand between the messages of two runs, so that a process reads many runs: END and
LOSE end a run, and the records after the last state are kept or lost; EMPTY removes all records;
PRINT prints them. Each is answered by the line DONE.
"""

import json
import sqlite3
import sys

database = sqlite3.connect(sys.argv[1])
database.execute("create table if not exists record (id text primary key, version integer, deleted integer, json text)")
schema = None


def command(name):
    if name == "END":
        database.commit()
    elif name == "LOSE":
        database.rollback()
    elif name == "EMPTY":
        database.execute("delete from record")
        database.commit()
    elif name == "PRINT":
        for (text,) in database.execute("select json from record where not deleted"):
            print(text)
    else:
        raise ValueError(f"unknown command {name}")
    print("DONE", flush=True)


for line in sys.stdin:
    if not line.startswith("{"):
        command(line.strip())
        continue
    message = json.loads(line)
    kind = message["type"]
    if kind == "SCHEMA":
        schema = message["schema"]["properties"]
        assert message["key_properties"] == ["id"] and message["stream"] == "subscriptions"
    elif kind == "RECORD":
        record = message["record"]
        assert record.keys() <= schema.keys(), f"unknown fields: {record.keys() - schema.keys()}"
        for name, value in record.items():
            assert value is not None or "null" in schema[name]["type"], f"{name} is null"
        deleted_at = record.pop("_sdc_deleted_at")
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        row = (record["id"], message.get("version"), deleted_at is not None, text)
        database.execute("insert or replace into record values (?, ?, ?, ?)", row)
    elif kind == "ACTIVATE_VERSION":
        database.execute("delete from record where version is not ?", (message["version"],))
    elif kind == "STATE":
        database.commit()  # all records before it
        print(json.dumps(message["value"]), flush=True)
    else:
        raise ValueError(f"unknown message {kind}")
database.commit()
