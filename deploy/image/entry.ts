import { serviceNodeFlags } from '../../services/rtr/bootstrap/service-node-flags.mjs';

/*
 * Prints the script that is the image's entry point. It becomes a single process, which receives the signals itself, and has the Node flags
 * that `rtr up` gives its services.
 */

process.stdout.write(`#!/bin/sh
exec node ${serviceNodeFlags.join(' ')} /app/dist/rtr.mjs "$@"
`);
