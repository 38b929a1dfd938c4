#!/usr/bin/env bash
# Builds the Debian packages (docs/packaging.md) into target/deb.
#
#   tools/deb.sh             builds them
#   tools/deb.sh --check     builds them twice and tests them; prints TAP
#
# The packages hold the tracked files as they are in the working tree. The version is that of
# Cargo.toml, followed by ~gitDATE.COMMIT unless the commit has the tag vVERSION. SOURCE_DATE_EPOCH
# (default: the time of the commit) is the only time in the packages, so that the same programs give
# the same packages.
#
#   SPFE_PROGRAMS   directory of the programs and libraries (default: they are built with cargo)
#   PY_WHEEL        wheel of the Python package (default: it is built)
#   SPFE_DEB        where the packages go (default: target/deb)
#   SPFE_VM_CACHE   see tests/vm/lib.sh: the module is built by dkms for the kernels found there
set -euo pipefail
cd "$(dirname "$0")/.."

readonly out=${SPFE_DEB:-$PWD/target/deb}
# The parts of the tree that packages are built from. The build sees nothing else.
readonly parts=(CHANGELOG.md Cargo.toml README.md contract docs driver examples include wireshark
    packaging tools/c_man.py)
work=''
trap '[[ -z $work ]] || rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

say() { printf 'deb: %s\n' "$*"; }
die() {
    printf 'deb: %s\n' "$@" >&2
    exit 1
}

# version: prints the version of the workspace in the form that Debian orders correctly.
version() {
    local number
    number=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version *= *"\(.*\)"/\1/p' Cargo.toml)
    [[ -n $number ]] || die 'Cargo.toml names no version'
    if [[ $(git tag --points-at HEAD --list "v$number") ]]; then
        printf '%s' "$number"
    else
        TZ=UTC git log -1 --date=format-local:%Y%m%d%H%M --abbrev=9 --format="$number~git%cd.%h"
    fi
}

# stage DIRECTORY: makes a tree to build packages in.
stage() {
    mkdir -p "$1"
    git ls-files -z -- "${parts[@]}" | xargs -0 cp --parents -t "$1"
    mv "$1/packaging/debian" "$1/debian"
    {
        printf 'spfe (%s) unstable; urgency=medium\n\n' "$version"
        printf '  * Built from commit %s; see CHANGELOG.md.\n\n' \
            "$(git rev-parse --short=12 HEAD)"
        printf ' -- %s  %s\n' "$(sed -n 's/^Maintainer: //p' "$1/debian/control")" \
            "$(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")"
    } >"$1/debian/changelog"
    find "$1" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
}

# build DIRECTORY: stages a tree below it and builds the packages beside that tree.
build() {
    local tree=$1/spfe-$version log=$1/build.log
    mkdir -p "$1"
    stage "$tree"
    (
        # The settings of an outer make do not apply here.
        unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
        cd "$tree" && umask 022 &&
            SPFE_PROGRAMS=$programs SPFE_NOTICES=$work/notices.txt SPFE_FACES=$work/faces \
                DEB_BUILD_OPTIONS=noautodbgsym dpkg-buildpackage --build=binary -us -uc
    ) >"$log" 2>&1 || {
        tail -n 30 "$log" >&2
        cp "$log" "$out/"
        die "dpkg-buildpackage failed; log: $out/build.log"
    }
}

# faces: builds what programs in other languages use into $work/faces.
faces() {
    local to=$work/faces
    SPFE_PROGRAMS=$programs tools/capi.sh "$to/c" >&2
    SPFE_PROGRAMS=$programs CFLAGS=-D_FORTIFY_SOURCE=2 tools/libfabric.sh "$to" >&2
    if [[ -n ${PY_WHEEL:-} ]]; then
        cp "$PY_WHEEL" "$to/"
    else
        tools/python.sh wheel "$to" >&2
    fi
}

main() {
    local version programs=${SPFE_PROGRAMS:-} file failed=0
    git rev-parse --verify --quiet HEAD >/dev/null ||
        die 'this is not a git repository, so the packages have no version and no time'
    SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
    export SOURCE_DATE_EPOCH
    version=$(version)
    work=$(mktemp -d)
    mkdir -p "$out"
    if [[ -z $programs ]]; then
        cargo build --release --locked -p spfe-cli -p spfed -p spfe-capi -p spfe-vxrun
        programs=${CARGO_TARGET_DIR:-target}/release
    fi
    programs=$(realpath "$programs")
    for file in spfe spfed libspfe_capi.a libspfe_vxrun.so; do
        [[ -e $programs/$file ]] || die "there is no $programs/$file"
    done
    faces
    tools/third_party.py spfe-cli spfed spfe-capi >"$work/notices.txt"

    rm -f "$out"/*.{deb,changes,buildinfo,log}
    build "$work/first"
    cp "$work"/first/*.{deb,changes,buildinfo,log} "$out/"
    stat --printf 'deb: %8s bytes  %n\n' "$out"/*.deb
    [[ ${1:-} == --check ]] || return 0

    build "$work/a-longer-name/second"
    for file in "$work"/first/*.deb; do
        if cmp "$file" "$work/a-longer-name/second/${file##*/}"; then
            echo "ok ${file##*/} is the same in a second build"
        else
            echo "not ok ${file##*/} is the same in a second build"
            failed=1
        fi
    done
    SPFE_DEB=$out tests/run.sh tests/packaging/{packages,install}.bats || failed=1
    return "$failed"
}

(($# == 0)) || [[ $* == --check ]] || die 'usage: tools/deb.sh [--check]'
main "$@"
