# shellcheck shell=sh disable=SC2154,SC2317 # sourced after lib.sh; check runs functions
# The machine sleeps under traffic: first only its devices, then all of it, which powers the devices
# off. Clients either go on or get an error; afterwards the devices work.
load_driver 2
# rests DEPTH: sleeps as deeply as pm_test says, and wakes up again.
rests() {
    echo "$1" >/sys/power/pm_test || return
    echo mem >/sys/power/state
}
sleeps() {
    echo none >/sys/power/pm_test
    # The real-time clock wakes the machine up.
    echo +3 >/sys/class/rtc/rtc0/wakealarm && echo mem >/sys/power/state
}
slept() { dmesg | grep -q 'PM: suspend exit'; }

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
check 'sleep of the whole machine' sleeps
check 'the machine slept' slept
check 'awake: packets flow' within 60 works
unload_driver
exit "$failed"
