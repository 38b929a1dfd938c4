#!/usr/bin/env bats
# The libfabric provider: unmodified programs of libfabric and MPI over it.

load lib/common

spfed=$SPFE_PROGRAMS/spfed

setup_file() {
    local reason
    export dir=$BATS_FILE_TMPDIR
    reason=$(programs fi_info fi_pingpong mpirun mpicc NPopenmpi)
    if [[ -z $reason ]] && ! pkg-config --exists libfabric; then
        reason='libfabric-dev is not installed; run tools/setup.sh test'
    fi
    if [[ $reason ]]; then
        unavailable "$reason"
        return 0
    fi
    built "$spfed"
    tools/libfabric.sh "$dir/provider"
    # shellcheck disable=SC2016 # the backquotes are those of Markdown
    sed -n '/^```mpi$/,/^```$/{/^```/d;p}' docs/faces.md >"$dir/token.c"
    mpicc -Wall -Wextra -Werror -o "$dir/token" "$dir/token.c"
    export FI_PROVIDER_PATH=$dir/provider FI_SPFE_DEVICE=unix:$dir/sock
}

setup() { skip_if_unavailable; }

teardown_file() { stop_all; }

# network [OPTION...]: starts the daemon with cables from port to port.
network() {
    start spfed "$spfed" --listen "$dir/sock" --topology loop "$@"
    wait_until timeout 10 fi_info -p spfe
}

# pingpong OPTION...: both ends of fi_pingpong, which checks the data.
pingpong() {
    local port=$((20000 + BASHPID % 20000))
    start server timeout --kill-after=5 120 fi_pingpong -p spfe -e rdm -c -B "$port" "$@"
    wait_until grep -qi ":$(printf %04x "$port") 0*:0000 0A" /proc/net/tcp /proc/net/tcp6
    timeout --kill-after=5 120 fi_pingpong -p spfe -e rdm -c -P "$port" "$@" 127.0.0.1 \
        >"$dir/client.txt" || {
        cat "$dir/client.txt"
        show server
        return 1
    }
    cat "$dir/client.txt"
    ends server
}

@test "the provider exports its entry point only" {
    same 'fi_prov_ini' "$(nm -D --defined-only "$FI_PROVIDER_PATH/libspfe-fi.so" | cut -d ' ' -f 3)"
}

@test "without a device the provider is not offered, and the log says why" {
    run -61 timeout 10 env FI_LOG_LEVEL=info FI_LOG_PROV=spfe fi_info -p spfe
    [[ $output == *"$dir/sock"* ]]
}

@test "fi_info lists the provider" {
    network --mode inline
    run -0 timeout 10 fi_info -p spfe
    [[ $output == *'provider: spfe'*'type: FI_EP_RDM'* ]]
    run -0 timeout 10 fi_info -p spfe -t FI_EP_RDM -c 'FI_TAGGED|FI_RMA|FI_ATOMIC|FI_DIRECTED_RECV'
    # Nothing is put on top of the datagrams.
    [[ $output != *ofi_rxd* ]]
    run -0 timeout 10 fi_info -p spfe -t FI_EP_DGRAM -c FI_MSG
    run -61 timeout 10 fi_info -p spfe -t FI_EP_MSG
    run -61 timeout 10 fi_info -p spfe -c FI_MULTICAST
}

@test "the calls of libfabric, AddressSanitizer" {
    local table sanitize='-fsanitize=address,undefined -fno-sanitize-recover=all'
    CFLAGS=$sanitize \
        tools/libfabric.sh "$dir/sanitized"
    # shellcheck disable=SC2046,SC2086 # several options
    gcc -std=gnu11 -g -O1 $sanitize -Wall -Wextra -Werror -Iinclude -o "$dir/suite" \
        tests/libfabric/*.c "$SPFE_PROGRAMS/libspfe_capi.a" \
        $(pkg-config --cflags --libs libfabric) -pthread -lgcc_s -lm
    # Other providers, which libfabric loads as well, leak.
    FI_PROVIDER_PATH=$dir/sanitized ASAN_OPTIONS=detect_leaks=0 \
        timeout --kill-after=5 240 "$dir/suite" >"$dir/suite.tap" || {
        cat "$dir/suite.tap"
        return 1
    }
    # The table of the page has the number of cases of each file.
    # shellcheck disable=SC2016 # the backquotes are those of Markdown
    table=$(sed -nE '/^## Tests/,/^## /s/^\| `([a-z]+).c` \| ([0-9]+) .*/\1 \2/p' docs/libfabric.md)
    same "$table" "$(awk '/^# group/ { if (group) print group, n; group = $3; n = 0 }
        /^ok/ { n++ } END { print group, n }' "$dir/suite.tap")"
    forward "$dir/suite.tap"
}

@test "fi_pingpong: messages" {
    run -0 pingpong -I 20 -m msg
    [[ $output =~ 1m ]]
}

@test "fi_pingpong: tagged messages" {
    run -0 pingpong -I 20 -m tagged
    [[ $output =~ 1m ]]
}

@test "fi_pingpong: a daemon that moves the packets" {
    stop spfed
    network --mode thread
    run -0 pingpong -I 20 -m tagged -S 65536
}

@test "fi_rate measures tagged messages" {
    local bytes
    for bytes in 64 100000; do
        run -0 --separate-stderr timeout --kill-after=5 60 "$FI_PROVIDER_PATH/fi_rate" spfe "$bytes" 0.1
        python3 -c 'import json, sys; r = json.load(sys.stdin); assert r["messages"] > 64, r' \
            <<<"$output"
    done
}

@test "fabtests quick" {
    local passed failed
    [[ ${SPFE_FABTESTS:-} ]] || skip 'set SPFE_FABTESTS to the directory of installed programs of fabtests'
    # Some have four endpoints in each of two processes.
    stop spfed
    network --mode inline --vcs 32 --max-regions 256
    mkdir "$dir/fabtests"
    ln -s "$(type -P python3)" "$dir/fabtests/python"
    # After a time-out its script kills every process whose name starts with fi_, so it sees only its
    # own. It writes files to the current directory.
    PATH=$dir/fabtests:$PATH timeout --kill-after=5 3600 \
        unshare --user --map-root-user --pid --fork --mount-proc --wd "$dir/fabtests" \
        bash "$SPFE_FABTESTS/runfabtests.sh" -v -t quick -p "$SPFE_FABTESTS" \
        -f "$PWD/tests/fabtests/spfe.exclude" spfe \
        >"$dir/fabtests/log" 2>&1 || true
    passed=$(sed -nE 's/^# Total Pass +([0-9]+)$/\1/p' "$dir/fabtests/log")
    failed=$(sed -nE 's/^# Total Fail +([0-9]+)$/\1/p' "$dir/fabtests/log")
    ((${passed:-0} >= 68 && ${failed:-1} == 0)) || {
        tail -n 200 "$dir/fabtests/log"
        return 1
    }
}

# mpi RANKS PROGRAM...: runs a program of Open MPI, whose messages can take this way only.
mpi() {
    local ranks=$1
    shift
    timeout --kill-after=5 120 env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        mpirun --oversubscribe -n "$ranks" --mca pml cm --mca mtl ofi \
        --mca mtl_ofi_provider_include spfe "$@"
}

@test "the MPI program in docs/faces.md" {
    local ranks
    stop spfed
    network --mode inline
    for ranks in 2 3 4; do
        run -0 --separate-stderr mpi "$ranks" "$dir/token"
        same "the token passed $ranks ranks, whose numbers add up to $((ranks * (ranks - 1) / 2))" \
            "$output"
    done
}

@test "an error names the limit where the device has too few regions" {
    local regions
    # The second endpoint cannot be enabled with 18 regions. With 20 both are there, and the first
    # message finds no region for its peer.
    for regions in 18 20; do
        stop spfed
        network --mode inline --max-regions "$regions"
        FI_LOG_LEVEL=warn FI_LOG_PROV=spfe run ! pingpong
        [[ $output == *"have $regions regions at endpoint 0"* ]]
        [[ $output == *'raise the limit with spfed --max-regions'* ]]
    done
}

@test "eight nodes" {
    stop spfed
    network --mode inline --vcs 32 --max-regions 256
    run -0 --separate-stderr mpi 8 "$dir/token"
    same 'the token passed 8 ranks, whose numbers add up to 28' "$output"
    stop spfed
    network --mode inline
}

@test "NetPIPE checks messages of all lengths" {
    run -0 mpi 2 NPopenmpi -i -n 5 -u 1000000 -o "$dir/np.out"
    [[ $(grep -c 'Integrity check passed' <<<"$output") -ge 36 ]]
}

@test "without the provider MPI does not start" {
    FI_SPFE_DEVICE=unix:$dir/nobody fails mpi 2 "$dir/token"
}

@test "a device without cables between its ports is refused with the remedy" {
    stop spfed
    start spfed "$spfed" --listen "$dir/sock" --mode inline
    wait_until listens "$dir/sock"
    run -61 timeout 10 env FI_LOG_LEVEL=warn fi_info -p spfe
    [[ $output == *'--topology loop'* ]]
}
