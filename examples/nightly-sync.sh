#!/bin/sh
# Keeps a CSV file of your subscriptions: reads only what changed since the last run.
#
#   nightly-sync.sh URL CREDENTIALS FOLDER
#
# URL          public URL of the service, such as https://reports.example.com
# CREDENTIALS  file with the client: {"client_id":"…","client_secret":"…"}
# FOLDER       holds copy.ndjson (the records and the change token) and subscriptions.csv
#
# Needs curl 7.61 and jq 1.6 or later. Each file is replaced as a whole when it is complete, so you
# can stop the script, repeat it, or run it twice at once.
set -eu
umask 077
url=${1%/} credentials=$2 folder=$3

mkdir -p "$folder"
work=$(mktemp -d "$folder/.sync-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

fail() {
  echo "nightly-sync: $1" >&2
  [ ! -s "$work/response" ] || { head -c 1000 "$work/response"; echo; } >&2
  exit 1
}

# Sends a request, retrying 429 and 503, and prints the status. The body goes to $work/response.
request() {
  rm -f "$work/response"
  curl --silent --show-error --retry 5 --max-time 120 --output "$work/response" \
    --write-out '%{http_code}' "$@"
}

# Writes a header with a new access token. Secrets go through files, as other users see arguments.
authorize() {
  jq -r '@uri "grant_type=client_credentials&client_id=\(.client_id)&client_secret=\(.client_secret)"' \
    "$credentials" > "$work/form"
  status=$(request --data "@$work/form" "$url/oauth2/token") || fail 'the service is not reachable'
  rm "$work/form"
  [ "$status" = 200 ] || fail "no access token, status $status"
  jq -r '"Authorization: Bearer " + .access_token' "$work/response" > "$work/authorization"
}

# The change token is on the last line of the copy and of each response. A file that was cut off has
# none.
next_of() { tail -n 1 "$1" | jq -er .next; }

cp "$folder/copy.ndjson" "$work/copy" 2> /dev/null || : > "$work/copy"
since=$(next_of "$work/copy" 2> /dev/null) || { since= && : > "$work/copy"; }
pages=0
more=true
while [ "$more" = true ]; do
  [ $((pages % 100)) != 0 ] || authorize # access tokens live five minutes
  pages=$((pages + 1))
  status=$(request --header "@$work/authorization" --header 'Accept: application/x-ndjson' \
    "$url/connect-api/v1/subscription/changes?size=1000${since:+&since=$since}") || fail 'the service is not reachable'
  case $status in
    200) cat "$work/response" >> "$work/copy" ;;
    410) : > "$work/copy" && since= && continue ;; # RESYNC_REQUIRED: read everything again
    *) fail "no changes, status $status" ;;
  esac
  since=$(next_of "$work/response") || fail 'the response was cut off'
  more=$(tail -n 1 "$work/response" | jq .has_more)
done

# Later lines win: a record replaces itself, a tombstone removes it.
jq -cn '
  reduce inputs as $line ({ records: {} };
    if $line.next then .next = $line.next
    elif $line.removed then del(.records[$line.id])
    else .records[$line.id] = $line end)
  | .records[], { next }' "$work/copy" > "$work/copy.ndjson"

# The columns, order and quoting of format=csv. A leading apostrophe keeps spreadsheets from
# running a cell as a formula.
jq -rn '
  def cell: if type == "string" and test("^\u0027*[=+@\t\r＝＋－＠-]") then "\u0027" + . else . end;
  ["id", "status", "activationDate", "expirationDate", "createdDate", "product.id", "product.name",
   "product.period", "product.period_unit", "product.plan_id", "iccid", "device_id", "auto_renew"] as $columns
  | $columns,
    ([inputs | select(.id)] | sort_by(.createdDate, .id)[]
      | [getpath($columns[] / ".") | cell])
  | @csv' "$work/copy.ndjson" > "$work/subscriptions.csv"

mv "$work/copy.ndjson" "$work/subscriptions.csv" "$folder/"
