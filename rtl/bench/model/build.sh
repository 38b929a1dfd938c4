#!/usr/bin/env bash
# Builds the core as a shared library with the functions of pins.h.
#
#   rtl/bench/model/build.sh NAME [-GParameter=Value...]
#
# writes target/rtl/models/NAME.so, unless it exists and none of its sources has changed.
# rtl/bench/model/builds.toml lists the builds of the bench. SPFE_RTL_TOP names another top module:
# spfe_tcp_system, which contains the memory, or one with the ports of spfe_tcp. SPFE_RTL_SHIM names
# another file with the C functions, for tops with other ports. SPFE_CORE_SEED chooses the bits of
# registers and memories without an initial value when a core starts (default 1).
set -euo pipefail
cd "$(dirname "$0")/../../.."

(($#)) || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 2; }
readonly name=$1
shift
readonly here=rtl/bench/model top=${SPFE_RTL_TOP:-spfe_tcp}
readonly shim=${SPFE_RTL_SHIM:-$here/shim.cpp}
readonly out=target/rtl/models
readonly library=$out/$name.so stamp=$out/$name.stamp work=$out/$name.d

# The tools come from tools/rtl.sh if it exists, else from the PATH.
if [[ -z ${SPFE_RTL_TOOLS:-} && -x tools/rtl.sh ]]; then
    SPFE_RTL_TOOLS=1 exec tools/rtl.sh run "$0" "$name" "$@"
fi
command -v verilator >/dev/null || {
    printf 'build.sh: no verilator on the PATH; run: tools/rtl.sh tools\n' >&2
    exit 1
}

# Files of the core, packages first and each after those it uses, and search paths for modules.
list() { PYTHONPATH=tools PYTHONDONTWRITEBYTECODE=1 python3 -c "import rtl_files; $1" "$top"; }
mapfile -t search < <(list 'import sys; print(*rtl_files.search_options(sys.argv[1]), sep="\n")')
mapfile -t sources < <(list 'import sys
names = rtl_files.needed(sys.argv[1])
print(*sorted(f for f in map(rtl_files.relative, rtl_files.design_files()) if f.split("/")[-1][:-3] in names), sep="\n")')
((${#sources[@]} > 0)) || {
    printf 'build.sh: there is no %s.sv below rtl/\n' "$top" >&2
    exit 1
}
readonly search sources

mkdir -p "$out"
exec {lock}>"$out/$name.lock"
flock "$lock"

key=$({
    printf '%s\n' "$top" "$@"
    verilator --version
    cat "${sources[@]}" "$shim" "$here"/{build.sh,pins.h}
} | sha256sum)
if [[ -e $library && -e $stamp && $(<"$stamp") == "$key" ]]; then
    exit
fi
rm -f "$stamp"

address_bits=16
for argument in "$@"; do
    [[ $argument == -GTxMemAddrBits=* ]] && address_bits=${argument#*=}
done

rm -rf "$work"
verilator --cc -Wno-fatal -O3 --x-assign unique --x-initial unique --no-timing --assert \
    --top-module "$top" --prefix Vcore --Mdir "$work" --output-split 20000 \
    "${search[@]}" "$@" "$(printf '%s\n' "${sources[@]}" | grep "/$top\.sv$")" >"$out/$name.log" 2>&1 || {
    cat "$out/$name.log" >&2
    exit 1
}
root=${VERILATOR_ROOT:-$(verilator --getenv VERILATOR_ROOT)}
# A process may load several builds, so only the C functions are visible outside.
readonly common=(
    -std=gnu++20 -fPIC -fvisibility=hidden -fvisibility-inlines-hidden -fno-gnu-unique
    -faligned-new -w -DVERILATOR=1 -DVM_COVERAGE=0 -DVM_SC=0 -DVM_TRACE=0 -DVL_USER_STOP
    -I"$root/include" -I"$root/include/vltstd"
)

# The runtime of Verilator is the same in all builds.
readonly runtime=$out/runtime
exec {runtime_lock}>"$out/runtime.lock"
flock "$runtime_lock"
runtime_key=$({ verilator --version && printf '%s\n' "${common[@]}"; } | sha256sum)
if [[ ! -e $runtime/stamp || $(<"$runtime/stamp") != "$runtime_key" ]]; then
    rm -rf "$runtime"
    mkdir "$runtime"
    for part in verilated verilated_threads; do
        g++ "${common[@]}" -O2 -c "$root/include/$part.cpp" -o "$runtime/$part.o"
    done
    printf '%s\n' "$runtime_key" >"$runtime/stamp"
fi
flock -u "$runtime_lock"

inside=()
[[ $top == spfe_tcp_system ]] && inside=(-DCORE_HAS_MEMORY)
cp "$shim" "$work/shim.cpp"
printf '%s\n' "${common[@]}" -DTX_MEM_ADDR_BITS="$address_bits" "${inside[@]}" -I"$work" -I"$here" >"$work/flags"
# Half of the code runs only once, at the start; it is not optimised.
for part in "$work"/*__Slow.cpp; do
    printf '#include "%s"\n' "${part##*/}"
done >"$work/once.cc"
printf '%s\0%s\0' -O0 "$work/once.cc" >"$work/parts"
for part in "$work"/*.cpp; do
    [[ $part == *__Slow.cpp ]] || printf '%s\0%s\0' -O1 "$part"
done >>"$work/parts"
# shellcheck disable=SC2016 # The names are those of the shells that compile.
xargs -0 -n 2 -P "${SPFE_JOBS:-2}" bash -c 'g++ "@$0/flags" "$1" -c "$2" -o "$2.o"' "$work" <"$work/parts"
g++ -shared -Wl,-Bsymbolic -o "$library.new" "$work"/*.o "$runtime"/*.o -pthread -latomic
mv "$library.new" "$library"
rm -rf "$work"
printf '%s\n' "$key" >"$stamp"
