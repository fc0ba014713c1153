import type OpenAI from 'openai';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it } from 'vitest';
import { openRealCli, shareCliCluster, user } from '../helpers/clis/open-real-cli.ts';
import { allClis } from '../helpers/clis/real-clis.ts';
import { descendants } from '../helpers/cluster/start-cli-worker.ts';
import { until } from '../helpers/until.ts';
import { useStarted } from '../helpers/use-started.ts';

/** What a request says, so that its conversation ends as the name says. */
const conversations = {
  whole: 'Hello',
  thinks: 'Hello [fake think]',
  broken: 'Hello [fake drop]',
  refused: 'Hello [fake status=400]',
};

async function converse(answer: ReturnType<typeof streamed>): Promise<void> {
  for await (const _ of await answer) continue;
}

/** Begins an answer that does not end. Resolves with its first piece. */
async function begin(answer: ReturnType<typeof streamed>): Promise<void> {
  const { promise: begun, resolve, reject } = Promise.withResolvers<void>();
  const rest = async (): Promise<void> => {
    for await (const { choices } of await answer) if (choices[0]?.delta.content) resolve();
  };
  // It ends with an error, when its worker is killed; before that there has to be a piece.
  rest().catch(reject);
  await begun;
}

function streamed(openai: OpenAI, model: string, content: string) {
  return openai.chat.completions.create({ model, messages: [user(content)], stream: true });
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
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return state === 'Z' ? [] : [`${pid} ${state}: ${command}`];
  } catch {
    return [];
  }
}

describe.concurrent('a worker that holds conversations and is killed', { tags: ['linux'] }, () => {
  const cluster = useStarted(() => shareCliCluster());

  for (const { name, models } of allClis) {
    const title = `leaves no process, no file and no listener of ${name}`;
    it(title, { tags: [name] }, async ({ expect, onTestFinished }) => {
      const [model] = models;
      const temporary = mkdtempSync(join(tmpdir(), `rtr-clean-${name}-`));
      onTestFinished(() => rmSync(temporary, { recursive: true, force: true }));
      const { worker, openai, stop } = await openRealCli(name, { TMPDIR: temporary }, cluster);
      onTestFinished(stop);
      const said = Object.values(conversations).map((content) => converse(streamed(openai, model, content)));
      const ended = await Promise.allSettled(said);
      expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected']);
      await begin(streamed(openai, model, 'Hello [fake pieces=1000 delay=100]'));
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
    });
  }
});
