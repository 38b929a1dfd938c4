# shellcheck shell=bash
# shellcheck disable=SC2154 # lib/fabric sets the variables
# Servers and clients of other projects, as Debian packages them, on the nodes of a fabric. Loaded
# after lib/fabric. Servers run in the foreground with settings of their own in $dir, and no service
# of the system takes part.

# user COMMAND...: the words that run a command as an ordinary user with the files of this one.
# Servers that refuse to be root, or would switch to another user, need that.
user() { printf '%s ' unshare --user --map-user=1000 --map-group=1000 "$@"; }

# needs PROGRAM...: skips the test if one is missing.
needs() {
    local reason
    reason=$(PATH=$PATH:/usr/sbin programs "$@")
    [[ -z $reason ]] || skip "$reason"
}

# vx NODE WORD...: runs a client under vxrun; it adds to the report of the test.
vx() { on "$1" "$dir/vxrun" --report "$report" "${@:2}"; }

# server NAME NODE WORD...: starts a server under vxrun.
server() {
    start "$1" "$spfe" fabric exec "$2" "$dir/vxrun" --report "$report" "${@:3}"
}

# plain NAME NODE WORD...: starts a server over the interface.
plain() { start "$1" "$spfe" fabric exec "${@:2}"; }

# answers NODE PORT: a server listens there.
answers() { on "$1" ss -Hltn "sport = :$2" | grep -q LISTEN; }

# in_rings BYTES: at least so many bytes went through rings since the report began.
in_rings() {
    local bytes
    bytes=$(moved "$report")
    comment "through rings: $bytes bytes"
    ((bytes >= $1))
}

# alone NODE: the process of the node is the only one in its namespace.
alone() {
    local node namespace process
    node=$(field "$1" process)
    namespace=$(readlink "/proc/$node/ns/net")
    for process in /proc/[0-9]*; do
        if [[ $(readlink "$process/ns/net") == "$namespace" && ${process#/proc/} != "$node" ]]; then
            tr '\0' ' ' <"$process/cmdline"
            return 1
        fi
    done
}
