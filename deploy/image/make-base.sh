#!/bin/sh
# Imports an image that can stand in for docker.io/library/node, made from the packages of Debian and npm, for machines that
# reach no registry of images (as root, with mmdebstrap, npm and podman):
#   deploy/image/make-base.sh
#   podman build --build-arg BASE=localhost/subreport-base …
set -eu
cd "$(dirname "$0")/../.."
case $(uname -m) in x86_64) arch=x64 ;; aarch64) arch=arm64 ;; esac
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mmdebstrap --quiet --variant=minbase --include=ca-certificates,libatomic1 bookworm "$folder"
npm install --global --prefix "$folder/usr/local" --ignore-scripts npm "node-linux-$arch@$(cat .node-version)"
# the authorities that this machine trusts, such as that of a proxy
cp /etc/ssl/certs/ca-certificates.crt "$folder/etc/ssl/certs/"
tar --directory "$folder" --create . |
  podman import --change ENV=NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt - localhost/subreport-base
