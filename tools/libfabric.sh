#!/usr/bin/env bash
# Builds the libfabric provider, libspfe-fi.so, which FI_PROVIDER_PATH finds, and beside it fi_rate,
# which measures providers.
#
#   tools/libfabric.sh [DIRECTORY]     default target/libfabric
#
# The static C library becomes a part of the provider: a program that loads it needs no other file of
# ours. SPFE_PROGRAMS names its directory (default target/release, where it is built). CC and CFLAGS
# are the compiler and additional options. The provider fits the libfabric whose headers pkg-config
# finds.
set -euo pipefail
cd "$(dirname "$0")/.."

out=$(realpath -m "${1:-target/libfabric}")
readonly out
[[ -n ${SPFE_PROGRAMS:-} ]] || cargo build --quiet --release -p spfe-capi
static=${SPFE_PROGRAMS:-target/release}/libspfe_capi.a

mkdir -p "$out"
# shellcheck disable=SC2046,SC2086 # several options
${CC:-gcc} -std=gnu11 -O2 -g -fPIC -Wall -Wextra -Werror -fvisibility=hidden ${CFLAGS:-} \
    -Iinclude $(pkg-config --cflags libfabric) \
    -shared -o "$out/libspfe-fi.so" libfabric/*.c "$static" \
    -Wl,-soname,libspfe-fi.so -Wl,--exclude-libs,ALL -Wl,--gc-sections -Wl,--no-undefined \
    -Wl,-z,relro,-z,now $(pkg-config --libs libfabric) -pthread -lgcc_s -lm -lc
# shellcheck disable=SC2046,SC2086 # several options
${CC:-gcc} -std=gnu11 -O2 -Wall -Wextra -Werror $(pkg-config --cflags libfabric) \
    -o "$out/fi_rate" bench/peers/fi_rate.c $(pkg-config --libs libfabric)
printf '%s\n' "$out"
