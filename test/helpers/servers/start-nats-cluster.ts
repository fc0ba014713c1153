import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '#services/rtr/up/servers/free-port.ts';

/** Three NATS servers that keep each queue together. */
export interface NatsCluster {
  /** The address of one of them, which names the others to whoever connects. */
  url: string;
  /** The port of each, by name. */
  ports: Record<string, number>;
  /** Ends one at once, as a crash does. */
  kill: (name: string) => void;
  /** Sends one a signal, such as SIGSTOP. */
  signal: (name: string, signal: NodeJS.Signals) => void;
  /** Starts one again that was killed, with the data that it had. */
  restart: (name: string) => Promise<void>;
  stop: () => Promise<void>;
}

/**
 * Starts a cluster of three NATS servers with JetStream, on ports of their own; its `stop` belongs into `onTestFinished`.
 * @param config further lines of each server's `cluster` block
 */
export async function startNatsCluster({ config = [] }: { config?: string[] } = {}): Promise<NatsCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'rtr-test-nats-cluster-'));
  const nodes: { name: string; port: number; route: number }[] = [];
  for (const name of ['one', 'two', 'three']) nodes.push({ name, port: await freePort(), route: await freePort() });
  const routes = nodes.map(({ route }) => `"nats://127.0.0.1:${route}"`).join(', ');
  const servers = new Map<string, ChildProcess>();
  const start = (name: string): void => {
    const file = join(folder, `${name}.conf`);
    servers.set(name, spawn('nats-server', ['--config', file], { stdio: 'ignore' }));
  };
  for (const { name, port, route } of nodes) {
    const cluster = ['name: test', `listen: "127.0.0.1:${route}"`, `routes: [${routes}]`, ...config];
    const lines = [
      `server_name: ${name}`,
      `listen: "127.0.0.1:${port}"`,
      `jetstream { store_dir: "${join(folder, name)}", max_memory_store: 64M, max_file_store: 64M }`,
      `cluster { ${cluster.join(', ')} }`,
    ];
    writeFileSync(join(folder, `${name}.conf`), lines.join('\n'));
    start(name);
  }
  return {
    url: `nats://127.0.0.1:${nodes[0]?.port}`,
    ports: Object.fromEntries(nodes.map(({ name, port }) => [name, port])),
    kill: (name) => void servers.get(name)?.kill('SIGKILL'),
    signal: (name, signal) => void servers.get(name)?.kill(signal),
    restart: async (name) => {
      const server = servers.get(name);
      if (server && server.exitCode === null && server.signalCode === null) await once(server, 'exit');
      start(name);
    },
    stop: async () => {
      for (const server of servers.values()) {
        if (server.exitCode !== null || server.signalCode !== null) continue;
        server.kill('SIGKILL');
        await once(server, 'exit');
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
