import { serviceNodeFlags } from '../../services/rtr/bootstrap/service-node-flags.mjs';

/*
 * Prints the image's entry point: one process, so that it hears the signals itself, with the flags that `rtr up` gives its
 * services too.
 */

process.stdout.write(`#!/bin/sh
exec node ${serviceNodeFlags.join(' ')} /app/services/rtr/main.ts "$@"
`);
