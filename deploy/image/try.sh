#!/bin/bash
# Tries an image as docs/operators/deployment.md runs it: its size, the demo, workers within a limit of memory, a load and a
# report, SIGTERM, an upgrade and a restore to another volume (as root, with podman 4, curl and jq):
#   deploy/image/try.sh [IMAGE [OLDER_IMAGE]]
# OLDER_IMAGE fills the store that IMAGE upgrades.
set -euo pipefail
image=${1:-localhost/subreport}
older=${2:-$image}
port=${PORT:-18080}
name=subreport-try
service=http://127.0.0.1:$port
folder=$(mktemp -d)
cleanUp() {
  podman rm --force --ignore "$name" >/dev/null 2>&1
  podman volume rm --force "$name" "$name-restored" >/dev/null 2>&1
  rm -rf "$folder"
}
trap cleanUp EXIT

fail() { echo "FAILED: $1" >&2; podman logs --tail 5 "$name" >&2 || true; exit 1; }
# start VOLUME IMAGE COMMAND… : the options of docs/operators/deployment.md, with the limit $memory
start() {
  podman run --read-only --tmpfs /tmp --cap-drop all --security-opt no-new-privileges --memory "$memory" \
    --stop-timeout 30 --volume "$1:/data" --publish "127.0.0.1:$port:8080" --env PUBLIC_URL="$service" --env ALLOW_HTTP=true \
    --name "$name" --detach "${@:2}" >"$folder/id" 2>"$folder/errors" || fail "$(cat "$folder/errors")"
  for _ in $(seq 240); do podman healthcheck run "$name" >/dev/null 2>&1 && return; sleep 0.5; done
  fail "the health check of $2 has not passed"
}
# Sends SIGTERM, expects exit code 0 without SIGKILL, and removes the container.
stop() {
  podman stop "$name" >/dev/null 2>&1
  local state; state=$(podman inspect --format '{{.State.ExitCode}} {{.State.OOMKilled}}' "$name")
  [ "$state" = '0 false' ] || fail "SIGTERM ended with $state"
  podman rm "$name" >/dev/null 2>&1
  echo "SIGTERM: exit code 0"
}
# once OPTIONS… IMAGE COMMAND… : a command in a container of its own, beside the service
once() {
  podman run --rm --read-only --tmpfs /tmp --volume "$folder/backups:/backups" "$@" >"$folder/out" 2>&1 || fail "$(cat "$folder/out")"
}
run() { podman exec --interactive "$name" subreport "$@"; }
# report FILE: the SHA-256 of the report of the client whose id and secret are in FILE
report() {
  local token; token=$(jq -r '"client_id=\(.client_id)&client_secret=\(.client_secret)&grant_type=client_credentials"' "$1" |
    curl -sSf --data @- "$service/oauth2/token" | jq -r .access_token)
  curl -sSf -H "Authorization: Bearer $token" -H 'Accept: application/x-ndjson' \
    "$service/connect-api/v1/subscription?all=true" >"$folder/report"
  # the last line is the end of the report
  echo "$(($(wc -l <"$folder/report") - 1)) records, SHA-256 $(head -n -1 "$folder/report" | sha256sum | cut -c1-16)…"
}

bytes=$(podman save "$image" 2>"$folder/errors" | gzip --stdout | wc -c)
echo "image: $((bytes / 1000000)) MB compressed, user $(podman inspect --format '{{.Config.User}}' "$image"), volumes $(podman inspect --format '{{json .Config.Volumes}}' "$image")"
[ "$bytes" -le 120000000 ] || fail 'the image must be at most 120 MB'

memory=512m
start "$name" "$image" serve --demo
podman cp "$name:/data/demo-8080/demo-client.json" "$folder/demo.json"
echo "demo: $(report "$folder/demo.json")"
stop

memory=1g
start "$name" "$older"
echo "filled by $(run --version), $(podman exec "$name" node -p 'require("fs").readdirSync("/proc").filter((id) => /^\d+$/.test(id)).length - 1') processes in $memory"
run tenant create acme >"$folder/out" 2>&1
run generate --tenant acme --subscriptions 20000 --seed 7 >"$folder/out" 2>&1
run client create --tenant acme --json 2>"$folder/out" >"$folder/client.json"
filled=$(report "$folder/client.json")
echo "report: $filled"
podman exec "$name" node -e 'try { require("fs").writeFileSync("/etc/x", ""); } catch (error) { process.exit(error.code === "EROFS" ? 0 : 1); }' ||
  fail 'the root file system can be written'
stop

start "$name" "$image"
upgraded=$(report "$folder/client.json")
echo "upgraded to $(run --version): $upgraded"
[ "$upgraded" = "$filled" ] || fail 'the upgrade changed the report'
install --directory --owner 10001 --mode 700 "$folder/backups"
once --volume "$name:/data" "$image" backup /backups/store.db
stop

echo 'another machine: a new volume and the backup'
once --volume "$name-restored:/data" "$image" restore /backups/store.db --yes
start "$name-restored" "$image"
restored=$(report "$folder/client.json")
echo "restored: $restored"
[ "$restored" = "$filled" ] || fail 'the restore changed the report'
run doctor >"$folder/out" 2>&1 || fail "$(cat "$folder/out")"
stop
echo 'ok'
