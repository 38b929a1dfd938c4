# shellcheck shell=sh disable=SC2154,SC2317 # sourced after lib.sh; check runs functions
# The kernel goes to sleep as far as pm_test says, and wakes up; at the end with traffic. Afterwards
# the devices work. The machine itself does not sleep, so the devices keep their power.
load_driver 2
# rests DEPTH: sleeps as deeply as pm_test says, and wakes up again.
rests() {
    echo "$1" >/sys/power/pm_test || return
    echo mem >/sys/power/state
}

echo 1 >/sys/module/suspend/parameters/pm_test_delay
for depth in freezer devices platform; do
    check "sleep of the $depth" rests $depth
    check "awake after sleep of the $depth: packets flow" within 60 works
done
check 'packets flow' traffic
check 'sleep of the devices under traffic' rests devices
killall -9 packets
check 'the program ends' within 60 test -s /tmp/traffic.code
check 'packets flow after that' within 60 works
unload_driver
exit "$failed"
