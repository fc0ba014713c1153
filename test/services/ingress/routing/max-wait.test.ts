import { describe, expect, it, onTestFinished } from 'vitest';
import { chatRequest, useScriptedCluster } from '../../../helpers/cluster/start-scripted-cluster.ts';
import type { Step } from '../../../helpers/broker/scripted-handler.ts';
import { least } from '../../../helpers/least.ts';
import { until } from '../../../helpers/until.ts';

let started = 0;
const models = [{ id: 'demo', capabilities: ['stream' as const] }];
const cluster = useScriptedCluster({}, { slots: 1, models }, (event) => {
  if (event === 'started') started += 1;
});

const formats = [
  { format: 'chat', path: 'openai/chat/completions', busy: 503, type: 'server_error' },
  { format: 'messages', path: 'anthropic/v1/messages', busy: 529, type: 'overloaded_error' },
];

function ask(
  path: string,
  maxWait: string | undefined,
  steps: Step[] = [{ write: '{}' }],
  {
    signal = null,
    key = cluster.key,
    fields = {},
  }: { signal?: AbortSignal | null; key?: string; fields?: object } = {},
) {
  const wait = maxWait !== undefined && { 'x-rtr-max-wait': maxWait };
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...wait };
  const body = JSON.stringify(chatRequest(steps, { max_tokens: 5, ...fields }));
  return fetch(`${cluster.url}/api/${path}`, { method: 'POST', headers, body, signal });
}

async function fillSlot(): Promise<void> {
  const before = started;
  const client = new AbortController();
  const running = ask('openai/chat/completions', undefined, [{ hang: true }], client).catch(() => undefined);
  onTestFinished(async () => {
    client.abort();
    await running;
  });
  await until(() => started > before);
}

describe.each(formats)('x-rtr-max-wait in the $format format', ({ path, busy, type }) => {
  it('ends a request that no worker takes in time', async () => {
    await fillSlot();
    const wait = async (): Promise<number> => {
      const begun = performance.now();
      const answer = await ask(path, '0.5');
      const ms = performance.now() - begun;
      expect(answer.status).toBe(busy);
      expect(await answer.json()).toMatchObject({ error: { type } });
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(answer.headers.get('x-should-retry')).toBe('true');
      expect(ms).toBeGreaterThan(450);
      return ms;
    };
    expect(await least(wait, 2_000)).toBeLessThan(2_000);
  });

  it('that is no number of seconds is refused', async () => {
    const answer = await ask(path, 'soon');
    expect(answer.status).toBe(400);
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(await answer.json()).toMatchObject({
      error: { type: 'invalid_request_error', message: expect.stringContaining('x-rtr-max-wait') as string },
    });
  });
});

describe('x-rtr-max-wait', () => {
  const path = 'openai/chat/completions';

  it('ends a request at once if others would keep it waiting for longer', async () => {
    await fillSlot();
    const client = new AbortController();
    onTestFinished(() => client.abort());
    for (let at = 0; at < 20; at += 1) ask(path, undefined, [], client).catch(() => undefined);
    // After a second without a claim, 20 jobs in line stand for 20 seconds.
    const refused = async (): Promise<boolean> => {
      const begun = performance.now();
      const answer = await ask(path, '2');
      await answer.arrayBuffer();
      return answer.status === 503 && performance.now() - begun < 1_000;
    };
    await until(async () => expect(await refused()).toBe(true));
  });

  it('lets a request run for longer than it may wait', async () => {
    // The requests of the previous test may still leave the slot, and a process that stands still may keep this one waiting.
    await until(async () => {
      const answer = await ask(path, '1', [{ waitMs: 1_300 }, { write: '{"a":1}' }]);
      expect([answer.status, await answer.json()]).toEqual([200, { a: 1 }]);
    });
  });
});

it('a request that no connected model can serve does not wait, and its error names what the models lack', async () => {
  // Other test files have registered models here that take images.
  const { raw: key } = await cluster.addKey({ models: ['blind'] });
  await cluster.addScripted({ models: [{ id: 'blind', capabilities: ['stream'] }] });
  const send = (fields: object) => ask('openai/chat/completions', undefined, undefined, { key, fields });
  await until(async () => expect((await send({ model: 'blind' })).status).toBe(200));
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } };
  const answer = await send({ model: 'auto', messages: [{ role: 'user', content: [image] }] });
  // A request that has waited ends with 503.
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { message: 'No connected model takes images.' } });
});
