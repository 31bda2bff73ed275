#!/usr/bin/env bash
# What the image `server` runs: makes PostgreSQL's data folder if there is none, then becomes PostgreSQL.
set -euo pipefail

bindir=/usr/lib/postgresql/15/bin
data=${PGRECALL_DATA:-/var/lib/postgresql}/data

if [ ! -d "$data" ]; then
  if [ -z "${PGRECALL_PASSWORD-}" ]; then
    echo "error: PGRECALL_PASSWORD is not set; it becomes the password of the user postgres" >&2
    exit 1
  fi
  # Complete under another name, then renamed: an interrupted run starts over.
  new=$data.new
  rm -rf "$new"
  "$bindir/initdb" --pgdata "$new" --username postgres --encoding UTF8 --locale C.UTF-8 --data-checksums \
    --auth-local=peer --auth-host=scram-sha-256 --pwfile <(printf '%s\n' "$PGRECALL_PASSWORD")
  { echo && system_server.sh settings && echo "listen_addresses = '*'"; } >> "$new/postgresql.conf"
  echo 'host all all all scram-sha-256' >> "$new/pg_hba.conf"
  echo 'CREATE DATABASE pgrecall' | "$bindir/postgres" --single -D "$new" postgres > /dev/null
  mv "$new" "$data"
fi
unset PGRECALL_PASSWORD
exec "$bindir/postgres" -D "$data" "$@"
