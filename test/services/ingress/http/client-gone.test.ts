import { expect, it } from 'vitest';
import type { JobHandler } from '#shared/broker/contract/job-contract.ts';
import { openRaw, rawHead } from '../../../helpers/clients/raw-http.ts';
import type { OnStep, Step } from '../../../helpers/broker/scripted-handler.ts';
import { chatRequest, useScriptedCluster } from '../../../helpers/cluster/start-scripted-cluster.ts';
import { least } from '../../../helpers/least.ts';
import { until } from '../../../helpers/until.ts';

const events: { event: string; requestId: string; at: number }[] = [];
const onStep: OnStep = (event, requestId) => void events.push({ event, requestId, at: performance.now() });
const when = (event: string, requestId: string): number | undefined =>
  events.find((each) => each.event === event && each.requestId === requestId)?.at;

const cluster = useScriptedCluster({ ingress: { KEEP_ALIVE_MS: '200' } }, {}, onStep);

const head = (requestId: string, ...more: string[]): string =>
  rawHead(cluster.key, [`x-request-id: ${requestId}`, ...more]);

function whole(requestId: string, steps: Step[], fields: Record<string, unknown>): string {
  const body = JSON.stringify(chatRequest(steps, fields));
  return head(requestId, `content-length: ${Buffer.byteLength(body)}`) + body;
}

const nothing = [
  'rtr_held_body_bytes 0',
  'rtr_open_requests 0',
  ...['queued', 'claimed', 'streaming'].map((state) => `rtr_jobs{state="${state}"} 0`),
];

const metrics = async (): Promise<string> => (await fetch(`${cluster.adminUrl}/metrics`)).text();

/** Returns the metrics of unfinished work, a line each. */
async function leftOvers(): Promise<string[]> {
  return (await metrics()).match(/^rtr_(held_body_bytes|open_requests|jobs\{[^}]*\}) \S+$/gm) ?? [];
}

const nothingIsLeft = () => until(async () => expect(await leftOvers()).toEqual(expect.arrayContaining(nothing)));

const logged = (requestId: string, line: object) =>
  until(() => expect(cluster.ingress.lines.find((each) => each['requestId'] === requestId)).toMatchObject(line));

it.each<[string, Step[], boolean, string]>([
  ['before the first token of a stream', [{ hang: true }], true, ''],
  ['before an answer that is not streamed', [{ hang: true }], false, ''],
  ['after the first token', [{ write: 'data: first\n\n' }, { hang: true }], true, 'data: first'],
  ['after the first token, in the middle of many', [{ count: 1_000, everyMs: 5 }], true, '10\n'],
])('a client that disconnects %s stops the generation within a second', async (name, steps, stream, seen) => {
  const slug = name.replaceAll(/\W/g, '-');
  let round = 0;
  const stop = async (): Promise<number> => {
    const requestId = `${slug}-${(round += 1)}`;
    const raw = await openRaw(cluster.url);
    raw.socket.write(whole(requestId, steps, { stream }));
    await until(() => when('started', requestId) !== undefined && raw.text().includes(seen));
    const goneAt = performance.now();
    raw.socket.destroy();
    await until(() => when('aborted', requestId) !== undefined);
    return (when('aborted', requestId) ?? Infinity) - goneAt;
  };
  expect(await least(stop, 1_000)).toBeLessThan(1_000);
  await logged(`${slug}-1`, { msg: 'client went away', outcome: 'cancelled' });
});

it.each([
  ['a body', 'mid-body', ['content-length: 1000'], '{"model":'],
  ['a compressed body', 'mid-gzip', ['content-encoding: gzip', 'content-length: 1000'], ''],
])(
  'a client that disconnects in the middle of %s leaves no job, body or request',
  async (_, requestId, headers, begin) => {
    await nothingIsLeft();
    const raw = await openRaw(cluster.url);
    raw.socket.write(head(requestId, ...headers) + begin);
    await until(async () => expect(await leftOvers()).toContain('rtr_open_requests 1'));
    raw.socket.destroy();
    await logged(requestId, { msg: 'request refused', code: 'invalid_json' });
    await nothingIsLeft();
  },
);

it('a client that disconnects at any moment of many requests leaves no job, body or request', async () => {
  const body = { filler: 'x'.repeat(200_000) };
  const closed: Promise<void>[] = [];
  for (let at = 0; at < 100; at += 1) {
    const raw = await openRaw(cluster.url);
    closed.push(raw.closed);
    raw.socket.write(whole(`any-${at}`, [{ count: 100, everyMs: 5 }], { ...body, stream: at % 2 === 0 }));
    // Some disconnect when their answer begins, however late that is.
    if (at % 5 === 0) raw.socket.once('data', () => raw.socket.destroy());
    else setTimeout(() => raw.socket.destroy(), at % 25);
  }
  await Promise.all(closed);
  await nothingIsLeft();
  const begun = events.filter(({ event, requestId }) => event === 'started' && requestId.startsWith('any-'));
  expect(begun.length).toBeGreaterThan(10);
  expect(cluster.ingress.lines.filter(({ level }) => Number(level) >= 40)).toEqual([]);
});

it('a client that reads nothing is disconnected when too many bytes wait for it, and its job ends', async () => {
  const before = await residentBytes();
  const piece = `data: ${'x'.repeat(16 * 1024)}\n\n`;
  const raw = await openRaw(cluster.url);
  raw.socket.pause();
  let [isAborted, written] = [false, 0];
  const handler: JobHandler = async (_, reply, signal) => {
    while (!signal.aborted) {
      reply.write(piece);
      written += piece.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
    isAborted = true;
    throw signal.reason;
  };
  await cluster.addScripted({ id: 'flood', models: [{ id: 'flood', capabilities: ['stream'] }], handler });
  raw.socket.write(whole('reads-nothing', [], { stream: true, model: 'flood' }));
  await until(() => isAborted);
  expect(written).toBeLessThan(200 * 1024 * 1024);
  expect((await residentBytes()) - before).toBeLessThan(150 * 1024 * 1024);
  raw.socket.destroy();
});

async function residentBytes(): Promise<number> {
  return Number((await metrics()).match(/^process_resident_memory_bytes (\S+)/m)?.[1]);
}
