import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { recordOf } from '../helpers/accounts/read-usage.ts';
import { engineState, post } from '../helpers/clients/keyed-requests.ts';
import { useHostedTools } from '../helpers/cluster/use-hosted-tools.ts';
import { least } from '../helpers/least.ts';
import { until } from '../helpers/until.ts';

const { cluster, diary } = useHostedTools();

/**
 * Sends a request, disconnects while the engine writes, and returns the milliseconds until the engine's slot was free, and the id of the
 * request.
 */
async function leave(body: object): Promise<{ freedAfterMs: number; id: string }> {
  const client = new AbortController();
  const id = `left-${crypto.randomUUID()}`;
  const answer = post({
    ...cluster,
    path: '/openai/v1/responses',
    body: { model: 'demo', store: false, ...body },
    headers: { 'x-request-id': id },
    signal: client.signal,
  }).then((response) => response.text());
  const left = expect(answer).rejects.toThrow('aborted');
  await until(async () => (await engineState(cluster)).active === 1);
  // The engine writes for a while.
  await new Promise((done) => setTimeout(done, 400));
  const leftAt = performance.now();
  client.abort();
  await left;
  await until(async () => (await engineState(cluster)).active === 0);
  return { freedAfterMs: performance.now() - leftAt, id };
}

const slowly = 'Take your time.\n[demo rate=100 tokens=4000]';
const tools = [{ type: 'web_search' }];

describe('a Responses client that leaves', () => {
  it.each([
    ['a stream', { input: slowly, stream: true }],
    ['a whole answer', { input: slowly }],
    ['a stream with hosted tools', { input: slowly, stream: true, tools }],
    ['a whole answer with hosted tools', { input: slowly, tools }],
    ['the second turn of a whole answer', { input: `[demo call web_search {"query": "a"}]\n${slowly}`, tools }],
  ])('frees the slot of the engine within a second: %s', async (_, body) => {
    const free = async (): Promise<number> => {
      const { freedAfterMs, id } = await leave(body);
      const { promptTokens, completionTokens } = await recordOf(cluster, id);
      expect(promptTokens).toBeGreaterThan(0);
      // A whole answer leaves the engine only at its end, unless the request has turns.
      const isKnown = 'stream' in body || 'tools' in body;
      expect(completionTokens).toBeLessThan(2_000);
      // On a busy machine nothing may have arrived yet.
      return isKnown && completionTokens <= 10 ? Infinity : freedAfterMs;
    };
    expect(await least(free, 1_000)).toBeLessThan(1_000);
  });
});

describe('a client that leaves while a hosted tool runs', () => {
  const steps = 'Look.\n[demo call web_search {"query": "slow"}]\n[demo say "Done."]';
  const input = { model: 'demo', store: false, input: steps, tools };
  const messages = {
    model: 'demo',
    max_tokens: 900,
    messages: [{ role: 'user', content: steps }],
    tools: [{ type: 'web_search_20250305', name: 'web_search' }],
  };

  it.each([
    ['a stream', '/openai/v1/responses', { ...input, stream: true }],
    ['a whole answer', '/openai/v1/responses', input],
    ['a stream of messages', '/anthropic/v1/messages', { ...messages, stream: true }],
    ['a whole message', '/anthropic/v1/messages', messages],
  ])('causes its cancellation within a second, and no further turn: %s', async (_, path, body) => {
    const cancel = async (): Promise<number> => {
      writeFileSync(diary, '');
      const client = new AbortController();
      const answer = post({ ...cluster, path, body, signal: client.signal }).then((response) => response.text());
      const left = expect(answer).rejects.toThrow('aborted');
      await until(() => readFileSync(diary, 'utf8').includes('searching slow'));
      const { started } = await engineState(cluster);
      const leftAt = performance.now();
      client.abort();
      await until(() => readFileSync(diary, 'utf8').includes('cancelled'));
      const cancelledAfterMs = performance.now() - leftAt;
      await left;
      // A turn would begin at once.
      await new Promise((done) => setTimeout(done, 300));
      expect((await engineState(cluster)).started).toBe(started);
      return cancelledAfterMs;
    };
    expect(await least(cancel, 1_000)).toBeLessThan(1_000);
  });
});
