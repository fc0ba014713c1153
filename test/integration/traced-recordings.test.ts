import { randomBytes, randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { metricOf } from '../helpers/cluster/worker-admin.ts';
import { post } from '../helpers/clients/keyed-requests.ts';
import { shareCluster } from '../helpers/cluster/share-cluster.ts';
import { adminCommandsOf } from '../helpers/rtr/admin-commands.ts';
import { startCollector } from '../helpers/tracing/start-collector.ts';
import type { ReceivedSpan } from '../helpers/tracing/decode-spans.ts';
import { until } from '../helpers/until.ts';
import { useStarted } from '../helpers/use-started.ts';

const recordings = { RECORDINGS: 'traced', SEAL_SECRET: 'ab'.repeat(32) };
const server = 2;
const chat = '/openai/v1/chat/completions';

/** A key with recording switched on. */
let recorded: string;

const collector = useStarted(() => startCollector());
const cluster = useStarted(() => shareCluster({ ingressOnce: { ...recordings, ...collector.environment } }));
beforeAll(async () => {
  const { raw, id } = await cluster.addKey({ name: 'recorded' });
  await adminCommandsOf(cluster)('keys', 'set', id, '--records');
  recorded = raw;
});

async function ask(body: object, { key = recorded, flags = '01', headers = {}, path = chat } = {}) {
  const traceId = randomBytes(16).toString('hex');
  const traceparent = `00-${traceId}-${randomBytes(8).toString('hex')}-${flags}`;
  const answer = await post({ ...cluster, key, path, body, headers: { traceparent, ...headers } });
  const text = await answer.text();
  const serverSpan = () => collector.spans.find((span) => span.traceId === traceId && span.kind === server);
  if (flags === '01') await until(() => serverSpan() !== undefined);
  return { answer, text, span: serverSpan() };
}

const parsed = (span: ReceivedSpan | undefined, name: string): unknown => {
  const value = span?.attributes[name];
  return typeof value === 'string' ? JSON.parse(value) : undefined;
};

const sent = (): string => Buffer.concat(collector.raw).toString('latin1');

const user = (content: unknown) => [{ role: 'user', content }];

describe('the span of a recorded request', () => {
  it.each([
    ['chat', chat, (prompt: string) => ({ messages: user(prompt) })],
    ['messages', '/anthropic/v1/messages', (prompt: string) => ({ max_tokens: 50, messages: user(prompt) })],
    ['responses', '/openai/v1/responses', (prompt: string) => ({ input: prompt, store: false })],
    ['completions', '/openai/v1/completions', (prompt: string) => ({ prompt })],
  ])('has the messages of %s, whole and streamed', async (_, path, bodyOf) => {
    const prompt = `Say something. ${randomUUID()}`;
    for (const stream of [false, true]) {
      const { answer, span } = await ask({ model: 'demo', stream, ...bodyOf(prompt) }, { path });
      expect(answer.headers.get('content-type')?.startsWith('text/event-stream')).toBe(stream);
      expect([answer.status, answer.headers.get('x-rtr-recorded')]).toEqual([200, 'true; traces']);
      const input = [{ role: 'user', parts: [{ type: 'text', content: prompt }] }];
      expect(parsed(span, 'gen_ai.input.messages')).toEqual(input);
      const output = parsed(span, 'gen_ai.output.messages');
      expect(output).toMatchObject([{ role: 'assistant', finish_reason: expect.stringMatching(/^(?:stop|length)$/) }]);
      const [{ parts }] = output as [{ parts: { type: string; content: string }[] }];
      expect(parts.findLast(({ type }) => type === 'text')?.content.length).toBeGreaterThan(10);
      // Attributes that exist without recordings stay.
      expect(span?.attributes).toMatchObject({ 'gen_ai.request.model': 'demo', 'http.response.status_code': 200 });
    }
  });

  it('has the text that the client was sent', async () => {
    const { text, span } = await ask({ model: 'demo', messages: user('Hello.') });
    const { choices } = JSON.parse(text) as { choices: [{ message: { content: string } }] };
    const parts = [{ type: 'text', content: choices[0].message.content }];
    expect(parsed(span, 'gen_ai.output.messages')).toMatchObject([{ parts }]);
  });

  it('has the messages with an idempotency key, too', async () => {
    const headers = { 'idempotency-key': 'k-1' };
    const { span } = await ask({ model: 'demo', messages: user('Once.') }, { headers });
    expect(parsed(span, 'gen_ai.output.messages')).toMatchObject([{ role: 'assistant', finish_reason: 'stop' }]);
  });

  it('has the instructions beside the conversation', async () => {
    const body = { model: 'demo', max_tokens: 20, system: 'Be brief.', messages: user('Hello.') };
    const { span } = await ask(body, { path: '/anthropic/v1/messages' });
    expect(parsed(span, 'gen_ai.system_instructions')).toEqual([{ type: 'text', content: 'Be brief.' }]);
  });

  it('has the last messages that fit, and the number of the others', async () => {
    const long = Array.from({ length: 10 }, (_, at) => `${at}${'ä'.repeat(5_000)}`);
    const messages = long.flatMap((content, at) => [{ role: at % 2 === 0 ? 'user' : 'assistant', content }]);
    const { span } = await ask({ model: 'demo', messages: [...messages, ...user('?')] });
    const input = parsed(span, 'gen_ai.input.messages') as { parts: [{ content: string }] }[];
    expect(input.map(({ parts }) => parts[0].content[0])).toEqual(['4', '5', '6', '7', '8', '9', '?']);
    expect(span?.attributes['rtr.left_out.input_messages']).toBe(4);
  });

  it('has no bytes of images', async () => {
    const image = randomBytes(300).toString('base64');
    const content = [
      { type: 'text', text: 'See here.' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } },
    ];
    const { span } = await ask({ model: 'demo', messages: user(content) });
    expect(parsed(span, 'gen_ai.input.messages')).toMatchObject([
      { parts: [{ content: 'See here.' }, { type: 'blob', mime_type: 'image/png', content: '', 'rtr.length': 400 }] },
    ]);
    expect(sent()).not.toContain(image.slice(0, 40));
  });

  it('shows that its body was longer than the recorded part', async () => {
    const { answer, span } = await ask({ model: 'demo', messages: user('x'.repeat(2 * 1024 * 1024)) });
    expect(answer.headers.get('x-rtr-recorded')).toBe('true; traces');
    expect(span?.attributes['rtr.recording_cut']).toEqual(['request']);
    expect(span?.attributes['gen_ai.input.messages']).toBeUndefined();
  });

  it('is counted', async () => {
    expect(await metricOf(cluster.adminUrl, 'rtr_traced_recordings_total{outcome="queued"}')).toBeGreaterThan(5);
    expect(await metricOf(cluster.adminUrl, 'rtr_traced_recordings_total{outcome="failed"}')).toBe(0);
  });
});

describe('traces contain nothing of a conversation', () => {
  it('of a request that is not recorded, or of one that is not traced', async () => {
    const marked = () => {
      const mark = `mark-${randomUUID()}`;
      return { mark, body: { model: 'demo', messages: user(`Please repeat: ${mark}`) } };
    };
    const [control, unrecorded, untraced] = [marked(), marked(), marked()];
    const asked = [
      await ask(unrecorded.body, { key: cluster.key }),
      await ask(untraced.body, { flags: '00' }),
      await ask(control.body),
    ];
    expect(asked.map(({ answer }) => answer.status)).toEqual([200, 200, 200]);
    const told = asked.map(({ answer }) => answer.headers.get('x-rtr-recorded'));
    expect(told).toEqual([null, 'true', 'true; traces']);
    expect(asked.map(({ span }) => span !== undefined)).toEqual([true, false, true]);
    expect([control, unrecorded, untraced].map(({ mark }) => sent().includes(mark))).toEqual([true, false, false]);
    const names = Object.keys(asked[0]?.span?.attributes ?? {});
    expect(names.filter((name) => /messages|instructions/.test(name))).toEqual([]);
  });

  it('of a key that is revoked while its request runs', async () => {
    const { raw, id } = await cluster.addKey({ name: 'for a while' });
    await adminCommandsOf(cluster)('keys', 'set', id, '--records');
    const mark = `mark-${randomUUID()}`;
    const messages = user(`Please repeat: ${mark}\n[demo tokens_per_second=20]`);
    // Recording begins within a second.
    await until(async () => {
      const { answer } = await ask({ model: 'demo', messages: user('Hello.') }, { key: raw });
      return answer.headers.has('x-rtr-recorded');
    });
    const asked = ask({ model: 'demo', max_tokens: 120, stream: true, messages }, { key: raw });
    await until(async () => Number(await metricOf(cluster.adminUrl, 'rtr_recording_held_bytes')) > 0);
    await adminCommandsOf(cluster)('keys', 'revoke', id);
    const { answer, text, span } = await asked;
    expect([answer.status, answer.headers.get('x-rtr-recorded')]).toEqual([200, 'true; traces']);
    expect(text).toContain('[DONE]');
    expect(span?.attributes).toMatchObject({ 'gen_ai.request.model': 'demo', 'http.response.status_code': 200 });
    expect(Object.keys(span?.attributes ?? {}).filter((name) => /messages|instructions/.test(name))).toEqual([]);
    expect(sent()).not.toContain(mark);
    expect(await metricOf(cluster.adminUrl, 'rtr_traced_recordings_total{outcome="gone"}')).toBe(1);
  });
});
