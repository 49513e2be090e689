#!/bin/sh
# /usr/local/bin/fieldtrace on a server: runs a command as the service runs, with its settings and as its user.
# Run it as root, who alone can read the settings.
set -a
DATA_DIR=/var/lib/fieldtrace
NODE_COMPILE_CACHE=/var/cache/fieldtrace
. /etc/fieldtrace.env
set +a
cd "$DATA_DIR" && exec runuser -u fieldtrace -- /opt/fieldtrace/node_modules/.bin/fieldtrace "$@"
