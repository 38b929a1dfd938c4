# shellcheck shell=sh
# Profile of the shell on the console: loads the driver.
insmod /lib/spfe/spfe.ko
ls /dev/spfe*
