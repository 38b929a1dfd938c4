# shellcheck shell=sh disable=SC2016,SC2154,SC2317 # awk; sourced after lib.sh; check runs functions
# `spfe perf` between two joined devices: its output, not its speed.

# Every row of the four scenarios has a rate. The device runs outside of this machine, so its load
# is an empty field and not 0.
rows() {
    awk -F '\t' '
        /^#/ { next } # facts about the machine
        !head++ { for (i = 1; i <= NF; i++) column[$i] = i; next }
        { rows++ }
        !($column["rate_gbps"] > 0) || $column["device_cpu_pct"] != "" {
            bad = 1
            print "row " NR ": " $0
        }
        END { print rows " rows"; exit bad || rows != 36 }' /tmp/tables.tsv
}
quick() { spfe perf tables --quick --published --tsv --ends /dev/spfe0,/dev/spfe1 >/tmp/tables.tsv; }
two() {
    spfe perf "$@" --size-min 1K --size-max 1K --seconds 0.2 \
        --ends /dev/spfe0,/dev/spfe1 >/tmp/two &&
        grep -q '^Note: device load and sum: not measured' /tmp/two &&
        sed -n '/Gbit\/s/,$p' /tmp/two
}

load_driver 2
check 'spfe perf tables' quick
check 'every row has a rate, none a device load' rows
check 'packets of random sizes are checked' two random --direction both
check 'the far end in another process' two latency --check --processes 2
check 'perf with one end only is refused' fails spfe perf rate --ends /dev/spfe0
check 'no queue is left' grep -q '^queues 0' /sys/kernel/debug/spfe/spfe0/usage
unload_driver
exit "$failed"
