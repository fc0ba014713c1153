#!/usr/bin/env node
import { bootstrap } from './bootstrap/bootstrap.mjs';

await bootstrap('services/rtr/main.ts', process.argv.slice(2), { checks: false });
