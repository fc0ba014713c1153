#!/usr/bin/env node
import { bootstrap } from './bootstrap/bootstrap.mjs';
import { serviceNodeFlags } from './bootstrap/service-node-flags.mjs';

/** Commands that run a service in this process. `rtr up` starts each service in a process of its own. */
const services = ['ingress', 'worker', 'demo-engine'];

const args = process.argv.slice(2);
const nodeFlags = services.includes(args[0] ?? '') ? serviceNodeFlags : [];
await bootstrap('services/rtr/main.ts', args, { checks: false, nodeFlags, probe: 'version' });
