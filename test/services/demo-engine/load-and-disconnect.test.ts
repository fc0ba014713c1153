import { describe, expect, it } from 'vitest';
import { startTestEngine, user } from './start-test-engine.ts';
import { until } from '../../helpers/until.ts';

const body = (demo: object = {}, more: object = {}) => ({ model: 'demo', messages: [user('Hi')], demo, ...more });

describe('the demo engine, when its clients disconnect', () => {
  it.each([
    ['before the first token of a stream', { stream: true, demo: { first_token_delay_ms: 60_000 } }],
    ['in the middle of a stream', { stream: true, demo: { tokens_per_second: 5 } }],
    ['before an answer that is not streamed', { demo: { tokens_per_second: 5 } }],
    ['while it hangs', { stream: true, demo: { fault: 'hang' } }],
  ])('stops at once: %s', async (_when, request) => {
    const { post, state } = await startTestEngine();
    const client = new AbortController();
    const answer = post({ ...body(), ...request }, client.signal)
      .then((response) => response.text())
      .catch((error: unknown) => error);
    await until(async () => expect((await state()).active).toBe(1));
    client.abort();
    await until(async () => expect(await state()).toMatchObject({ active: 0, aborted: 1 }));
    expect(await answer).toBeInstanceOf(Error);
  });

  it('removes a disconnected client from the queue, and gives the slot to the next', async () => {
    const { post, state } = await startTestEngine({ DEMO_SLOTS: '1' });
    const [first, second] = [new AbortController(), new AbortController()];
    const slow = { first_token_delay_ms: 60_000 };
    const held = post(body(slow), first.signal).catch((error: unknown) => error);
    await until(async () => expect((await state()).active).toBe(1));
    const leaving = post(body(slow), second.signal).catch((error: unknown) => error);
    const staying = post(body());
    await until(async () => expect((await state()).waiting).toBe(2));
    second.abort();
    await until(async () => expect((await state()).waiting).toBe(1));
    first.abort();
    expect((await staying).status).toBe(200);
    await Promise.all([held, leaving]);
    expect(await state()).toMatchObject({ active: 0, waiting: 0, started: 2, finished: 1, aborted: 1 });
  });
});

describe('the demo engine under load', () => {
  it('streams hundreds of answers at once', async () => {
    const { post, state } = await startTestEngine({ DEMO_SLOTS: '400' });
    const request = body({ answer_tokens: 20, tokens_per_second: 40 }, { stream: true });
    const texts = await Promise.all(Array.from({ length: 400 }, async () => (await post(request)).text()));
    expect(texts.every((text) => text.endsWith('data: [DONE]\n\n'))).toBe(true);
    expect(await state()).toMatchObject({ active: 0, finished: 400 });
  });

  it('generates no more than the client reads', async () => {
    const { post, state } = await startTestEngine({ DEMO_CONTEXT_WINDOW: '1000000' });
    const client = new AbortController();
    const response = await post(body({ answer_tokens: 200_000 }, { stream: true }), client.signal);
    let seen = 0;
    let timesSeen = 0;
    // Nothing is read: the buffers fill up, and then the count of sent tokens stays constant.
    await until(async () => {
      const sent = (await state()).last?.completion_tokens ?? 0;
      timesSeen = sent > 0 && sent === seen ? timesSeen + 1 : 0;
      seen = sent;
      return timesSeen >= 5;
    });
    expect(seen).toBeLessThan(200_000);
    client.abort();
    await until(async () => expect((await state()).active).toBe(0));
    await response.body?.cancel().catch((error: unknown) => expect(error).toBeInstanceOf(Error));
  });

  it('keeps serving while it counts the tokens of one endless word', async () => {
    const { post, get } = await startTestEngine();
    const counted = new AbortController();
    const long = post({ model: 'demo', messages: [user('a'.repeat(2_000_000))] }).finally(() => counted.abort());
    let served = 0;
    while (!counted.signal.aborted) {
      await get('/health');
      served += 1;
    }
    // One or two requests may arrive before the counting begins.
    expect(served).toBeGreaterThan(3);
    expect((await long).status).toBe(400);
  });
});
