#!/bin/sh
# Runs a command with a /run and a /var/log of its own, in which servers find their directories.
#
#   unshare --mount tests/lib/private.sh COMMAND...
set -eu
mount -t tmpfs none /run
mount -t tmpfs none /var/log
mkdir -m 755 /run/sshd /run/ganesha /run/rpcbind
exec "$@"
