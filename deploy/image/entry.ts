import { serviceNodeFlags } from '../../services/rtr/service-node-flags.ts';

/*
 * Prints the image's entry point: one process, so that it hears the signals itself, with the flags that `rtr up` gives its
 * services too.
 */

process.stdout.write(`#!/bin/sh
exec node ${serviceNodeFlags.join(' ')} /app/services/rtr/main.ts "$@"
`);
