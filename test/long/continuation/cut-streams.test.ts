import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { UsageRecord } from '#shared/accounts/ledger/usage-record.ts';
import { readUsage } from '../../helpers/accounts/read-usage.ts';
import { askText, textFormats, type StreamedText, type TextFormat } from '../../helpers/clients/streamed-text.ts';
import { startCluster, type Cluster } from '../../helpers/cluster/start-cluster.ts';
import { metricOf } from '../../helpers/cluster/worker-admin.ts';
import type { ServiceProcess } from '../../helpers/processes/start-process.ts';
import { seededRandom } from '../../helpers/seeded-random.ts';
import { until } from '../../helpers/until.ts';
import { makeGguf } from '../../helpers/upstreams/make-gguf.ts';
import { findLlamaServer, startLlamaServer, type LlamaServer } from '../../helpers/upstreams/start-llama-server.ts';

/** Streams that are cut: 16 of an engine that answers at once, 8 of another one, or as many as `CUT_STREAMS` says. */
const wantedOf = (isInstant: boolean) => Number(process.env['CUT_STREAMS'] ?? (isInstant ? 16 : 8));

/** Streams that run at once, on two workers. */
const atOnce = 16;

/** Milliseconds from the death of a worker to the next text. */
const soonMs = 1_500;

const random = seededRandom(20_261_128);
const stopping: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const stop of stopping.splice(0).reverse()) await stop();
});

interface Question {
  format: TextFormat;
  prompt: string;
  model: string;
  maxTokens: number;
  fields?: object;
}

/** Asks everything at once, kills a worker after a while, and has another one in its place before the next time. */
class Cutter {
  readonly #cluster: Cluster;
  readonly #workers: { process: ServiceProcess; environment: Record<string, string> }[] = [];
  /** Of each round, milliseconds from the death to the next text of each stream that was cut. */
  readonly waitsMs: number[][] = [];
  asked = 0;
  cut = 0;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  async addWorker(environment: Record<string, string>): Promise<void> {
    this.#workers.push({ process: await this.#cluster.addWorker(environment), environment });
  }

  /** @returns what was asked, with its id, and the answer */
  async round(questions: readonly Question[]): Promise<{ id: string; question: Question; answer: StreamedText }[]> {
    const ids = questions.map(() => `cut-${(this.asked += 1)}`);
    const begun = new Set<string>();
    const answers = questions.map((question, at) =>
      askText({
        ...this.#cluster,
        ...question,
        headers: { 'x-request-id': ids[at] ?? '' },
        onText: () => begun.add(ids[at] ?? ''),
      }),
    );
    await until(() => begun.size === questions.length);
    await sleep(random() * 600);
    const doomed = this.#workers.shift();
    if (!doomed) throw new Error('there is no worker');
    const diedAt = performance.now();
    await doomed.process.kill();
    // Not while it is found out that the other one died.
    const replacing = sleep(soonMs).then(() => this.addWorker(doomed.environment));
    const [read] = await Promise.all([Promise.all(answers), replacing]);
    const waits = read.flatMap(({ movedAt }) => (movedAt === undefined ? [] : [movedAt - diedAt]));
    this.cut += waits.length;
    if (waits.length > 0) this.waitsMs.push(waits);
    return questions.map((question, at) => ({ id: ids[at] ?? '', question, answer: read[at] as StreamedText }));
  }
}

/** The ledger's records of these requests, once all are written. */
async function recordsOf(cluster: Cluster, ids: readonly string[]): Promise<UsageRecord[]> {
  let records: UsageRecord[] = [];
  await until(async () => {
    records = (await readUsage(cluster.prefix)).filter(({ id }) => ids.includes(id));
    return records.length >= ids.length;
  });
  return records;
}

/** @param isInstant whether the engine answers at once: then a stream is no slower for the engine's sake */
async function cutStreams(
  cluster: Cluster,
  cutter: Cutter,
  questions: readonly Question[],
  isInstant: boolean,
): Promise<void> {
  const answers = questions.map(async (question) => [question, await askText({ ...cluster, ...question })] as const);
  const uncut = new Map(await Promise.all(answers));
  const wanted = wantedOf(isInstant);
  const memory = async () => (await metricOf(cluster.adminUrl, 'process_resident_memory_bytes')) ?? 0;
  let early = 0;
  while (cutter.cut < wanted) {
    const asked = Array.from({ length: atOnce }, () => questions[Math.floor(random() * questions.length)] as Question);
    const round = await cutter.round(asked);
    for (const { question, answer } of round) {
      const whole = uncut.get(question);
      expect(answer.error).toBeUndefined();
      expect(answer.text).toBe(whole?.text);
      expect(answer.finalText).toBe(whole?.finalText);
      expect([answer.finish, answer.usage, answer.ids.size]).toEqual([whole?.finish, whole?.usage, whole?.ids.size]);
    }
    const ids = round.map(({ id }) => id);
    const records = await recordsOf(cluster, ids);
    expect(records.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    for (const { id, question, answer } of round) {
      const record = records.find((each) => each.id === id);
      const usage = uncut.get(question)?.usage;
      expect(record).toMatchObject({ outcome: 'done', promptTokens: usage?.input, completionTokens: usage?.output });
      if (answer.movedAt !== undefined) expect(record?.attempts).toBeGreaterThanOrEqual(2);
    }
    if (process.env['CUT_STREAMS'] !== undefined) process.stdout.write(`${cutter.cut} cut\n`);
    if (cutter.cut > wanted / 4) early ||= await memory();
  }
  const late = await memory();
  const waits = cutter.waitsMs.flat().toSorted((one, other) => one - other);
  const [p50, p99] = [waits[Math.floor(waits.length / 2)], waits[Math.ceil(waits.length * 0.99) - 1]];
  const mib = (bytes: number): number => Math.round(bytes / 1024 / 1024);
  process.stdout.write(
    `${cutter.cut} of ${cutter.asked} streams were cut; text after ${Math.round(p50 ?? 0)} ms (p50), ` +
      `${Math.round(p99 ?? 0)} ms (p99), ${Math.round(waits.at(-1) ?? 0)} ms (most); ` +
      `memory of the ingress ${mib(early)} MiB early, ${mib(late)} MiB at the end\n`,
  );
  if (waits.length >= 500) {
    expect(p50).toBeLessThan(soonMs);
    expect(p99).toBeLessThan(soonMs);
  } else if (isInstant) {
    // Of a few streams the slowest one is late on a busy machine. An engine that reads eight texts again at once on the CPU is late by itself.
    expect(Math.min(...cutter.waitsMs.map((round) => Math.max(...round)))).toBeLessThan(soonMs);
  }
  expect(late - early).toBeLessThan(48 * 1024 * 1024);
  await until(async () => (await metricOf(cluster.adminUrl, 'rtr_kept_bytes')) === 0);
}

describe('streams that are cut at a random token, by kill -9 of their worker', () => {
  it('of the demo engine are the same to the character, in every format', { timeout: 1_800_000 }, async () => {
    const engine = { DEMO_OPTIONS: 'rate=150' };
    const cluster = await startCluster({ workers: 0, engine, worker: { SLOTS: '48' } });
    stopping.push(() => cluster.stop());
    const cutter = new Cutter(cluster);
    await cutter.addWorker({});
    await cutter.addWorker({});
    const line = (at: number): string => `${at}. Über 👩‍👩‍👧  —\tnaïve,\n\n    «${'ha'.repeat(at % 7)}» 漢字かな `;
    const said = Array.from({ length: 25 }, (_, at) => line(at)).join('\n');
    const questions = textFormats.map((format): Question => {
      const prompt =
        format === 'completions' ? '[demo tokens=400]\nCount:' : `Say it.\n[demo say ${JSON.stringify(said)}]`;
      return { format, prompt, model: 'demo', maxTokens: 2_000 };
    });
    await cutStreams(cluster, cutter, questions, true);
  });

  it(
    'of two llama-servers are the same to the token, in every format',
    { timeout: 1_800_000, tags: ['llama-server'] },
    async () => {
      const program = findLlamaServer() ?? '';
      const context = 2 * atOnce * 4_096;
      const servers: LlamaServer[] = [];
      for (let at = 0; at < 2; at += 1) {
        const weights = makeGguf({ context, rereads: true });
        const server = await startLlamaServer(program, { slots: 2 * atOnce, context, weights });
        servers.push(server);
        stopping.push(() => server.stop());
      }
      const cluster = await startCluster({ workers: 0, engineUrl: servers[0]?.url ?? '' });
      stopping.push(() => cluster.stop());
      const cutter = new Cutter(cluster);
      for (const { url } of servers) await cutter.addWorker({ ENGINE_URL: url });
      // Without the penalty the model, whose weights are random, says one word for ever.
      const fields = { ignore_eos: true, repeat_penalty: 2.5, repeat_last_n: 24 };
      const silent = { chat_template_kwargs: { enable_thinking: false } };
      const further = { chat: silent, completions: {}, messages: {}, responses: { reasoning: { effort: 'none' } } };
      const common = { model: 'tiny', maxTokens: 3_000 };
      const questions = textFormats.map((format): Question => {
        return { ...common, format, prompt: `the ${format} river sings`, fields: { ...fields, ...further[format] } };
      });
      await cutStreams(cluster, cutter, questions, false);
    },
  );
});
