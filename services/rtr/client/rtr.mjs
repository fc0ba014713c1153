#!/usr/bin/env node
import { runClient } from './lib/run-client.mjs';

// Not `process.exit`, which could cut off what is still being written.
process.exitCode = await runClient(process.argv.slice(2));
