import { serviceNodeFlags } from '../../services/rtr/service-node-flags.ts';

/*
 * Prints the image's entry point: one process, so that it hears the signals itself, with the flags that `rtr up` gives its
 * services too.
 */

process.stdout.write(`#!/bin/sh
[ -z "\${NATS_URL_FILE:-}" ] || export NATS_URL="$(cat "$NATS_URL_FILE")"
[ -z "\${REDIS_URL_FILE:-}" ] || export REDIS_URL="$(cat "$REDIS_URL_FILE")"
exec node ${serviceNodeFlags.join(' ')} /app/services/rtr/main.ts "$@"
`);
