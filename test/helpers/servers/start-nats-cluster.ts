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
  /** Ends one at once, as a crash does. */
  kill: (name: string) => void;
  stop: () => Promise<void>;
}

/** Starts a cluster of three NATS servers with JetStream, on ports of their own; its `stop` belongs into `onTestFinished`. */
export async function startNatsCluster(): Promise<NatsCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'rtr-test-nats-cluster-'));
  const nodes: { name: string; port: number; route: number }[] = [];
  for (const name of ['one', 'two', 'three']) nodes.push({ name, port: await freePort(), route: await freePort() });
  const routes = nodes.map(({ route }) => `"nats://127.0.0.1:${route}"`).join(', ');
  const servers = new Map<string, ChildProcess>();
  for (const { name, port, route } of nodes) {
    const file = join(folder, `${name}.conf`);
    const lines = [
      `server_name: ${name}`,
      `listen: "127.0.0.1:${port}"`,
      `jetstream { store_dir: "${join(folder, name)}", max_memory_store: 64M, max_file_store: 64M }`,
      `cluster { name: test, listen: "127.0.0.1:${route}", routes: [${routes}] }`,
    ];
    writeFileSync(file, lines.join('\n'));
    servers.set(name, spawn('nats-server', ['--config', file], { stdio: 'ignore' }));
  }
  return {
    url: `nats://127.0.0.1:${nodes[0]?.port}`,
    kill: (name) => void servers.get(name)?.kill('SIGKILL'),
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
