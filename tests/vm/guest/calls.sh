# shellcheck shell=sh disable=SC2154,SC2317 # sourced after lib.sh; check runs functions
# Every call of the driver with valid and invalid arguments, and its other interfaces.
load_driver 2
calls /dev/spfe0 || failed=1
pairs /dev/spfe0 || failed=1
shows() { grep -q "$2" "/sys/class/spfe/spfe0/$1"; }
check 'contract version' shows contract_version '^1\.'
check 'state' shows state '^working$'
check 'port' shows port0/state '^\(up\|down\|starting\)$'
check 'lanes' shows port0/lanes '^[0-9]*$'
debug=/sys/kernel/debug/spfe/spfe0
for file in registers queues regions vectors usage; do
    check "debugfs: $file" cat "$debug/$file"
done
check 'no live object is left' fails grep -qv ' 0$' "$debug/usage"
event=tracing/events/spfe/spfe_command
check 'tracepoints' test -e "/sys/kernel/$event" -o -e "/sys/kernel/debug/$event"
unload_driver
exit "$failed"
