import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKey } from '#shared/accounts/keys/create-key.ts';
import { KeyStore } from '#shared/accounts/keys/key-store.ts';
import { LimitKeeper } from '#shared/accounts/limits/limit-keeper.ts';
import type { Limits } from '#shared/accounts/limits/limits.ts';
import { connectRedis } from '#shared/store/redis/connect-redis.ts';
import { demoEngineSettings } from '#services/demo-engine/config.ts';
import { startDemoEngine } from '#services/demo-engine/start-demo-engine.ts';
import { findFreePort } from '#services/rtr/up/servers/free-port.ts';
import { startNatsCluster } from '../../helpers/servers/start-nats-cluster.ts';
import { startPausableProxy, type PausableProxy } from '../../helpers/servers/pausable-proxy.ts';
import { startRedisPair } from '../../helpers/servers/start-redis-pair.ts';
import { silentLog } from '../../helpers/silent-log.ts';
import { until } from '../../helpers/until.ts';
import { startEngineFront, type EngineFront } from '../faults/engine-front.ts';
import { startSmallDisks } from '../faults/small-disks.ts';
import type { PoisonDeath } from '../oracle/judge-poison.ts';
import { startPart, type Part } from './part.ts';

/** A component, its link to NATS, and, for an ingress, its address. */
export interface Linked {
  part: Part;
  link: PausableProxy;
}

export interface ChaosClusterOptions {
  /** Number of batch runners. Default none. */
  runners?: number;
  /** Whether servers write to small disks. Default true. */
  smallDisks?: boolean;
  /** Further environment of every component. */
  environment?: Record<string, string>;
}

const workerCount = 4;
const natsNames = ['one', 'two', 'three'];

const tool = (file: string): string => `
  import { appendFileSync } from 'node:fs';
  import { setTimeout as sleep } from 'node:timers/promises';
  import { defineTool, z } from 'model-router/tool';
  const input = z.object({ id: z.string(), ms: z.number() });
  export const tool = defineTool({
    name: 'mark',
    description: 'Notes that it ran.',
    input,
    run: async ({ id, ms }: z.output<typeof input>) => {
      appendFileSync(${JSON.stringify(file)}, id + '\\n');
      await sleep(ms);
      return 'ran ' + id;
    },
  });`;

/** Starts the cluster and waits until both ingress nodes serve. */
export async function startChaosCluster(options: ChaosClusterOptions = {}) {
  const releases: (() => Promise<void> | void)[] = [];
  const stop = async (): Promise<void> => {
    for (const release of releases.toReversed()) await release();
  };
  try {
    const folder = mkdtempSync(join(tmpdir(), 'rtr-chaos-'));
    releases.push(() => rmSync(folder, { recursive: true, force: true }));
    const executed = join(folder, 'executed');
    writeFileSync(executed, '');
    const { smallDisks = true } = options;
    const small = [...natsNames, 'primary', 'replica'];
    const disks = smallDisks ? await startSmallDisks(join(folder, 'disks'), small) : undefined;
    releases.push(() => disks?.stop());
    // Servers must not announce each other to clients: everything must pass through the links.
    const nats = await startNatsCluster({ config: ['no_advertise: true'], disks });
    releases.push(() => nats.stop());
    const redis = await startRedisPair(
      disks && { primary: disks.folderOf('primary'), replica: disks.folderOf('replica'), enter: disks.enter },
    );
    releases.push(() => redis.stop());
    const prefix = `t${randomBytes(6).toString('hex')}`;
    const accounts = connectRedis(redis.url, { log: silentLog, name: 'test' });
    releases.push(() => accounts.close());
    await accounts.whenReady(AbortSignal.timeout(30_000));
    const store = new KeyStore(accounts.redis, `${prefix}:`);
    const addKey = (settings: { limits?: Limits }) =>
      createKey(store, { kind: 'router', name: 'chaos', class: 'normal', ...settings });
    const tokensPerDay = 1_000_000_000;
    const limited = [{ concurrentRequests: 100_000, tokensPerDay }, { tokensPerDay }];
    const [concurrent, shared, free] = await Promise.all([...limited, {}].map((limits) => addKey({ limits })));
    if (!concurrent || !shared || !free) throw new Error('keys are missing');
    const keys = { concurrent: concurrent.rawKey, shared: shared.rawKey, free: free.rawKey };
    const parties = [concurrent, shared].map(({ record }, at) => {
      return { party: `key:${record.id}` as const, limits: limited[at] ?? {} };
    });
    const keeper = new LimitKeeper(accounts.redis, `${prefix}:`, silentLog);
    releases.push(() => keeper.close());
    const common = { REDIS_URL: redis.url, RTR_PREFIX: prefix, LOG_LEVEL: 'info', ...options.environment };
    const start = async (
      name: string,
      at: number,
      file: string,
      readyLine: string,
      environment: Record<string, string>,
    ): Promise<Linked> => {
      // Each begins with another server.
      const names = natsNames.map((_, index) => natsNames[(at + index) % natsNames.length] ?? '');
      const link = await startPausableProxy(...names.map((name) => nats.ports[name] ?? 0));
      releases.push(() => link.close());
      const settings = { ...common, NATS_URL: `nats://127.0.0.1:${link.port}`, ...environment };
      const part = startPart(name, file, settings, readyLine);
      releases.push(() => part.stop());
      return { part, link };
    };

    const poisoned: PoisonDeath[] = [];
    const engines: EngineFront[] = [];
    const workers: Linked[] = [];
    for (let index = 0; index < workerCount; index += 1) {
      const engine = await startDemoEngine(demoEngineSettings.parse({ DEMO_SLOTS: '64' }), () => undefined);
      releases.push(() => engine.close());
      const front = await startEngineFront(engine.url, index, (id, isPoisoned) => {
        if (!isPoisoned) return true;
        poisoned.push({ id, worker: `gpu-${index}`, at: performance.now() });
        workers[index]?.part.kill(500).catch(() => undefined);
        return false;
      });
      releases.push(() => front.stop());
      engines.push(front);
      const settings = { ENGINE_URL: front.url, WORKER_ID: `gpu-${index}`, SLOTS: '16' };
      workers.push(await start(`gpu-${index}`, index, 'services/gpu-worker/main.ts', 'gpu-worker is ready', settings));
    }
    const tools = join(folder, 'tools');
    mkdirSync(tools);
    writeFileSync(join(tools, 'mark.ts'), tool(executed));
    const settings = { TOOLS_DIR: tools, WORKER_ID: 'tools-0' };
    workers.push(await start('tools-0', 1, 'services/tools-worker/main.ts', 'tools-worker is ready', settings));

    const ingresses: (Linked & { url: string; adminUrl: string })[] = [];
    for (let index = 0; index < 2; index += 1) {
      const [port, adminPort] = [await findFreePort(), await findFreePort()];
      const ports = { PORT: String(port), ADMIN_PORT: String(adminPort) };
      const linked = await start(`ingress-${index}`, index, 'services/ingress/main.ts', 'ingress is ready', ports);
      const urls = { url: `http://127.0.0.1:${port}`, adminUrl: `http://127.0.0.1:${adminPort}` };
      ingresses.push({ ...linked, ...urls });
    }
    const runners: Linked[] = [];
    for (let index = 0; index < (options.runners ?? 0); index += 1)
      runners.push(await start(`runner-${index}`, index, 'services/batch-runner/main.ts', 'batch-runner is ready', {}));
    await Promise.all([...ingresses, ...workers, ...runners].map(({ part }) => part.ready()));
    await until(async () => {
      for (const { url } of ingresses) {
        const answer = await fetch(`${url}/api/tools/v1/list`, { headers: { authorization: `Bearer ${keys.free}` } });
        if (!(await answer.text()).includes('mark')) return false;
      }
      return true;
    });
    return {
      prefix,
      ingresses,
      /** Four gpu-workers, then one tools-worker. */
      workers,
      runners,
      engines,
      nats,
      redis,
      /** Disks of the NATS servers, by name, and of Redis: `primary` and `replica`, as at the start. None where the system permits none. */
      disks,
      /** The suite's own connection to Redis. */
      accounts,
      keys,
      /** The workers that poisoned prompts killed. */
      poisoned,
      /** Reservations of the limits for running requests: their number, and tokens of today. */
      reserved: async () => {
        const uses = await keeper.read(parties);
        const sum = (counts: readonly number[]): number => counts.reduce((all, one) => all + one, 0);
        return {
          active: sum(uses.map(({ active }) => active)),
          tokens: sum(uses.map(({ day }) => day.reserved.tokens)),
        };
      },
      /** Ids of the executed tool calls, once per execution. */
      toolCalls: () => readFileSync(executed, 'utf8').split('\n').slice(0, -1),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The cluster that faults strike. */
export type ChaosCluster = Awaited<ReturnType<typeof startChaosCluster>>;
