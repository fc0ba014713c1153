import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../until.ts';
import { findFreePort } from '#services/rtr/up/servers/free-port.ts';
import { ensureServers } from '#services/rtr/up/servers/install-server.ts';

/** Folders of the servers' data. */
export interface NatsDisks {
  folderOf: (name: string) => string;
  /** A command with arguments that starts a program with access to these folders. */
  enter: readonly string[];
}

const healthy = 'ok';

/** Milliseconds for a server to catch up with the others. */
const catchUpMs = 30_000;

/** Returns `ok`, or a server's report, or the error if it does not answer. */
async function healthOf(monitor: number): Promise<string> {
  try {
    const answer = await fetch(`http://127.0.0.1:${monitor}/healthz`, { signal: AbortSignal.timeout(2_000) });
    return answer.ok ? healthy : (await answer.text()).trim();
  } catch (error) {
    return String(error);
  }
}

/** Ports of this process's clusters, so that two that start at the same time share none. */
const given = new Set<number>();

async function newPort(): Promise<number> {
  const port = await findFreePort();
  if (given.has(port)) return newPort();
  given.add(port);
  return port;
}

/**
 * Starts a cluster of NATS servers with JetStream, on ports of their own. Call its `stop` in `onTestFinished`.
 * @param settings.names names of the servers; default: three
 * @param settings.limits limits of each server's data
 * @param settings.config further lines of each server's `cluster` block
 * @param settings.disks default: the folder of the configuration
 */
export async function startNatsCluster({
  names = ['one', 'two', 'three'],
  limits = ['max_memory_store: 64M', 'max_file_store: 64M'],
  config = [],
  disks,
}: {
  names?: readonly string[];
  limits?: readonly string[];
  config?: readonly string[];
  disks?: NatsDisks | undefined;
} = {}) {
  const { nats: program } = await ensureServers(['nats'], process.env, (line) => console.info(line));
  const folder = mkdtempSync(join(tmpdir(), 'rtr-test-nats-cluster-'));
  const nodes: { name: string; port: number; route: number; monitor: number }[] = [];
  for (const name of names) {
    nodes.push({ name, port: await newPort(), route: await newPort(), monitor: await newPort() });
  }
  const routes = nodes.map(({ route }) => `"nats://127.0.0.1:${route}"`).join(', ');
  const servers = new Map<string, ChildProcess>();
  const start = (name: string): void => {
    const file = join(folder, `${name}.conf`);
    const [command, ...args] = [...(disks?.enter ?? []), program, '--config', file];
    servers.set(name, spawn(command, args, { stdio: 'ignore' }));
  };
  for (const { name, port, route, monitor } of nodes) {
    const cluster = ['name: test', `listen: "127.0.0.1:${route}"`, `routes: [${routes}]`, ...config];
    const lines = [
      `server_name: ${name}`,
      `listen: "127.0.0.1:${port}"`,
      `http: "127.0.0.1:${monitor}"`,
      `jetstream { ${[`store_dir: "${join(disks?.folderOf(name) ?? folder, name)}"`, ...limits].join(', ')} }`,
      ...(names.length > 1 ? [`cluster { ${cluster.join(', ')} }`] : []),
    ];
    writeFileSync(join(folder, `${name}.conf`), lines.join('\n'));
    start(name);
  }
  const restart = async (name: string): Promise<void> => {
    const server = servers.get(name);
    if (server && server.exitCode === null && server.signalCode === null) await once(server, 'exit');
    start(name);
  };
  const startAgain = async (name: string): Promise<void> => {
    servers.get(name)?.kill('SIGKILL');
    await restart(name);
  };
  const allHealthy = async (): Promise<void> => {
    const states = await Promise.all(nodes.map(({ monitor }) => healthOf(monitor)));
    if (states.some((state) => state !== healthy)) throw new Error(`Not every server is healthy: ${states.join(', ')}`);
  };
  return {
    /** The address of one server, which announces the others to its clients. */
    url: `nats://127.0.0.1:${nodes[0]?.port}`,
    /** The port of each, by name. */
    ports: Object.fromEntries(nodes.map(({ name, port }) => [name, port])),
    /** The monitor port of each, by name. */
    monitors: Object.fromEntries(nodes.map(({ name, monitor }) => [name, monitor])),
    /** Ends one server at once, as a crash does. */
    kill: (name: string) => void servers.get(name)?.kill('SIGKILL'),
    /** Sends a signal to one server, such as SIGSTOP. */
    signal: (name: string, signal: NodeJS.Signals) => void servers.get(name)?.kill(signal),
    /** Returns the process id of one server, while it runs. */
    pid: (name: string) => servers.get(name)?.pid,
    /** Starts a killed server again, with its data. */
    restart,
    /**
     * Waits until every server has all of its JetStream data, so that any one may leave. A server that has not after half a minute is
     * started again, as an operator does, and then the others, one after the other: NATS 2.9 sometimes never catches up after it stood
     * still under load.
     */
    whole: async () => {
      const isWhole = (): Promise<boolean> =>
        until(allHealthy, catchUpMs).then(
          () => true,
          () => false,
        );
      if (await isWhole()) return;
      for (const { name, monitor } of nodes) if ((await healthOf(monitor)) !== healthy) await startAgain(name);
      if (await isWhole()) return;
      // The server from which the others catch up may be at fault.
      for (const { name } of nodes) {
        await startAgain(name);
        if (await isWhole()) return;
      }
      await allHealthy();
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

/** NATS servers that keep each queue together. */
export type NatsCluster = Awaited<ReturnType<typeof startNatsCluster>>;
