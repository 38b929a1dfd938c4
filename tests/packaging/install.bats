#!/usr/bin/env bats
# The Debian packages for programs, installed in a new Debian that has nothing else of ours.
# `tools/deb.sh --check` runs this file. The programs of docs/faces.md are compiled and run there as
# printed.
#
# mmdebstrap makes the system from packages that it downloads, which takes about a minute. SPFE_DEB
# names the directory of our packages (default: target/deb).

load ../lib/common

packages=${SPFE_DEB:-target/deb}
names=(libspfe1 libspfe-dev python3-spfe spfe-libfabric-provider)

setup_file() {
    local suite reason name
    export dir=$BATS_FILE_TMPDIR root=$BATS_FILE_TMPDIR/root
    reason=$(programs mmdebstrap)
    ((EUID == 0)) || reason='only root can install packages'
    # shellcheck source=/dev/null
    suite=$(. /etc/os-release && [[ $ID == debian ]] && printf '%s' "$VERSION_CODENAME") ||
        reason='this is not Debian, for which the packages are'
    if [[ -z $reason ]] && ! timeout 600 mmdebstrap --quiet --variant=apt \
        --skip=cleanup/apt/lists --include=gcc,libc6-dev,pkg-config,libfabric-bin \
        "$suite" "$root" 2>"$dir/system.log"; then
        reason="mmdebstrap made no system: $(grep -m 1 '^E:' "$dir/system.log")"
    fi
    if [[ $reason ]]; then
        unavailable "$reason"
        return 0
    fi
    for name in "${names[@]}"; do
        cp "$packages/${name}"_*.deb "$root/tmp/"
    done
}

setup() { skip_if_unavailable; }

# inside COMMAND...: runs a command in the new system.
inside() { timeout --kill-after=5 300 env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$root" "$@"; }

# printed LANGUAGE FILE: writes the program in docs/faces.md to a file of the new system.
printed() {
    # shellcheck disable=SC2016 # the backquotes are those of Markdown
    sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/{/^\`\`\`/d;p}" docs/faces.md >"$root/tmp/$2"
}

@test "apt installs them, with nothing but Debian's packages besides" {
    inside sh -c 'apt-get -q -y install --no-install-recommends /tmp/*.deb'
    run -0 inside dpkg --list "${names[@]}"
    [[ $(grep -c '^ii ' <<<"$output") == "${#names[@]}" ]]
    run -0 inside dpkg --audit
    [[ -z $output ]]
}

@test "the program in C is compiled with the packages and runs" {
    printed c group.c
    # shellcheck disable=SC2016 # for the shell inside
    inside sh -c 'cc -std=c11 -Wall -Wextra -Werror -o /tmp/group /tmp/group.c $(pkg-config --cflags --libs spfe)'
    run -0 inside /tmp/group
    same '16000 bytes in a group' "$output"
    run -0 inside ldd /tmp/group
    [[ $output == *'libspfe.so.1 => /'* ]]
}

@test "the program in Python runs" {
    printed python group.py
    run -0 inside python3 /tmp/group.py
    same '16000 bytes in a group, equal: True' "$output"
}

@test "libfabric finds the provider by itself" {
    run -0 inside fi_info -l
    grep -qx 'spfe:' <<<"$output"
}

@test "nothing is left when they are removed" {
    inside apt-get -q -y purge "${names[@]}"
    run inside find / -xdev -name '*spfe*' -not -path '/tmp/*' -not -path '/proc/*'
    [[ -z $output ]]
}
