#!/usr/bin/env bats
# The C interface: the suite and the examples, with two compilers, shared and static.

load lib/common

spfed=$SPFE_PROGRAMS/spfed

teardown_file() { stop_all; }

setup_file() {
    dir=$BATS_FILE_TMPDIR/c
    export dir PKG_CONFIG_PATH=$dir/lib/pkgconfig LD_LIBRARY_PATH=$dir/lib
    built "$spfed"
    tools/capi.sh "$dir"
}

# suite NAME COMPILER OPTION...: compiles and runs the suite.
suite() {
    local out=$dir/$1 log=$dir/$1.tap
    shift
    # shellcheck disable=SC2046 # several options
    "$@" -Wall -Wextra -Wpedantic -Werror -o "$out" tests/c/suite/*.c \
        $(pkg-config --cflags spfe) "${libs[@]}" -pthread
    timeout --kill-after=5 120 "$out" >"$log" || {
        cat "$log"
        return 1
    }
    ! grep '^not ok' "$log"
    grep -qx '1..24' "$log"
}

shared() { libs=(-L"$dir/lib" -lspfe); }
static() { libs=("$dir/lib/libspfe.a" -lgcc_s -lm); }

@test "gcc, shared library" {
    shared
    suite gcc-shared gcc -std=c11
    ldd "$dir/gcc-shared" | grep -q 'libspfe.so.1 => '
}

@test "gcc, static library, AddressSanitizer" {
    static
    suite gcc-asan gcc -std=c11 -g -fsanitize=address,undefined -fno-sanitize-recover=all
}

# inline_functions NAME TESTS: the tests of a file of inline functions, with both compilers, with
# AddressSanitizer, and with devices that sleep.
inline_functions() {
    local sanitize='-fsanitize=address,undefined -fno-sanitize-recover=all' mode
    local words=(-std=c11 -D_DEFAULT_SOURCE -Wall -Wextra -Wpedantic -Werror -Iinclude
        -o "$dir/$1" "tests/c/$1.c" "$dir/lib/libspfe.a" -pthread -lgcc_s -lm)
    # shellcheck disable=SC2086 # several options
    gcc -g $sanitize "${words[@]}"
    timeout --kill-after=5 120 "$dir/$1" >"$dir/$1.tap"
    forward "$dir/$1.tap"
    grep -qx "1..$2" "$dir/$1.tap"
    # In mode thread the inline functions ring doorbells; no engine runs in the program.
    for mode in thread inline; do
        start "spfed-$mode" "$spfed" --listen "$dir/$mode" --mode "$mode"
        wait_until listens "$dir/$mode"
        timeout --kill-after=5 120 "$dir/$1" "unix:$dir/$mode/0" "unix:$dir/$mode/1" >"$dir/$1.tap"
        run ! grep '^not ok' "$dir/$1.tap"
        stop "spfed-$mode"
    done
    command -v clang >/dev/null || return 0
    clang -O2 "${words[@]}"
    timeout --kill-after=5 120 "$dir/$1" >"$dir/$1.tap"
    run ! grep '^not ok' "$dir/$1.tap"
}

@test "inline functions of pooled queues" {
    inline_functions fast 8
}

@test "inline functions of posted and packed queues" {
    inline_functions fast_posted 9
}

@test "captures" {
    start spfed "$spfed" --listen "$dir/sock" --mode thread
    wait_until listens "$dir/sock"
    # shellcheck disable=SC2046 # several options
    gcc -std=c11 -D_DEFAULT_SOURCE -g -fsanitize=address,undefined -fno-sanitize-recover=all -Wall \
        -Wextra -Werror -Iinclude -o "$dir/capture" tests/c/capture.c "$dir/lib/libspfe.a" \
        -pthread -lgcc_s -lm
    run -0 timeout 60 "$dir/capture" "unix:$dir/sock" "$dir/capture.pcapng"
    [[ $output == 'records: '[1-9]* ]]
    stop spfed
}

@test "the headers compile with musl" {
    command -v musl-gcc >/dev/null || skip 'musl-tools is not installed'
    local file
    for file in tests/c/{fast,fast_posted,suite/queues}.c; do
        musl-gcc -std=c11 -D_DEFAULT_SOURCE -Wall -Wextra -Wpedantic -Werror -Iinclude -c \
            -o "$dir/musl.o" "$file"
    done
}

@test "clang" {
    command -v clang >/dev/null || skip 'clang is not installed'
    shared
    suite clang clang -std=c11
}

# cpp NAME COMPILER OPTION...: compiles and runs the tests of the C++ wrappers.
cpp() {
    local out=$dir/$1
    shift
    # shellcheck disable=SC2046 # several options
    "$@" -std=c++17 -Wall -Wextra -Wpedantic -Werror -o "$out" tests/c/cpp.cc \
        $(pkg-config --cflags spfe) "${libs[@]}"
    timeout --kill-after=5 60 "$out" >"$out.tap" || {
        cat "$out.tap"
        return 1
    }
    ! grep '^not ok' "$out.tap"
    grep -qx '1..18' "$out.tap"
}

@test "C++17, g++, AddressSanitizer" {
    static
    cpp cpp-gcc g++ -g -fsanitize=address,undefined -fno-sanitize-recover=all
}

@test "C++17, clang++" {
    command -v clang++ >/dev/null || skip 'clang++ is not installed'
    shared
    cpp cpp-clang clang++
}

@test "the binary interface only grows, and header and library agree" {
    tools/c_abi.py check --library "$dir/lib/libspfe.so"
    ! command -v clang >/dev/null || tools/c_abi.py check --compiler clang
    [[ $(grep -c ^function packaging/c/abi.txt) -gt 40 ]]
}

@test "every function has a manual page" {
    local page
    tools/c_man.py "$dir/man" 2026-01-31
    (($(find "$dir/man" -name '*.3' | wc -l) > 100))
    command -v man >/dev/null || skip 'man is not installed'
    for page in "$dir"/man/*.3; do
        ! grep -q '^\.so ' "$page" || continue
        man --warnings -E UTF-8 -l "$page" >"$dir/page" 2>>"$dir/warnings"
    done
    [[ ! -s $dir/warnings ]]
}

@test "the program in docs/c.md" {
    # shellcheck disable=SC2016 # the backquotes are those of Markdown
    sed -n '/^```c$/,/^```$/{/^```/d;p}' docs/c.md >"$dir/printed.c"
    shared
    # shellcheck disable=SC2046
    gcc -std=c11 -Wall -Wextra -Werror -o "$dir/printed" "$dir/printed.c" \
        $(pkg-config --cflags --libs spfe)
    run -0 "$dir/printed"
    [[ $output == 'received: from here to there' ]]
}

@test "the C++ program in docs/c.md" {
    # shellcheck disable=SC2016 # the backquotes are those of Markdown
    sed -n '/^```cpp$/,/^```$/{/^```/d;p}' docs/c.md >"$dir/printed.cc"
    # shellcheck disable=SC2046
    g++ -std=c++17 -Wall -Wextra -Werror -o "$dir/printed-cpp" "$dir/printed.cc" \
        $(pkg-config --cflags --libs spfe)
    run -0 "$dir/printed-cpp"
    [[ $output == 'received: from here to there' ]]
}

@test "the program in docs/faces.md" {
    # shellcheck disable=SC2016 # the backquotes are those of Markdown
    sed -n '/^```c$/,/^```$/{/^```/d;p}' docs/faces.md >"$dir/group.c"
    [[ $(wc -l <"$dir/group.c") -le 30 ]]
    shared
    # shellcheck disable=SC2046
    gcc -std=c11 -Wall -Wextra -Werror -o "$dir/group" "$dir/group.c" \
        $(pkg-config --cflags --libs spfe)
    run -0 "$dir/group"
    [[ $output == '16000 bytes in a group' ]]
}

@test "the examples" {
    make --no-print-directory -s -C examples/c OUT="$dir/examples" CFLAGS='-O2 -Wall -Wextra -Werror'
    run -0 "$dir/examples/hello"
    [[ $output == 'received: from here to there' ]]
    run -0 "$dir/examples/grouped_send"
    [[ $output == '16000 packets in groups of 16' ]]
    run -0 timeout 60 "$dir/examples/epoll_loop"
    [[ $output == '2000 packets on 4 virtual channels, '*' waits' ]]
    run -0 "$dir/examples/remote_memory"
    [[ $output == *'read back: from here to there'* && $output == *'RMAP_REFUSED: RMAP read of 4 bytes'* ]]
    run -0 timeout 60 "$dir/examples/broadcast_ping"
    [[ $output == '1000 messages there and back: '* ]]
    run -0 timeout 60 "$dir/examples/threshold_receive"
    [[ $output == '1024 slots: '*'4096 slots: '* ]]
    run -0 timeout 60 "$dir/examples/round_trip"
    [[ $output == 'poll: 10000 round trips'*'block: 10000 round trips'* ]]
    run -1 "$dir/examples/hello" nonsense
    [[ $output == *"device 'nonsense'"* ]]
}
