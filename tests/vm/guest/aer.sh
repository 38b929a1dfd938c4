# shellcheck shell=sh disable=SC2154,SC2317 # sourced after lib.sh; check runs functions
# Errors of the bus: what a device corrected must disturb nobody, and after a fatal error the driver
# must bring the device back.
[ -e /dev/aer_inject ] || check 'the kernel can inject errors' insmod /lib/spfe/aer_inject.ko
load_driver 2
bus=$(address 0)
inject() { aer_inject "$bus" "$1"; }
# says TEXT [TIMES]: the kernel prints this.
says() { within 30 said "$@"; }
said() { [ "$(dmesg | grep -c "$1")" -ge "${2:-1}" ]; }
works_on() { fails test -s /tmp/traffic.code; }

check 'packets flow' traffic
check 'a corrected error is injected' inject correctable
check 'the kernel reports it' says 'AER: Corrected error'
check 'a nonfatal error is injected' inject nonfatal
check 'the kernel reports it' says 'AER: Uncorrected (Non-Fatal) error'
check 'the kernel has recovered' says 'AER: device recovery successful'
check 'the program did not notice' works_on
check 'the device works' grep -q working /sys/class/spfe/spfe0/state
check 'a fatal error is injected' inject fatal
check 'the driver is told of it' says 'stopped: PCI error'
check 'the program gets an error' ends 3
check 'the driver brings the device back' says 'works again'
check 'the kernel has recovered again' says 'AER: device recovery successful' 2
check 'packets flow again' within 60 works
unload_driver
exit "$failed"
