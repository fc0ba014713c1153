#!/usr/bin/env node
import { isInstalledPackage } from '../../shared/core/installed-package.mjs';
import { bootstrap, root } from './bootstrap/bootstrap.mjs';
import { readDataFolder } from './bootstrap/data-folder.mjs';
import { serviceNodeFlags } from './bootstrap/service-node-flags.mjs';

/** Commands that run a service in this process. `rtr up` starts each service in a process of its own. */
const services = ['ingress', 'worker', 'demo-engine'];
/** Commands of the client, which run on this Node and need no dependencies. */
const clientCommands = ['login', 'logout', 'env', 'token'];

const args = process.argv.slice(2);
const { folder, words } = readDataFolder(root, args, process.env);
const [command = ''] = words;
if (clientCommands.includes(command)) {
  const { runClient } = await import('./client/lib/run-client.mjs');
  process.exitCode = await runClient(words);
} else {
  const file = isInstalledPackage(root) ? 'dist/rtr.mjs' : 'services/rtr/main.ts';
  const nodeFlags = services.includes(command) ? serviceNodeFlags : [];
  await bootstrap(file, args, { checks: false, nodeFlags, folder, probe: 'version' });
}
