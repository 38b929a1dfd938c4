# shellcheck shell=sh disable=SC2154,SC2317 # sourced after lib.sh; check runs functions
# The kernel goes to sleep as far as pm_test says, and wakes up; at the end with traffic. Afterwards
# the devices work. The machine itself does not sleep, so the devices keep their power, but the driver
# must stop them and start them again.
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
check 'the program is told that the device was reset' ends 3
check 'packets flow after that' within 60 works
ip link set spfe0 up
carrier() { [ "$(cat /sys/class/net/spfe0/carrier)" = 1 ]; }
check 'carrier' within 30 carrier
check 'sleep of the devices with the interface up' rests devices
check 'carrier after that' within 30 carrier
ip link set spfe0 down
unload_driver
exit "$failed"
