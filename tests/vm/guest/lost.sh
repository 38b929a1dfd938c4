# shellcheck shell=sh disable=SC2154 # sourced after lib.sh
# The device goes away under traffic. The test outside removes it when it reads our comment.
#
#   lost.sh [back]      back: the device returns afterwards
load_driver 2
check 'packets flow' traffic
echo '# take it away'
check 'the client gets an error' ends 3
if [ "${1:-}" = back ]; then
    echo '# bring it back'
    check 'device 0 is found again' slot 0
    check 'device 1 is found again' slot 1
    check 'packets flow again' within 60 works
fi
unload_driver
exit "$failed"
