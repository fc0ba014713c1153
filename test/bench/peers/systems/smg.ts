import { join } from 'node:path';
import { findFreePort } from '#services/rtr/up/servers/free-port.ts';
import { installOnce } from '../../../helpers/processes/install-once.ts';
import type { BenchFormat } from '../upstream/scenarios.ts';
import { Program } from './program.ts';
import { headersOf, paths, type SystemKind } from './system.ts';

const version = '1.13.0';
const key = 'sk-bench';
let home = '';

const startSeconds = 60;

/** A process serves one format: its backend's. */
const backends: Record<BenchFormat, string> = { chat: 'openai', messages: 'anthropic' };

/** Shepherd Model Gateway, a program in Rust that a Python package starts. */
export const smg: SystemKind = {
  name: 'smg',
  title: 'Shepherd (smg)',
  settings:
    'one process for each format (`--backend openai`, `--backend anthropic`: it translates neither into the other), one key, a log of errors only, any number of requests at once, all else by default; of several upstreams `openai` uses only one, so hung upstreams are not measured',
  socketsPerStream: 2,
  avoidsHungUpstreams: false,

  async install() {
    home = await installOnce(`peers/smg-${version}`, [
      ['python3', '-m', 'venv', '.'],
      ['bin/python', '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `smg==${version}`],
    ]);
    return version;
  },

  async start({ upstreams: [upstream = 0] }) {
    const gateways = { chat: await startGateway('chat', upstream), messages: await startGateway('messages', upstream) };
    const programs = Object.values(gateways).map(({ program }) => program);
    return {
      target: async ({ client, upstream }, access) => {
        if (client !== upstream || access !== 'unlimited') return undefined;
        return { host: '127.0.0.1', port: gateways[client].port, path: paths[client], key, headers: headersOf(client) };
      },
      roots: () => programs.map(({ pid }) => pid),
      stop: async () => {
        await Promise.all(programs.map((program) => program.stop()));
      },
    };
  },
};

async function startGateway(format: BenchFormat, upstream: number): Promise<{ port: number; program: Program }> {
  const [port, metricsPort] = [await findFreePort(), await findFreePort()];
  const relays = ['--backend', backends[format], '--worker-urls', `http://127.0.0.1:${upstream}`];
  const listens = ['--host', '127.0.0.1', '--port', String(port), '--api-key', key];
  const metrics = ['--prometheus-host', '127.0.0.1', '--prometheus-port', String(metricsPort)];
  const settings = ['--log-level', 'error', '--max-concurrent-requests', '0'];
  // The installed script names the folder in which it was installed, which has moved since.
  const script = ['-m', 'smg', 'launch', ...relays, ...listens, ...metrics, ...settings];
  const program = new Program('smg', join(home, 'bin/python'), script);
  await program.untilAnswers(`http://127.0.0.1:${port}/readiness`, startSeconds);
  return { port, program };
}
