import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { spawnGuarded, stopChild, type Child } from '#services/rtr/up/children/child.ts';
import { cpuMs } from '../cluster/process-usage.ts';
import { until } from '../../helpers/until.ts';
import { freePort } from '#services/rtr/up/servers/free-port.ts';
import { provideServer } from '#services/rtr/up/servers/install-server.ts';

/** What a NATS server has carried so far, as its monitor says. */
const traffic = z.object({ out_msgs: z.number(), out_bytes: z.number(), slow_consumers: z.number() });

type Traffic = z.infer<typeof traffic> & { cpu: number };
type ServerTraffic = Traffic & { pid: number };

/** What servers have carried and taken between two looks. One that was started again meanwhile has counted from zero. */
export function trafficBetween(before: readonly ServerTraffic[], after: readonly ServerTraffic[]): Traffic {
  const sum: Traffic = { out_msgs: 0, out_bytes: 0, slow_consumers: 0, cpu: 0 };
  for (const now of after) {
    const then = before.find(({ pid }) => pid === now.pid);
    for (const name of Object.keys(sum) as (keyof Traffic)[]) sum[name] += now[name] - (then?.[name] ?? 0);
  }
  return sum;
}

interface Server {
  name: string;
  port: number;
  monitor: number;
  file: string;
  child: Child;
}

/** Milliseconds for a server to stop by itself. */
const stopMs = 5_000;

/** Milliseconds until a server must answer. */
const startMs = 15_000;

/** The NATS of a simulated cluster: one server, or three that keep each queue together. Limits as in `deploy/nats.conf`. */
export class ScaleNats {
  readonly #program: string;
  readonly #servers: Server[] = [];

  private constructor(program: string) {
    this.#program = program;
  }

  /** Starts so many servers, each with its data in the folder. */
  static async start(folder: string, count: 1 | 3): Promise<ScaleNats> {
    const nats = new ScaleNats(
      await provideServer('nats', process.env, (line) => void process.stderr.write(`${line}\n`)),
    );
    const nodes: { port: number; monitor: number; route: number }[] = [];
    for (let at = 0; at < count; at += 1) {
      nodes.push({ port: await freePort(), monitor: await freePort(), route: await freePort() });
    }
    const routes = nodes.map(({ route }) => `"nats://127.0.0.1:${route}"`).join(', ');
    for (const [at, { port, monitor, route }] of nodes.entries()) {
      const name = `nats-${at}`;
      const store = join(folder, name);
      mkdirSync(store, { recursive: true });
      const file = join(folder, `${name}.conf`);
      const lines = [
        `server_name: ${name}`,
        `listen: "127.0.0.1:${port}"`,
        `http: "127.0.0.1:${monitor}"`,
        `jetstream { store_dir: ${JSON.stringify(store)} }`,
        ...(count > 1 ? [`cluster { name: scale, listen: "127.0.0.1:${route}", routes: [${routes}] }`] : []),
        '',
      ];
      writeFileSync(file, lines.join('\n'));
      nats.#servers.push({ name, port, monitor, file, child: nats.#spawn(file) });
    }
    for (const server of nats.#servers) await untilReady(server);
    return nats;
  }

  /** Addresses for a client, all servers. */
  get url(): string {
    return this.#servers.map(({ port }) => `nats://127.0.0.1:${port}`).join(',');
  }

  get pids(): number[] {
    return this.#servers.map(({ child }) => child.pid ?? 0);
  }

  /** What each server has carried since it started, and the CPU time that it took. */
  async traffic(): Promise<ServerTraffic[]> {
    return Promise.all(
      this.#servers.map(async ({ monitor, child: { pid = 0 } }) => {
        const answer = await fetch(`http://127.0.0.1:${monitor}/varz`);
        return { ...traffic.parse(await answer.json()), pid, cpu: cpuMs(pid) };
      }),
    );
  }

  /** The release of the servers. */
  async version(): Promise<string> {
    const answer = await fetch(`http://127.0.0.1:${this.#servers[0]?.monitor ?? 0}/varz`);
    return z.object({ version: z.string() }).parse(await answer.json()).version;
  }

  /** Ends one server as a crash does, and starts it again. */
  async restart(at = 0): Promise<void> {
    const server = this.#servers[at];
    if (!server) throw new Error(`there is no server ${at}`);
    server.child.kill('SIGKILL');
    await stopChild(server.child, stopMs);
    server.child = this.#spawn(server.file);
    await untilReady(server);
  }

  async stop(): Promise<void> {
    for (const { child } of this.#servers) await stopChild(child, stopMs);
  }

  #spawn(file: string): Child {
    const child = spawnGuarded(this.#program, ['-c', file]);
    for (const output of [child.stdout, child.stderr]) output.resume();
    return child;
  }
}

function untilReady({ monitor }: Server): Promise<void> {
  return until(async () => (await fetch(`http://127.0.0.1:${monitor}/healthz`)).ok, startMs);
}
