import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/*
 * Starts every component once without servers, and stops it. When a process exits normally, Node writes its compiled code to
 * NODE_COMPILE_CACHE. If a component cannot be loaded, the build of the image fails.
 */

/**
 * Milliseconds after which a component is stopped. By then it has loaded all modules. It would try to reach a broker for 30 s.
 */
const runMs = 4_000;
const unreachableServers = { NATS_URL: 'nats://127.0.0.1:9', REDIS_URL: 'redis://127.0.0.1:9', LOG_LEVEL: 'error' };
const components = [
  { args: ['ingress'] },
  { args: ['worker', 'gpu'], env: { ENGINE_URL: 'http://127.0.0.1:9' } },
  {
    args: ['worker', 'cloud'],
    env: { PROVIDER: 'openai', OPENAI_API_KEY: 'none', PROVIDER_URL: 'http://127.0.0.1:9' },
  },
  { args: ['worker', 'cli'], env: { CLI_KIND: 'command', CLI_COMMAND: 'cat', CLI_MODELS: 'cat' } },
  { args: ['worker', 'tools'] },
  { args: ['demo-engine'] },
  { args: ['version'] },
];

for (const { args, env } of components) {
  const child = spawn('rtr', args, { env: { ...process.env, ...unreachableServers, ...env }, stdio: 'inherit' });
  const ended = once(child, 'exit');
  const earlyExit = await Promise.race([ended, sleep(runMs)]);
  if (earlyExit && earlyExit[0] !== 0) throw new Error(`rtr ${args.join(' ')} ended with code ${earlyExit[0]}`);
  child.kill('SIGTERM');
  await ended;
}
