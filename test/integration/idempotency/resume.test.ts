import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { readUsage } from '../../helpers/accounts/read-usage.ts';
import { chat, engineState, eventsIn, idsOf, newKey } from '../../helpers/clients/keyed-requests.ts';
import { readEvents, sendWithKey, upTo } from '../../helpers/clients/keyed-requests.ts';
import type { NumberedEvent, RepeatedPost } from '../../helpers/clients/keyed-requests.ts';
import { useCluster } from '../../helpers/cluster/share-cluster.ts';
import { until } from '../../helpers/until.ts';
import { useStarted } from '../../helpers/use-started.ts';

const cluster = useCluster({ ingress: { IDEMPOTENCY_GRACE_MS: '8000', KEEP_ALIVE_MS: '200' } });
const other = useStarted(() => cluster.otherIngress());

const prompt = (words: string) => `Tell a story.\n[demo ${words}]`;

/** The formats whose answers are streamed. */
const formats = [
  { format: 'chat', path: '/openai/v1/chat/completions', body: (words: string) => chat(words, { stream: true }) },
  {
    format: 'completions',
    path: '/openai/v1/completions',
    body: (words: string) => ({ model: 'demo', prompt: prompt(words), stream: true, max_tokens: 500 }),
  },
  {
    format: 'messages',
    path: '/anthropic/v1/messages',
    body: (words: string) => ({ ...chat(words, { stream: true }), max_tokens: 500 }),
  },
  {
    format: 'responses',
    path: '/openai/v1/responses',
    body: (words: string) => ({ model: 'demo', input: prompt(words), stream: true }),
  },
];

const send = (asked: RepeatedPost) => sendWithKey(cluster, asked);

describe.each(formats)('a stream of the $format format with an idempotency key', ({ format, path, body }) => {
  it('has an id at each event, and continues after any of them', async () => {
    const asked = { path, body: body('tokens=12'), key: newKey() };
    const events = eventsIn(await (await send(asked)).text());
    expect(events.length).toBeGreaterThan(format === 'responses' ? 15 : 10);
    expect(idsOf(events)).toEqual(upTo(events.length));
    if (format === 'responses')
      expect(events.map(({ data }) => (JSON.parse(data) as { sequence_number: number }).sequence_number)).toEqual(
        idsOf(events),
      );
    const { started } = await engineState(cluster);
    for (const { id } of events) {
      const rest = await send({ ...asked, url: other.url, after: Number(id) });
      expect(rest.headers.get('idempotent-replayed')).toBe('true');
      expect(eventsIn(await rest.text())).toEqual(events.slice(Number(id) + 1));
    }
    const beyond = await send({ ...asked, after: events.length });
    expect(beyond.status).toBe(400);
    expect((await engineState(cluster)).started).toBe(started);
  });

  it('continues at another ingress while it is produced, after its client was cut off', async () => {
    const before = (await readUsage(cluster.prefix, cluster.keyId)).length;
    const words = 'tokens=40 rate=60';
    const whole = textOf(format, eventsIn(await (await send({ path, body: body(words), key: newKey() })).text()));
    const asked = { path, body: body(words), key: newKey() };
    const cut = new AbortController();
    const seen = await readEvents(await send({ ...asked, signal: cut.signal }), 12, cut);
    const again = new AbortController();
    const after = Number(seen.at(-1)?.id);
    const more = await readEvents(await send({ ...asked, url: other.url, after, signal: again.signal }), 8, again);
    const rest = eventsIn(await (await send({ ...asked, after: Number(more.at(-1)?.id) })).text());
    const all = [...seen, ...more, ...rest];
    expect(idsOf(all)).toEqual(upTo(all.length));
    expect(textOf(format, all)).toBe(whole);
    await until(async () => (await readUsage(cluster.prefix, cluster.keyId)).length >= before + 2);
    const [record] = await readUsage(cluster.prefix, cluster.keyId);
    expect(record).toMatchObject({ outcome: 'done', completionTokens: 40 });
  });
});

describe('a stream with an idempotency key', () => {
  it('has no ids at keep-alives, which are not sent again', async () => {
    const check = async ({ path, body, format }: (typeof formats)[number]): Promise<void> => {
      const asked = { path, body: body('tokens=6 delay=4000'), key: newKey() };
      const [first, joined] = await Promise.all([
        send(asked).then((answer) => answer.text()),
        send({ ...asked, url: other.url }).then((answer) => answer.text()),
      ]);
      const sign = format === 'messages' ? 'event: ping\n' : ': keep-alive\n';
      for (const text of [first, joined]) {
        expect(text.split('\n\n').filter((block) => `${block}\n`.startsWith(sign)).length).toBeGreaterThan(1);
        expect(text).not.toMatch(/id: \d+\n(?::|event: ping)/);
      }
      expect(eventsIn(joined)).toEqual(eventsIn(first));
      const replayed = await (await send(asked)).text();
      expect(replayed).not.toContain(sign);
      expect(eventsIn(replayed)).toEqual(eventsIn(first));
    };
    await Promise.all(formats.slice(0, 3).map(check));
  });

  it('that is unknown is not executed when it is to continue', async () => {
    const { started } = await engineState(cluster);
    const answer = await send({ body: chat('tokens=5', { stream: true }), key: newKey(), after: 3 });
    expect(answer.status).toBe(409);
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(await answer.json()).toMatchObject({ error: { code: 'answer_not_kept' } });
    expect((await engineState(cluster)).started).toBe(started);
  });

  it('that is executed again has other ids, so that no client gets the rest of another text', async () => {
    const asked = { body: chat('tokens=1500 rate=60', { stream: true }), key: newKey() };
    const { aborted } = await engineState(cluster);
    const cut = new AbortController();
    const seen = await readEvents(await send({ ...asked, signal: cut.signal }), 3, cut);
    await until(async () => (await engineState(cluster)).aborted === aborted + 1);
    expect((await send({ ...asked, after: Number(seen.at(-1)?.id) })).status).toBe(409);
    const anew = new AbortController();
    const events = await readEvents(await send({ ...asked, signal: anew.signal }), 3, anew);
    expect(idsOf(events)).toEqual([1_000_000, 1_000_001, 1_000_002]);
    expect((await send({ ...asked, after: 2, url: other.url })).status).toBe(409);
    const end = new AbortController();
    const rest = await send({ ...asked, after: 1_000_002, url: other.url, signal: end.signal });
    expect(idsOf(await readEvents(rest, 2, end))).toEqual([1_000_003, 1_000_004]);
  });

  it('that is to continue after an event which never comes ends with an error', async () => {
    const asked = { body: chat('tokens=20 rate=5', { stream: true }), key: newKey() };
    const { started } = await engineState(cluster);
    const first = send(asked).then((answer) => answer.text());
    await until(async () => (await engineState(cluster)).started === started + 1);
    const rest = await send({ ...asked, after: 500, url: other.url });
    expect(await rest.text()).toContain('answer_not_kept');
    const last = eventsIn(await first).at(-1);
    // Nothing follows the last event.
    expect(eventsIn(await (await send({ ...asked, after: Number(last?.id) })).text())).toEqual([]);
  });

  it('whose answer is not a stream cannot continue after an event', async () => {
    const asked = { body: chat('tokens=5'), key: newKey() };
    await (await send(asked)).text();
    const answer = await send({ ...asked, after: 3 });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { code: 'invalid_value', param: 'last-event-id' } });
  });
});

function textOf(format: string, events: readonly NumberedEvent[]): string {
  return events.map(({ data }) => (data === '[DONE]' ? '' : pieceOf(format, data))).join('');
}

function pieceOf(format: string, data: string): string {
  const event = JSON.parse(data) as {
    type?: string;
    delta?: string | { text?: string };
    choices?: { text?: string; delta?: { content?: string } }[];
  };
  if (format === 'responses')
    return event.type === 'response.output_text.delta' && typeof event.delta === 'string' ? event.delta : '';
  if (format === 'messages') return typeof event.delta === 'object' ? (event.delta.text ?? '') : '';
  const [choice] = event.choices ?? [];
  return choice?.text ?? choice?.delta?.content ?? '';
}

/* The official SDKs, whose connection is cut in the middle of a stream, and which go on at another ingress. */

const content = 'Tell a story.\n[demo tokens=60 rate=80]';

/** Streams an answer through an SDK: the text of each event, empty for most other events. */
type Ask = (url: string, headers: Record<string, string>, signal: AbortSignal) => AsyncIterable<string>;

const openaiAt = (url: string) => new OpenAI({ baseURL: `${url}/api/openai/v1`, apiKey: cluster.key, maxRetries: 0 });

async function* chatTexts(...[url, headers, signal]: Parameters<Ask>): AsyncIterable<string> {
  const body = { model: 'demo', messages: [{ role: 'user' as const, content }], stream: true as const };
  for await (const { choices } of await openaiAt(url).chat.completions.create(body, { headers, signal }))
    yield choices[0]?.delta.content ?? '';
}

async function* responseTexts(...[url, headers, signal]: Parameters<Ask>): AsyncIterable<string> {
  const body = { model: 'demo', input: content, stream: true as const };
  let number = Number(headers['last-event-id'] ?? -1);
  for await (const event of await openaiAt(url).responses.create(body, { headers, signal })) {
    expect('sequence_number' in event && event.sequence_number).toBe(++number);
    yield event.type === 'response.output_text.delta' ? event.delta : '';
  }
}

async function* messageTexts(...[url, headers, signal]: Parameters<Ask>): AsyncIterable<string> {
  const client = new Anthropic({ baseURL: `${url}/api/anthropic`, apiKey: cluster.key, maxRetries: 0 });
  const asked = { model: 'demo', messages: [{ role: 'user' as const, content }], max_tokens: 500 };
  for await (const event of await client.messages.create({ ...asked, stream: true }, { headers, signal }))
    yield event.type === 'content_block_delta' && event.delta.type === 'text_delta' ? event.delta.text : '';
}

const asks: { name: string; ask: Ask }[] = [
  { name: 'openai, chat', ask: chatTexts },
  { name: 'openai, responses', ask: responseTexts },
  { name: 'anthropic, messages', ask: messageTexts },
];

describe.each(asks)('the official SDK ($name)', ({ ask }) => {
  it('continues after a cut connection, repeatedly, without a lost or doubled character', async () => {
    let expected = '';
    for await (const text of ask(cluster.url, {}, AbortSignal.timeout(30_000))) expected += text;
    expect(expected.length).toBeGreaterThan(200);
    const { started } = await engineState(cluster);
    const key = newKey();
    let got = '';
    // Events are numbered consecutively from 0, and both SDKs pass on each of them once.
    let seen = 0;
    for (let connections = 0; connections < 6; connections += 1) {
      const cut = new AbortController();
      const headers = { 'idempotency-key': key, ...(seen > 0 && { 'last-event-id': String(seen - 1) }) };
      const end = connections < 5 ? seen + 5 + connections : Infinity;
      for await (const text of ask(connections % 2 === 0 ? cluster.url : other.url, headers, cut.signal)) {
        got += text;
        seen += 1;
        if (seen < end) continue;
        cut.abort();
        break;
      }
    }
    expect(got).toBe(expected);
    expect((await engineState(cluster)).started).toBe(started + 1);
  });
});
