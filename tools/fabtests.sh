#!/usr/bin/env bash
# Builds libfabric and its test programs, fabtests, for tests/libfabric.bats.
#
#   tools/fabtests.sh ARCHIVE DIRECTORY
#
# ARCHIVE is libfabric_2.1.0.orig.tar.xz, the source of libfabric in Debian 13, which has fabtests
# in it (that of Debian 12 has not): `apt-get source --download-only libfabric=2.1.0-1.1` where the
# sources of Debian 13 are configured. Its checksum is compared. Library and programs are installed
# below DIRECTORY, which must not be in the tree. Needs autoconf, automake, libtool and a C compiler.
# It prints the command that runs the tests.
set -euo pipefail

readonly sum=1a66369772d5bb151737214af1c478993e969cf298e8f9ed369e7a2ab8d8c6df
archive=${1:?ARCHIVE} directory=$(realpath -m "${2:?DIRECTORY}")
sha256sum --quiet --check <<<"$sum  $archive"
mkdir -p "$directory"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar --extract --xz --file "$archive" --directory "$work" --strip-components 1

# build FOLDER OPTION...: configures, builds and installs.
build() (
    cd "$1"
    ./autogen.sh
    ./configure --prefix="$directory" --quiet CFLAGS='-O1 -g' "${@:2}"
    make --silent -j "$(nproc)"
    make --silent install
) >>"$directory/build.log" 2>&1
build "$work" --enable-only --enable-shm=yes --disable-static || {
    tail -n 20 "$directory/build.log" >&2
    exit 1
}
build "$work/fabtests" --with-libfabric="$directory" || {
    tail -n 20 "$directory/build.log" >&2
    exit 1
}
cat <<END
PATH=$directory/bin:\$PATH LD_LIBRARY_PATH=$directory/lib \\
    PKG_CONFIG_PATH=$directory/lib/pkgconfig SPFE_FABTESTS=$directory/bin \\
    TEST_FILTER=fabtests tests/run.sh tests/libfabric.bats
END
