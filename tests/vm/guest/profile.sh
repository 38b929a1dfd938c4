# shellcheck shell=sh
# What a shell on the console starts with: the driver.
insmod /lib/spfe/spfe.ko
ls /dev/spfe*
