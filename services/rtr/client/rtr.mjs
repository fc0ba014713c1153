#!/usr/bin/env node
import { runClient } from './lib/run-client.mjs';

// `process.exit` is not used, because it could cut off output that is still being written.
process.exitCode = await runClient(process.argv.slice(2));
