#!/usr/bin/env bash
# The system server of Debian 12: PostgreSQL 15 with its server extensions, and pgvector, built where it is missing.
#
#   packages            install PostgreSQL, the extensions and PgBouncer from Debian
#   pgvector [FOLDER]   build and install pgvector; below FOLDER, if that is given
#   cluster             make and start the cluster 15/pgrecall, with a database; prints how to get there
#   scratch COMMAND…    run a command with a cluster that is made for it and dropped after it
#   settings            print PostgreSQL's settings: for the memory there is, and so that its log quotes nobody
#
# Each may be run again: what is there stays as it is. docs/server.md says more.
set -euo pipefail

readonly CODENAME=bookworm NEXT=trixie MAJOR=15 CLUSTER=pgrecall
readonly BINDIR=/usr/lib/postgresql/$MAJOR/bin
readonly PACKAGES=(
  "postgresql-$MAJOR" "postgresql-plpython3-$MAJOR" "postgresql-$MAJOR-plproxy" "postgresql-$MAJOR-plpgsql-check"
  "postgresql-$MAJOR-pgtap" pgbouncer
)

# Texts stay out of the log: no details, contexts, statements or parameters of errors (docs/operations.md).
readonly QUIET_LOG=(
  log_error_verbosity=terse log_min_error_statement=panic log_parameter_max_length=0 log_parameter_max_length_on_error=0
)

say() { echo "$*" >&2; }

fail() {
  say "error: $1"
  say "hint: $2"
  exit 1
}

check_machine() {
  local hint="Elsewhere use PostgreSQL 15 to 18 with pgvector 0.8 or newer, and set PGRECALL_DSN to it; see docs/server.md."
  # shellcheck source=/dev/null
  [ -r /etc/os-release ] && [ "$(. /etc/os-release && echo "${VERSION_CODENAME-}")" = "$CODENAME" ] \
    || fail "this is not Debian 12 ($CODENAME)" "$hint"
  [ "$(id -u)" = 0 ] || fail "only root can install a server" "Run it again as root, for example with sudo."
}

install_missing() {
  local package missing=()
  for package in "$@"; do
    [ "$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2> /dev/null)" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  say "installing ${missing[*]}"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -qq --yes --no-install-recommends "${missing[@]}" > /dev/null
}

# What apt's folder $1 says of where this machine gets Debian from, said in $2 of the next release: its packages if $3 is
# deb, its source packages if it is deb-src.
next_sources() {
  local file
  shopt -s nullglob
  for file in "$1/sources.list" "$1"/sources.list.d/*.list; do
    [ -f "$file" ] || continue
    awk -v from="$CODENAME" -v to="$NEXT" -v type="$3" '
      $1 == "deb" {
        uri = 2
        if ($2 ~ /^\[/) {
          while ($uri !~ /\]$/ && uri < NF) uri++
          uri++
        }
        if ($(uri + 1) != from || (" " $0 " ") !~ /[ \t]main[ \t]/) next
        $1 = type
        for (field = uri + 2; field <= NF; field++) $field = ""
        $(uri + 1) = to " main"
        print
      }' "$file" >> "$2/next.list"
  done
  for file in "$1"/sources.list.d/*.sources; do
    awk -v from="$CODENAME" -v to="$NEXT" -v type="$3" '
      function has(list, word) { return index(" " list " ", " " word " ") > 0 }
      BEGIN { RS = ""; FS = "\n" }
      {
        split("", value)
        kept = ""
        for (line = 1; line <= NF; line++) {
          if ($line ~ /^#/) continue
          text = $line
          if ($line !~ /^[ \t]/) {
            name = tolower($line)
            sub(/[ \t]*:.*/, "", name)
            sub(/^[^:]*:/, "", text)
          }
          gsub(/[ \t]+/, " ", text)
          value[name] = value[name] " " text
          if (name !~ /^(types|suites|components|architectures|enabled)$/) kept = kept $line "\n"
        }
        if (has(value["types"], "deb") && has(value["suites"], from) && has(value["components"], "main") \
            && !has(value["enabled"], "no"))
          print kept "Types: " type "\nSuites: " to "\nComponents: main\n"
      }' "$file" >> "$2/next.sources"
  done
}

# Have apt-get, called with "${NEXT_APT[@]}", read the next release's packages of type $2 (deb, deb-src) in the folder $1.
# It has lists of its own there: apt's are left as they are. $3 is the hint if there is nothing to ask.
ask_next() {
  mkdir -p "$1/sources" "$1/lists/partial" "$1/cache/archives/partial"
  next_sources /etc/apt "$1/sources" "$2"
  [ -s "$1/sources/next.list" ] || [ -s "$1/sources/next.sources" ] \
    || fail "apt has no source 'deb … $CODENAME main' whose $NEXT could be asked" "$3"
  NEXT_APT=(
    -o "Dir::Etc::SourceList=/dev/null" -o "Dir::Etc::SourceParts=$1/sources"
    -o "Dir::State::Lists=$1/lists" -o "Dir::Cache=$1/cache"
  )
  apt-get "${NEXT_APT[@]}" update -qq
}

vector_version() {
  sed -n "s/^default_version = '\(.*\)'/\1/p" "$1/usr/share/postgresql/$MAJOR/extension/vector.control" 2> /dev/null || true
}

pgvector() {
  local target=${1-} version
  version=$(vector_version "$target")
  if [ -n "$version" ] && dpkg --compare-versions "$version" ge 0.8; then
    say "pgvector $version is there"
    return
  fi
  install_missing "postgresql-server-dev-$MAJOR" build-essential dpkg-dev
  SCRATCH=$(mktemp -d)
  trap 'rm -rf "$SCRATCH"' EXIT
  chown _apt "$SCRATCH" # as whom apt fetches
  say "building pgvector from Debian's source package"
  ask_next "$SCRATCH" deb-src "Add Debian's own to /etc/apt/sources.list.d, or install pgvector 0.8 or newer by hand."
  (cd "$SCRATCH" && apt-get "${NEXT_APT[@]}" source -qq pgvector > /dev/null)
  # Left to itself it would be built for this processor, and an image of it run on no other.
  local build=(make --silent -C "$(echo "$SCRATCH"/pgvector-*/)" "PG_CONFIG=$BINDIR/pg_config" OPTFLAGS=)
  "${build[@]}" -j "$(nproc)" > "$SCRATCH/log" 2>&1 \
    && "${build[@]}" install DESTDIR="$target" >> "$SCRATCH/log" 2>&1 \
    || { tail -n 30 "$SCRATCH/log" >&2; fail "pgvector was not built" "The lines above say why."; }
  say "pgvector $(vector_version "$target") is installed"
}

# A server that shares the machine with its clients only: a quarter of the memory.
settings() {
  local memory limit
  memory=$(awk '/^MemTotal:/ { print int($2 / 1024) }' /proc/meminfo)
  limit=$(cat /sys/fs/cgroup/memory.max 2> /dev/null || echo max)
  if [ "$limit" != max ] && [ $((limit / 1048576)) -lt "$memory" ]; then memory=$((limit / 1048576)); fi
  at_most() { if [ "$1" -lt "$2" ]; then echo "$1"; else echo "$2"; fi; }
  cat <<SETTINGS
shared_buffers=$(at_most $((memory / 4)) 16384)MB
effective_cache_size=$((memory / 2))MB
maintenance_work_mem=$(at_most $((memory / 16)) 1024)MB
max_wal_size=4GB
wal_compression=on
random_page_cost=1.1
SETTINGS
  printf '%s\n' "${QUIET_LOG[@]}"
  echo jit=off # compiling costs more than it saves on queries of milliseconds
}

# Its number, name, port, state and so on, as pg_lsclusters gives them; nothing if it is not there.
describe() { pg_lsclusters --no-header | awk -v name="$1" -v major="$MAJOR" '$1 == major && $2 == name'; }

cluster() {
  local folder=/etc/postgresql/$MAJOR/$CLUSTER port setting options=()
  if [ -z "$(describe "$CLUSTER")" ]; then
    for setting in $(settings); do options+=(--pgoption "$setting"); done
    pg_createcluster "$MAJOR" "$CLUSTER" "${options[@]}" --encoding UTF8 --locale C.UTF-8 -- --data-checksums > /dev/null
    # Root is who may become anybody here anyway; all else is Debian's: no password opens the socket, none is empty.
    sed --in-place -E 's/^local +all +postgres +peer$/& map=pgrecall/' "$folder/pg_hba.conf"
    printf 'pgrecall  postgres  postgres\npgrecall  root      postgres\n' >> "$folder/pg_ident.conf"
  fi
  [ "$(describe "$CLUSTER" | awk '{ print $4 }')" = online ] || pg_ctlcluster "$MAJOR" "$CLUSTER" start
  port=$(describe "$CLUSTER" | awk '{ print $3 }')
  local sql=("$BINDIR/psql" -X --quiet --tuples-only --set ON_ERROR_STOP=1 -h /var/run/postgresql -p "$port" -U postgres)
  "${sql[@]}" -c "SELECT 1 FROM pg_database WHERE datname = 'pgrecall'" postgres | grep -q . \
    || "${sql[@]}" -c 'CREATE DATABASE pgrecall' postgres
  "${sql[@]}" -c 'SET client_min_messages = warning' -c 'CREATE EXTENSION IF NOT EXISTS vector' pgrecall
  say "the cluster $MAJOR/$CLUSTER is running; root gets there by"
  echo "export PGRECALL_DSN='postgresql://postgres@/pgrecall?host=/var/run/postgresql&port=$port'"
}

# In memory where there are 8 GB of it: a database is some 300 files, and a disk takes ten times as long to make them.
scratch() {
  local room
  room=$(df --output=avail --block-size=1M /dev/shm 2> /dev/null | tail -n 1 || echo 0)
  SCRATCH=$(mktemp -d "$([ "$room" -ge 8192 ] && echo /dev/shm || echo /tmp)/pgrecall-XXXXXX")
  SCRATCH_NAME=pgrecall_scratch_$$
  trap 'pg_dropcluster --stop "$MAJOR" "$SCRATCH_NAME" || true; rm -rf "$SCRATCH"' EXIT
  chown postgres "$SCRATCH"
  chmod 700 "$SCRATCH" # nobody is asked for a password in there
  local setting quiet=()
  for setting in "${QUIET_LOG[@]}"; do quiet+=(-o "$setting"); done
  # It ends with the command: what it holds need not outlive the machine.
  pg_createcluster "$MAJOR" "$SCRATCH_NAME" --datadir "$SCRATCH/data" --socketdir "$SCRATCH" --start-conf manual --encoding UTF8 --locale C.UTF-8 \
    -o fsync=off -o synchronous_commit=off -o full_page_writes=off -o max_connections=400 -o shared_buffers=128MB -o random_page_cost=1.1 \
    -o jit=off -o log_checkpoints=off "${quiet[@]}" -- --data-checksums --no-sync --auth-local=trust --auth-host=reject > /dev/null
  # By hand, as --pgoption takes no empty value.
  echo "listen_addresses = ''" >> "/etc/postgresql/$MAJOR/$SCRATCH_NAME/postgresql.conf"
  pg_ctlcluster "$MAJOR" "$SCRATCH_NAME" start
  local port
  port=$(describe "$SCRATCH_NAME" | awk '{ print $3 }')
  PGRECALL_TEST_DSN="postgresql://postgres@/postgres?host=$SCRATCH&port=$port" PGRECALL_PG_BINDIR=$BINDIR \
    PGRECALL_REQUIRE_SERVER_EXTRAS=1 PGRECALL_REQUIRE_PGBOUNCER=1 "$@"
}

main() {
  local command=${1-}
  case $command in
    packages | pgvector | cluster | scratch) shift && check_machine ;;
    settings) ;;
    *) fail "unknown command '$command'" "One of: packages, pgvector [FOLDER], cluster, scratch COMMAND…, settings" ;;
  esac
  if [ "$command" = packages ]; then install_missing "${PACKAGES[@]}"; else "$command" "$@"; fi
}

# Tests read this file for its functions.
if [ "${BASH_SOURCE[0]}" = "$0" ]; then main "$@"; fi
