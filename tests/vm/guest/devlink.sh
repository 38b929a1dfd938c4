# shellcheck shell=sh disable=SC2154,SC2317 # sourced after lib.sh; check runs functions
# The interfaces for administrators: devlink (info, health, reload) and ethtool.
asked() { devlink_ask "$device" "$@" >/tmp/asked; }
says() { cat /tmp/asked && grep -q "^$1\$" /tmp/asked; }
# resets: prints how often the device has been reset.
resets() { devlink_ask "$device" diagnose | sed -n 's/^resets: //p'; }

load_driver 2
device=pci/$(address 0)
check 'info is available' asked info
check 'info: driver' says 'driver: spfe'
check 'info: version of the contract' says 'contract: 1\.[0-9]*'
check 'health is available' asked health
check 'health: there is a reporter' says 'reporter: device'
check 'health: nothing has failed' says 'state: healthy'
check 'health: no failure is counted' says 'errors: 0'
check 'diagnosis is available' asked diagnose
check 'diagnosis: the device works' says 'state: working'
check 'info of a device that does not exist is refused' fails devlink_ask pci/none info
nobody() { su -s /bin/sh nobody -c "/usr/local/bin/devlink_ask $device $1"; }
check 'everybody may read info' nobody info
check 'only an administrator may reload' fails nobody reload

check 'packets flow' traffic
check 'dump is available' asked dump
check 'dump: has the transmit queue' says 'queue: 0'
check 'dump: the queue is enabled' says 'state: 1'
before=$(resets)
check 'reload succeeds' asked reload
check 'reload: the client gets an error' ends 3
check 'reload: the device was reset once' test "$(resets)" = $((before + 1))
check 'reload: packets flow again' within 60 works
check 'a dump stays until it is cleared' sh -c "devlink_ask $device dump | grep -q '^queue: 0'"
check 'the dump is cleared' asked clear
check 'a new dump has no queue' sh -c "! devlink_ask $device dump | grep -q '^queue: 0'"
before=$(resets)
check 'recovery of a healthy device succeeds' asked recover
check 'recovery: the device was not reset' test "$(resets)" = "$before"

ethtool -i spfe0 >/tmp/asked
check 'ethtool: driver' says 'driver: spfe'
check 'ethtool: bus address' says "bus-info: ${device#pci/}"
ip link set spfe0 up
ethtool spfe0 >/tmp/asked 2>&1
check 'ethtool: duplex' says '.*Duplex: Full'
check 'ethtool: speed of a link without a rate' says '.*Speed: Unknown!'
linked() { ethtool spfe0 >/tmp/asked 2>&1 && says '.*Link detected: yes'; }
check 'ethtool: link' within 20 linked
ip link set spfe0 down
unload_driver
exit "$failed"
