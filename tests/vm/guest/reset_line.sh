# shellcheck shell=sh disable=SC2034,SC2154,SC2317 # sourced after lib.sh; check runs functions
# Platform devices with a reset line. A failed device is held in reset, so its memory is free at once,
# and releasing the line is a reset that helps a device which takes no commands.
platform=1
shim='resets=1'
load_driver 2
held() { [ "$(cat /sys/module/spfe_shim/parameters/asserted)" = "$1" ]; }
beats() { echo "$1" >/sys/module/spfe/parameters/heartbeat_ms; }
fails_now() { beats 1 && within 60 grep -q failed /sys/class/spfe/spfe0/state; }
fails_both() { fails_now && within 60 grep -q failed /sys/class/spfe/spfe1/state; }
unused() { cat /sys/kernel/debug/spfe/spfe*/usage | fails grep -qv ' 0$'; }
reset_both() {
    devlink_ask "platform/$(address 0)" reload && devlink_ask "platform/$(address 1)" reload
}
check 'the driver has released the devices' held 0
check 'packets flow' traffic
check 'the devices fail' fails_both
check 'they are held in reset' held 2
check 'the program gets an error' ends 3
check 'no memory is kept' within 30 unused
beats 3000
check 'a reset succeeds' within 60 reset_both
check 'the devices are released' held 0
check 'packets flow after that' works
check 'the driver unloads' rmmod spfe
check 'the devices are left in reset' held 2
check 'the driver loads again' insmod /lib/spfe/spfe.ko
check 'packets flow again' within 60 works
unload_driver
exit "$failed"
