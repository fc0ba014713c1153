import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { UsageRecord } from '#shared/accounts/ledger/usage-record.ts';
import { readUsage } from '../../helpers/accounts/read-usage.ts';
import { askText, textFormats, type StreamedText, type TextFormat } from '../../helpers/clients/streamed-text.ts';
import { startCluster, type Cluster } from '../../helpers/cluster/start-cluster.ts';
import { until } from '../../helpers/until.ts';

let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster({ workers: 2, ingress: { NO_WORKER_TIMEOUT_MS: '1500' } });
});

afterAll(() => cluster.stop());

/** A text with all that is easily lost or doubled: spaces, line ends, characters of several tokens. */
const tricky = Array.from(
  { length: 12 },
  (_, at) => `${at}. Über 👩‍👩‍👧‍👦 — naïve  text,\n\n    indented\tline ${'ha'.repeat(at)} 漢字 `,
).join('\n');

/** The demo engine's answer to it: about 400 tokens in two seconds; completions get filler. */
function promptOf(format: TextFormat): string {
  if (format === 'completions') return '[demo tokens=300 rate=200]\nCount:';
  return `Say it.\n[demo say ${JSON.stringify(tricky)}]\n[demo rate=200]`;
}

/** Kills the worker of this name, and starts another one in its place. */
async function replace(name: string): Promise<void> {
  const at = cluster.workers.findIndex(({ lines }) => lines.some(({ worker }) => worker === name));
  const [doomed] = cluster.workers.splice(at, 1);
  if (at < 0 || !doomed) throw new Error(`there is no worker ${name}`);
  await doomed.kill();
  await cluster.addWorker();
}

/** Asks for a stream whose worker is killed once it has so many characters. */
async function cutAfter(length: number, options: Parameters<typeof askText>[0]): Promise<StreamedText> {
  let replacing: Promise<void> | undefined;
  const cut = await askText({
    ...options,
    onText: (text, worker) => {
      if (text.length >= length) replacing ??= replace(worker);
    },
  });
  await replacing;
  return cut;
}

describe('a stream whose worker is killed in its middle', () => {
  it.each(textFormats)('of the format %s goes on elsewhere as if nothing had happened', async (format) => {
    const asked = { ...cluster, format, prompt: promptOf(format) };
    const uncut = await askText(asked);
    expect(uncut.error).toBeUndefined();
    const id = `cut-${format}`;
    const cut = await cutAfter(150, { ...asked, headers: { 'x-request-id': id } });
    expect(cut.error).toBeUndefined();
    expect(cut.text).toBe(uncut.text);
    expect(cut.finalText).toBe(uncut.finalText);
    expect(cut.ids.size).toBe(uncut.ids.size);
    expect(cut.finish).toEqual(uncut.finish);
    expect(cut.usage).toEqual(uncut.usage);
    expect(cut.comments.join()).toMatch(/^: rtr moved to \S+$/);
    const numbers = cut.events.flatMap(({ sequence_number: number }) => (typeof number === 'number' ? [number] : []));
    expect(numbers).toEqual(numbers.map((_, at) => at));
    let records: UsageRecord[] = [];
    await until(async () => {
      records = (await readUsage(cluster.prefix)).filter((record) => record.id === id);
      return records.length > 0;
    });
    expect(records).toMatchObject([
      {
        outcome: 'done',
        attempts: 2,
        promptTokens: uncut.usage?.input,
        completionTokens: uncut.usage?.output,
      },
    ]);
    const served = () =>
      cluster.ingress.lines.find(({ msg, requestId }) => msg === 'request served' && requestId === id);
    await until(() => served() !== undefined);
    expect(served()).toMatchObject({ moves: ['worker_lost'], continuations: ['continued'] });
  });
});
