#!/usr/bin/env bash
# Builds the Citus extension from its source for an installed PostgreSQL, and installs it there:
#
#   git clone --branch v13.2.2 https://github.com/citusdata/citus /tmp/citus
#   sudo tools/build-citus.sh /tmp/citus /usr/lib/postgresql/15/bin/pg_config
#
# On Debian, it needs the packages postgresql-15, postgresql-server-dev-15, build-essential, autoconf,
# flex, libkrb5-dev, liblz4-dev, libzstd-dev, libreadline-dev, libssl-dev, libicu-dev, libpam0g-dev,
# libselinux1-dev, libxml2-dev, libxslt1-dev and zlib1g-dev. It takes two minutes on two cores.
# Then `npm run citus` finds it.
set -euo pipefail

source=${1:?"Cannot build Citus: the first argument must be a folder with its source"}
pg_config=${2:-$(command -v pg_config)}
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT

cp -R "$source/." "$build"
cd "$build"
# Later minor releases of PostgreSQL 15 declare a function of this name as well.
files=$(grep -rlw have_createdb_privilege src --include='*.c' --include='*.h' || true)
for file in $files; do sed -i 's/\bhave_createdb_privilege\b/citus_&/g' "$file"; done

./configure --without-libcurl PG_CONFIG="$pg_config"
# LLVM bitcode would take half of the time, and is for JIT compilation, which our sessions switch off.
make -j"$(nproc)" with_llvm=no
make install with_llvm=no
ls -l "$("$pg_config" --pkglibdir)/citus.so"
