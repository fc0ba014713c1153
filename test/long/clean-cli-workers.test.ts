import OpenAI from 'openai';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { findCli } from '../helpers/clis/install-clis.ts';
import { realClis, type RealCli } from '../helpers/clis/real-clis.ts';
import { descendants, startCliWorker } from '../helpers/cluster/start-cli-worker.ts';
import { startCluster, type Cluster } from '../helpers/cluster/start-cluster.ts';
import { startFakeModelApis, type FakeModelApis } from '../helpers/upstreams/fake-model-apis.ts';
import { until } from '../helpers/until.ts';

const cases: [string, RealCli, string][] = [];
for (const cli of realClis) {
  const command = findCli(cli.name);
  if (command !== undefined) cases.push([cli.name, cli, command]);
}

/** Together 20; each worker holds five conversations, of which one has not ended when it is killed. opencode takes long to start. */
const kills = { claude: 6, codex: 6, gemini: 5, opencode: 3 };

let api: FakeModelApis;
let cluster: Cluster;
let openai: OpenAI;
beforeAll(async () => {
  api = await startFakeModelApis();
  cluster = await startCluster({ workers: 0, engineUrl: 'http://127.0.0.1:9' });
  openai = new OpenAI({ baseURL: `${cluster.url}/api/openai/v1`, apiKey: cluster.key, maxRetries: 0 });
});
afterAll(async () => {
  await cluster?.stop();
  await api?.close();
});

/** What a request says, so that its conversation ends as the name says. */
const conversations = {
  whole: 'Hello',
  thinks: 'Hello [fake think]',
  broken: 'Hello [fake drop]',
  refused: 'Hello [fake status=400]',
};

async function converse(model: string, content: string): Promise<string> {
  const stream = await openai.chat.completions.create({ model, messages: [{ role: 'user', content }], stream: true });
  let text = '';
  for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
  return text;
}

/** Begins an answer that does not end. Resolves with its first piece. */
async function begin(model: string): Promise<void> {
  const content = 'Hello [fake pieces=1000 delay=100]';
  const stream = await openai.chat.completions.create({ model, messages: [{ role: 'user', content }], stream: true });
  const { promise: begun, resolve, reject } = Promise.withResolvers<void>();
  const rest = async (): Promise<void> => {
    for await (const { choices } of stream) if (choices[0]?.delta.content) resolve();
  };
  // It ends with an error, when its worker is killed; before that there has to be a piece.
  rest().catch(reject);
  await begun;
}

/** The numbers of this machine's sockets that listen. */
function listeningSockets(): Set<string> {
  const sockets = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((path) =>
    readFileSync(path, 'utf8').split('\n').slice(1),
  );
  const fields = sockets.map((line) => line.trim().split(/\s+/));
  return new Set(fields.flatMap(([, , , state, , , , , , number = '']) => (state === '0A' ? [number] : [])));
}

/** Those of them that these processes have open. */
function listenersOf(pids: readonly number[]): string[] {
  const listening = listeningSockets();
  return pids.flatMap((pid) => socketsOf(pid).filter((number) => listening.has(number)));
}

function socketsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap(
      (fd) => /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [],
    );
  } catch {
    // A file or the process was closed between the two looks.
    return [];
  }
}

/** What a process is, if it runs: one that has ended, and that nobody has asked about, does not. */
function asAlive(pid: number): string[] {
  try {
    const state = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '')[0];
    return state === 'Z'
      ? []
      : [`${pid} ${state}: ${readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')}`];
  } catch {
    return [];
  }
}

describe.skipIf(process.platform !== 'linux')('workers that hold conversations and are killed', () => {
  it.each(cases)(
    'leave no process, no file and no listener of %s',
    async (name, cli, command) => {
      const temporary = mkdtempSync(join(tmpdir(), `rtr-clean-${name}-`));
      onTestFinished(() => rmSync(temporary, { recursive: true, force: true }));
      for (let kill = 0; kill < kills[cli.name]; kill++) {
        const worker = await startCliWorker(cluster, {
          CLI_KIND: name,
          CLI_COMMAND: command,
          CLI_MODELS: cli.model,
          SLOTS: '2',
          TMPDIR: temporary,
          ...cli.environment(api.url),
        });
        const ended = await Promise.allSettled(Object.values(conversations).map((said) => converse(cli.model, said)));
        expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected']);
        await begin(cli.model);
        const pid = worker.service.child.pid ?? 0;
        const processes = descendants(pid);
        expect(processes.length).toBeGreaterThan(0);
        const listeners = listenersOf([pid, ...processes]);
        expect(readdirSync(temporary)).not.toEqual([]);
        await worker.service.kill();
        const left = (): unknown[] => [
          ...processes.flatMap(asAlive),
          ...readdirSync(temporary, { recursive: true }),
          ...listeners.filter((number) => listeningSockets().has(number)),
        ];
        await until(() => expect(left()).toEqual([]));
        // Nothing that still runs writes its files again.
        await sleep(500);
        expect(left()).toEqual([]);
      }
    },
    300_000,
  );
});
