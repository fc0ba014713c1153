import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Releases } from '#shared/core/release.ts';
import { ensureServers } from '#services/rtr/up/servers/install-server.ts';
import type { LoadTarget } from '../../load/load.ts';
import { partStarter, slotsPerWorker, startCore } from '../../cluster/start-core.ts';
import type { Part } from '../../cluster/start-part.ts';
import { say, startBenchNats, startBenchRedis } from '../../cluster/start-servers.ts';
import { customProvider } from '../../../helpers/cluster/worker-settings.ts';
import { modelsOf, type BenchFormat } from '../upstream/scenarios.ts';
import { RtrKeys } from './rtr-keys.ts';
import { hungAfterMs, headersOf, type Access, type Route, type StartOptions, type SystemKind } from './system.ts';

const run = promisify(execFile);
const prefix = 'bench';
const hungAfter = String(hungAfterMs);
const clientPaths: Record<BenchFormat, string> = {
  chat: '/api/openai/v1/chat/completions',
  messages: '/api/anthropic/v1/messages',
};

/** This project: one ingress, NATS, Redis and one worker, all of which are counted. */
export const rtr: SystemKind = {
  name: 'rtr',
  title: 'Model Router',
  settings:
    'one ingress, one worker, NATS and Redis, all with their defaults and all counted; the key is verified, logs at `info` go to files, every request is in the ledger; of several upstreams one without a byte for two seconds is left',
  socketsPerStream: 1,
  avoidsHungUpstreams: true,

  async install() {
    await ensureServers(['nats', 'redis'], process.env, say);
    const { stdout } = await run('git', ['rev-parse', '--short', 'HEAD'], { cwd: import.meta.dirname });
    return `commit ${stdout.trim()}`;
  },

  async start(options) {
    const releases = new Releases();
    try {
      return await startRtr(options, releases);
    } catch (error) {
      await releases.releaseAll();
      throw error;
    }
  },
};

async function startRtr({ upstreams, folder, streams }: StartOptions, releases: Releases) {
  mkdirSync(folder, { recursive: true });
  const nats = await startBenchNats(folder, releases);
  const redis = await startBenchRedis(folder, releases);
  const keys = await RtrKeys.open(redis.url, prefix);
  releases.add('keys', () => keys.close());
  const start = partStarter(folder, releases);
  const core = await startCore(start, { nats, redis, prefix, ingress: { ROUTER_CONFIG: writePrices(folder) } });
  const { port, untilWorkers } = core;
  const parts: Part[] = [core.ingress];
  const slots = String(Math.max(slotsPerWorker, Math.ceil((streams * 1.02) / upstreams.length)));
  const leaves = upstreams.length > 1 && { FIRST_TOKEN_TIMEOUT_MS: hungAfter, IDLE_TIMEOUT_MS: hungAfter };
  for (const [at, upstream] of upstreams.entries())
    parts.push(core.startWorker(`gpu-worker-${at}`, upstream, { SLOTS: slots, ...leaves }));
  await untilWorkers('gpu', upstreams.length);
  let hasCloud = false;
  const startCloud = async (): Promise<void> => {
    if (hasCloud) return;
    hasCloud = true;
    const settings = {
      ...core.common,
      ...customProvider(`http://127.0.0.1:${upstreams[0]}`, 'messages'),
      PROVIDER_MODELS: modelsOf('messages').join(','),
      SLOTS: String(slotsPerWorker),
    };
    parts.push(start('cloud-worker', 'services/cloud-worker/main.ts', settings));
    await untilWorkers('cloud', 1);
  };
  return {
    target: async ({ client, upstream }: Route, access: Access): Promise<LoadTarget> => {
      if (upstream === 'messages') await startCloud();
      const key = await keys.keyFor(access);
      return { host: '127.0.0.1', port, path: clientPaths[client], key, headers: headersOf(client) };
    },
    roots: () => [nats.pid, redis.pid, ...parts.map(({ pid }) => pid)],
    makeKeys: (count: number) => keys.makeMany(count),
    stop: async () => {
      const failures = await releases.releaseAll();
      if (failures[0]) throw failures[0];
    },
  };
}

/** Writes prices, because budgets count only models with a price. */
function writePrices(folder: string): string {
  const price = { input: 1, output: 2 };
  const models = [...modelsOf('chat'), ...modelsOf('messages')];
  const file = join(folder, 'router.yaml');
  writeFileSync(file, JSON.stringify({ prices: Object.fromEntries(models.map((model) => [model, price])) }));
  return file;
}
