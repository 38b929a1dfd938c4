# shellcheck shell=sh disable=SC2154 # sourced after lib.sh
# One end of a transfer between two machines.
#
#   one_way.sh send|receive COUNT
load_driver 1
case $1 in
send) check "$2 packets sent" packets /dev/spfe0:0:0 - "count=$2" how=wait ;;
receive)
    echo '# ready'
    check "$2 packets received" packets - /dev/spfe0:0:0 "count=$2" how=wait
    ;;
esac
unload_driver
exit "$failed"
