import { randomBytes } from 'node:crypto';
import { describe, expect, inject, it } from 'vitest';
import { openKeyStore } from '../../helpers/accounts/open-key-store.ts';
import { readUsage } from '../../helpers/accounts/read-usage.ts';
import { chat, engineState, newKey, post, type KeyedPost } from '../../helpers/clients/keyed-requests.ts';
import { useCluster } from '../../helpers/cluster/share-cluster.ts';
import { until } from '../../helpers/until.ts';
import { useStarted } from '../../helpers/use-started.ts';

const cluster = useCluster();
const other = useStarted(() => cluster.otherIngress());

/** Sends a request with a key to one of the two ingress nodes. */
function send(idempotencyKey: string, asked: Partial<KeyedPost> & Pick<KeyedPost, 'body'>): Promise<Response> {
  const headers = { 'idempotency-key': idempotencyKey, ...asked.headers };
  return post({ url: cluster.url, key: cluster.key, ...asked, headers });
}

const executions = async () => (await engineState(cluster)).started;

/** Returns those ids of these requests that are in the ledger, after each ingress has written all earlier requests. */
async function recorded(...answers: Response[]): Promise<string[]> {
  const ids = new Set(answers.map(idOf));
  const urls = [cluster.url, other.url];
  const later = await Promise.all(urls.map((url) => post({ url, key: cluster.key, body: chat('tokens=1') })));
  const written = async (): Promise<string[]> => (await readUsage(cluster.prefix, cluster.keyId)).map(({ id }) => id);
  await until(async () => {
    const all = await written();
    return later.map(idOf).every((id) => all.includes(id));
  });
  return (await written()).filter((id) => ids.has(id));
}

const idOf = ({ headers }: Response): string => headers.get('x-request-id') ?? '';

describe('a request with an idempotency key', () => {
  it.each([
    ['the same', () => cluster.url],
    ['another', () => other.url],
  ])('joins the running one at %s ingress, which is executed once', async (_, place) => {
    for (const stream of [false, true]) {
      const key = newKey();
      const body = chat('tokens=30 rate=40', { stream });
      const started = await executions();
      const first = send(key, { body });
      await until(async () => (await executions()) === started + 1);
      const second = await send(key, { body, url: place() });
      const texts = await Promise.all([(await first).text(), second.text()]);
      expect(second.headers.get('idempotent-replayed')).toBe('true');
      expect(texts[1]).toBe(texts[0]);
      expect(texts[0].length).toBeGreaterThan(300);
      expect(await executions()).toBe(started + 1);
      expect(await recorded(await first, second)).toEqual([idOf(await first)]);
    }
  });

  it('is joined by sixteen others of a node, and no more', async () => {
    const key = newKey();
    const body = chat('tokens=60 rate=20', { stream: true });
    const first = await send(key, { body });
    const leaving = new AbortController();
    const joined = await Promise.all(Array.from({ length: 16 }, () => send(key, { body, signal: leaving.signal })));
    expect(joined.map(({ status }) => status)).toEqual(joined.map(() => 200));
    const refused = await send(key, { body });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
    expect(await refused.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
    leaving.abort();
    await first.text();
    await until(async () => (await send(key, { body })).status === 200);
  });

  it('is refused with another body, or at another endpoint, in the format of the client', async () => {
    const key = newKey();
    const body = chat('tokens=3');
    const started = await executions();
    await (await send(key, { body })).text();
    const reused = await send(key, { body: chat('tokens=4'), url: other.url });
    expect([reused.status, reused.headers.get('x-should-retry')]).toEqual([422, 'false']);
    const reuse = { type: 'invalid_request_error', code: 'idempotency_key_reused', param: 'idempotency-key' };
    expect(await reused.json()).toMatchObject({ error: reuse });
    const elsewhere = await send(key, { body: { ...body, max_tokens: 5 }, path: '/anthropic/v1/messages' });
    const error = { type: 'invalid_request_error', message: expect.stringContaining('another endpoint') };
    expect([elsewhere.status, await elsewhere.json()]).toMatchObject([422, { type: 'error', error }]);
    expect(await executions()).toBe(started + 1);
    // Also while the first request runs.
    const running = newKey();
    const first = send(running, { body: chat('tokens=20 rate=40') });
    await until(async () => (await executions()) === started + 2);
    expect((await send(running, { body })).status).toBe(422);
    expect((await first).status).toBe(200);
  });

  it('with a malformed key is refused', async () => {
    for (const wrong of ['', 'a'.repeat(256), 'tab\there']) {
      const answer = await send(wrong, { body: chat('tokens=3') });
      const error = { code: 'invalid_value', param: 'idempotency-key' };
      expect([answer.status, await answer.json()]).toMatchObject([400, { error }]);
    }
    const longest = await send('a'.repeat(255), { body: chat('tokens=3') });
    expect(longest.status).toBe(200);
    const event = await send(newKey(), { body: chat('tokens=3'), headers: { 'last-event-id': 'x' } });
    expect(event.status).toBe(400);
    expect(await event.json()).toMatchObject({ error: { code: 'invalid_value', param: 'last-event-id' } });
  });

  it('that was refused before its execution leaves its key free', async () => {
    const key = newKey();
    const body = { ...chat('tokens=3'), model: 'nobody-serves-this' };
    expect((await send(key, { body })).status).toBe(404);
    const again = await send(key, { body });
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([404, null]);
    // Even for another body.
    expect((await send(key, { body: chat('tokens=3') })).status).toBe(200);
  });

  it('that failed for a moment leaves its key free; a final error is replayed', async () => {
    const failing = newKey();
    const started = await executions();
    const body = chat('tokens=3 fault=500');
    const first = await send(failing, { body });
    const used = await executions();
    expect(first.status).toBeGreaterThanOrEqual(500);
    expect(used).toBeGreaterThan(started);
    const second = await send(failing, { body });
    expect(second.headers.get('idempotent-replayed')).toBeNull();
    expect(await executions()).toBeGreaterThan(used);

    const final = newKey();
    const wrong = chat('fault=unknown');
    const refused = await send(final, { body: wrong });
    expect(refused.status).toBe(400);
    const text = await refused.text();
    const again = await send(final, { body: wrong, url: other.url });
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([400, 'true']);
    expect(await again.text()).toBe(text);
    expect(await recorded(refused, again)).toEqual([idOf(refused)]);
  });

  it('that broke in the middle of a stream is replayed as it was', async () => {
    const key = newKey();
    const body = chat('tokens=20 fault=drop after=5', { stream: true });
    const text = await (await send(key, { body })).text();
    expect(text).toContain('"error"');
    const started = await executions();
    expect(await (await send(key, { body, url: other.url })).text()).toBe(text);
    expect(await executions()).toBe(started);
  });

  it('is counted by its outcome', async () => {
    const counts = async (): Promise<number[]> => {
      const metrics = await (await fetch(`${cluster.adminUrl}/metrics`)).text();
      return ['executed', 'joined', 'replayed'].map((outcome) =>
        Number(new RegExp(`^rtr_idempotent_requests_total\\{outcome="${outcome}"\\} (\\d+)`, 'm').exec(metrics)?.[1]),
      );
    };
    const before = await counts();
    const counted = async () => (await counts()).map((count, at) => count - (before[at] ?? 0));
    const { raw, id } = await cluster.addKey({});
    const { connection } = await openKeyStore(inject('redisUrl'), `${cluster.prefix}:`);
    const [key, asked, started] = [newKey(), { key: raw, body: chat('tokens=20 rate=5') }, await executions()];
    const first = send(key, asked);
    await until(async () => (await executions()) === started + 1);
    await (await send(key, asked)).text();
    await (await first).text();
    expect(await counted()).toEqual([1, 1, 0]);
    // The end may still be on its way to Redis; a request before its arrival joins.
    await until(async () => (await connection.redis.zcard(`${cluster.prefix}:idempotent-ended-of:${id}`)) === 1);
    await (await send(key, asked)).text();
    expect(await counted()).toEqual([1, 1, 1]);
  });
});

describe('a request without an idempotency key', () => {
  it('is executed each time, and leaves nothing', async () => {
    const started = await executions();
    const body = chat(`tokens=${3 + ((randomBytes(1)[0] ?? 0) % 3)}`, { stream: true });
    for (const _ of [1, 2]) {
      const answer = await post({ url: cluster.url, key: cluster.key, body });
      expect(await answer.text()).not.toMatch(/^id: /m);
    }
    expect(await executions()).toBe(started + 2);
  });
});
