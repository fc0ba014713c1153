import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureServers } from '#services/rtr/up/servers/install-server.ts';
import { startNatsServer } from '#services/rtr/up/servers/start-nats-server.ts';
import { isRunning, killGroup, stopChild } from '#services/rtr/up/children/child.ts';
import type { StartedServer } from '#services/rtr/up/servers/start-on-port.ts';
import { startRedisServer } from '#services/rtr/up/servers/start-redis-server.ts';
import type { ServerKind, TestServer } from './test-server.ts';

const start = { nats: startNatsServer, redis: startRedisServer };

/** Signals the group of the program, which runs under a guard. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (pid !== undefined) process.kill(-pid, signal);
  return Promise.resolve();
}

/**
 * Runs a server program of this machine on a free port, with a temporary folder; installs a missing program first if that needs no
 * password. It ends with the test process, however that ends.
 */
export async function startLocalServer(kind: ServerKind): Promise<TestServer> {
  const { [kind]: program } = await ensureServers([kind], process.env, (line) => console.info(line));
  const folder = mkdtempSync(join(tmpdir(), `rtr-test-${kind}-`));
  let { port, child }: StartedServer = await start[kind]({ program, folder, environment: process.env });
  return {
    url: `${kind}://127.0.0.1:${port}`,
    port,
    stop: async () => {
      await stopChild(child, 5_000);
      rmSync(folder, { recursive: true, force: true });
    },
    kill: async () => {
      if (!isRunning(child)) return;
      const gone = once(child, 'exit');
      killGroup(child);
      await gone;
    },
    pause: () => signalGroup(child, 'SIGSTOP'),
    resume: () => signalGroup(child, 'SIGCONT'),
    restart: async ({ keepData = true } = {}) => {
      await stopChild(child, 5_000);
      if (!keepData) rmSync(folder, { recursive: true, force: true });
      const again = await start[kind]({ program, folder, environment: process.env, wantedPort: port });
      child = again.child;
      if (again.port !== port) throw new Error(`port ${port} was taken while the ${kind} server was down`);
    },
  };
}
