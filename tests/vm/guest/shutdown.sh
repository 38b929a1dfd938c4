# shellcheck shell=sh disable=SC2154 # sourced after lib.sh
# The machine goes down under traffic. vm.bats looks at what the driver and the device model say.
load_driver 2
check 'packets flow' traffic
exit "$failed"
