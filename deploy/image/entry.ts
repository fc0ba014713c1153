import { serviceNodeFlags } from '../../services/rtr/bootstrap/service-node-flags.mjs';

/*
 * Prints the script that is the image's entry point. The script replaces itself with Node, so Node receives all signals. Node runs with the
 * flags that `rtr up` gives its services.
 */

process.stdout.write(`#!/bin/sh
exec node ${serviceNodeFlags.join(' ')} /app/dist/rtr.mjs "$@"
`);
