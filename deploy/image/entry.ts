import { serviceNodeFlags } from '../../services/rtr/bootstrap/service-node-flags.mjs';

/*
 * Prints the image's entry point: a single process, which receives the signals itself, with the Node flags that `rtr up` gives
 * its services.
 */

process.stdout.write(`#!/bin/sh
exec node ${serviceNodeFlags.join(' ')} /app/services/rtr/main.ts "$@"
`);
