#!/usr/bin/env bash
# Installs the C library below a directory: shared, static, headers, pkg-config file.
#
#   tools/capi.sh [DIRECTORY]     default target/c; paths in spfe.pc name it as the prefix
#
# The shared library is linked from the static one with a version script, so that it exports the
# functions of include/spfe/spfe.h and fast.h and nothing else. SPFE_PROGRAMS names the
# directory of the static library (default target/release, where it is built).
set -euo pipefail
cd "$(dirname "$0")/.."

prefix=$(realpath -m "${1:-target/c}")
readonly prefix
readonly abi=1
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version *= *"\(.*\)"/\1/p' Cargo.toml)
[[ -n ${SPFE_PROGRAMS:-} ]] || cargo build --quiet --release -p spfe-capi
static=${SPFE_PROGRAMS:-target/release}/libspfe_capi.a

mkdir -p "$prefix/lib/pkgconfig" "$prefix/include/spfe"
install -m 644 include/spfe/{spfe.h,fabric.h,fast.h,spfe.hpp,spfe_hw.h} "$prefix/include/spfe/"
install -m 644 "$static" "$prefix/lib/libspfe.a"
# Functions that the script names must exist, so that it cannot promise what is not there.
mapfile -t wanted < <(sed -n 's/^ *\(spfe_[a-z_]*\);$/-Wl,--require-defined=\1/p' packaging/c/libspfe.map)
gcc -shared -o "$prefix/lib/libspfe.so.$abi.$version" \
    -Wl,-soname,"libspfe.so.$abi" -Wl,--version-script=packaging/c/libspfe.map \
    -Wl,--gc-sections -Wl,--no-undefined -Wl,-z,relro,-z,now "${wanted[@]}" \
    "$static" -lgcc_s -lm -lc
ln -sf "libspfe.so.$abi.$version" "$prefix/lib/libspfe.so.$abi"
ln -sf "libspfe.so.$abi" "$prefix/lib/libspfe.so"
sed -e "s|@PREFIX@|$prefix|" -e "s|@VERSION@|$version|" packaging/c/spfe.pc.in \
    >"$prefix/lib/pkgconfig/spfe.pc"
printf '%s\n' "$prefix"
