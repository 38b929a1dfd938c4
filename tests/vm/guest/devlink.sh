# shellcheck shell=sh disable=SC2154,SC2317 # sourced after lib.sh; check runs functions
# What an administrator has: devlink (info, health, reload) and ethtool.
asked() { devlink_ask "$device" "$@" >/tmp/asked; }
says() { cat /tmp/asked && grep -q "^$1\$" /tmp/asked; }
# resets: how often the device was reset, by its own count.
resets() { devlink_ask "$device" diagnose | sed -n 's/^resets: //p'; }

load_driver 2
device=pci/$(address 0)
check 'info' asked info
check 'info: driver' says 'driver: spfe'
check 'info: version of the contract' says 'contract: 1\.[0-9]*'
check 'health' asked health
check 'health: the reporter' says 'reporter: device'
check 'health: nothing has failed' says 'state: healthy'
check 'health: no failure is counted' says 'errors: 0'
check 'diagnosis' asked diagnose
check 'diagnosis: it works' says 'state: working'
check 'a device that is not there' fails devlink_ask pci/none info
nobody() { su -s /bin/sh nobody -c "/usr/local/bin/devlink_ask $device $1"; }
check 'info for everybody' nobody info
check 'reload by an administrator only' fails nobody reload

check 'packets flow' traffic
check 'dump' asked dump
check 'dump: the queue that sends' says 'queue: 0'
check 'dump: it is enabled' says 'state: 1'
before=$(resets)
check 'reload' asked reload
check 'reload: its user is told' ends 3
check 'reload: the device was reset once' test "$(resets)" = $((before + 1))
check 'reload: packets' within 60 works
check 'a dump stays until it is cleared' sh -c "devlink_ask $device dump | grep -q '^queue: 0'"
check 'it is cleared' asked clear
check 'dump: no queue' sh -c "! devlink_ask $device dump | grep -q '^queue: 0'"
before=$(resets)
check 'recovery of what has not failed' asked recover
check 'recovery: nothing was done' test "$(resets)" = "$before"

ethtool -i spfe0 >/tmp/asked
check 'ethtool: driver' says 'driver: spfe'
check 'ethtool: place' says "bus-info: ${device#pci/}"
ip link set spfe0 up
ethtool spfe0 >/tmp/asked 2>&1
check 'ethtool: duplex' says '.*Duplex: Full'
check 'ethtool: speed of a link without a rate' says '.*Speed: Unknown!'
linked() { ethtool spfe0 >/tmp/asked 2>&1 && says '.*Link detected: yes'; }
check 'ethtool: link' within 20 linked
ip link set spfe0 down
unload_driver
exit "$failed"
