# shellcheck shell=sh disable=SC2154 # sourced after lib.sh
# The device goes away under traffic; the machine outside does it when it is told to.
#
#   lost.sh [back]      back: it comes back
load_driver 2
check 'packets flow' traffic
echo '# take it away'
check 'its user is told' ends 3
if [ "${1:-}" = back ]; then
    echo '# bring it back'
    check 'device 0 is found again' slot 0
    check 'device 1 is found again' slot 1
    check 'packets' within 60 works
fi
unload_driver
exit "$failed"
