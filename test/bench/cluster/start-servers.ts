import type { Releases } from '#shared/core/release.ts';
import { stopChild } from '#services/rtr/up/children/child.ts';
import { ensureServers } from '#services/rtr/up/servers/install-server.ts';
import { startNatsServer } from '#services/rtr/up/servers/start-nats-server.ts';
import { startRedisServer } from '#services/rtr/up/servers/start-redis-server.ts';

interface BenchServer {
  url: string;
  pid: number;
}

/** Starts NATS with its data below a folder, and registers its release. */
export async function startBenchNats(folder: string, releases: Releases): Promise<BenchServer> {
  const { nats: program } = await ensureServers(['nats'], process.env, say);
  const { child, port } = await startNatsServer({ program, folder: `${folder}/nats`, environment: process.env });
  releases.add('nats', () => stopChild(child, 5_000));
  return { url: `nats://127.0.0.1:${port}`, pid: child.pid ?? 0 };
}

/** Starts Redis with its data below a folder, and registers its release. */
export async function startBenchRedis(folder: string, releases: Releases): Promise<BenchServer> {
  const { redis: program } = await ensureServers(['redis'], process.env, say);
  const { child, port } = await startRedisServer({ program, folder: `${folder}/redis` });
  releases.add('redis', () => stopChild(child, 5_000));
  return { url: `redis://127.0.0.1:${port}`, pid: child.pid ?? 0 };
}

export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
