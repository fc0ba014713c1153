#!/usr/bin/env node
import { runClient } from './lib/run-client.mjs';

// Not `process.exit`, which could cut off output that is still being written.
process.exitCode = await runClient(process.argv.slice(2));
