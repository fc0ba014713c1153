import { join } from 'node:path';
import type { Releases } from '#shared/core/release.ts';
import { buildPrograms } from '#services/rtr/build/build-programs.ts';
import { serviceNodeFlags } from '#services/rtr/bootstrap/service-node-flags.mjs';
import { findFreePort } from '#services/rtr/up/servers/free-port.ts';
import { until } from '../../helpers/until.ts';
import { Part } from './start-part.ts';

/** Jobs that one worker takes at once: the maximum that a gpu-worker can be set to. */
export const slotsPerWorker = 1_024;

/**
 * Starts a component, with its log in a file of its name.
 * @param preload a file to load before the component
 */
export type StartPart = (name: string, file: string, env?: Record<string, string>, preload?: string) => Part;

/** Creates a function that starts components whose logs are below a folder, and registers their release. */
export function partStarter(folder: string, releases: Releases): StartPart {
  return (name, file, env = {}, preload) => {
    const nodeFlags = file.startsWith('services/') ? serviceNodeFlags : [];
    const part = new Part({ file, env, nodeFlags, logFile: join(folder, `${name}.log`), ...(preload && { preload }) });
    releases.add(name, () => part.stop());
    return part;
  };
}

/** Starts an upstream that costs next to nothing. */
export async function startUpstream(start: StartPart): Promise<{ part: Part; port: number }> {
  const part = start('upstream', 'test/bench/peers/upstream/scenario-upstream.ts');
  return { part, port: (await part.ask<{ port: number }>()).port };
}

/** Servers and prefix that the components of a cluster share. */
export interface CorePlace {
  nats: { url: string };
  redis: { url: string };
  prefix: string;
  ingress?: Record<string, string>;
  logLevel?: 'info' | 'warn';
  preload?: string;
}

/** Starts an ingress as in production, which logs into a file. */
export async function startCore(start: StartPart, place: CorePlace) {
  await buildPrograms(process.cwd());
  const { nats, redis, prefix, logLevel = 'info', preload } = place;
  const [port, adminPort] = [await findFreePort(), await findFreePort()];
  const common = { NATS_URL: nats.url, RTR_PREFIX: prefix, LOG_FORMAT: 'json', LOG_LEVEL: logLevel };
  const ports = { REDIS_URL: redis.url, PORT: String(port), ADMIN_PORT: String(adminPort), LEAVE_MS: '0' };
  return {
    port,
    common,
    ingress: start('ingress', 'services/ingress/main.ts', { ...common, ...ports, ...place.ingress }, preload),
    startWorker: (name: string, upstreamPort: number, env: Record<string, string> = {}): Part => {
      const engine = { ENGINE_URL: `http://127.0.0.1:${upstreamPort}`, ENGINE_KIND: 'vllm' };
      const settings = { ...common, ...engine, SLOTS: String(slotsPerWorker), ...env };
      return start(name, 'services/gpu-worker/main.ts', settings, preload);
    },
    /** Waits until the ingress lists this number of workers of a tier. */
    untilWorkers: (tier: 'gpu' | 'cloud', count: number): Promise<void> =>
      until(async () => {
        const answer = await fetch(`http://127.0.0.1:${port}/health`);
        return ((await answer.json()) as { workers: Record<string, number> }).workers[tier] === count;
      }),
  };
}
