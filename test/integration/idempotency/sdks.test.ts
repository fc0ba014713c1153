import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { engineState, newKey } from '../../helpers/clients/keyed-requests.ts';
import { shareCluster, type SharedCluster } from '../../helpers/cluster/share-cluster.ts';

/* The official SDKs, whose connection is cut in the middle of a stream, and which go on at another ingress. */

let cluster: SharedCluster;
let urls: string[];

beforeAll(async () => {
  cluster = await shareCluster({ ingress: { IDEMPOTENCY_GRACE_MS: '5000', KEEP_ALIVE_MS: '200' } });
  urls = [cluster.url, (await cluster.otherIngress()).url];
});
afterAll(() => cluster.stop());

const content = 'Tell a story.\n[demo tokens=60 rate=80]';

/** Streams an answer by an SDK: the text of each event, which is empty for most that are no text. */
type Ask = (url: string, headers: Record<string, string>, signal: AbortSignal) => AsyncIterable<string>;

async function* chatTexts(...[url, headers, signal]: Parameters<Ask>): AsyncIterable<string> {
  const client = new OpenAI({ baseURL: `${url}/api/openai/v1`, apiKey: cluster.key, maxRetries: 0 });
  const body = { model: 'demo', messages: [{ role: 'user' as const, content }], stream: true as const };
  for await (const { choices } of await client.chat.completions.create(body, { headers, signal }))
    yield choices[0]?.delta.content ?? '';
}

async function* responseTexts(...[url, headers, signal]: Parameters<Ask>): AsyncIterable<string> {
  const client = new OpenAI({ baseURL: `${url}/api/openai/v1`, apiKey: cluster.key, maxRetries: 0 });
  const body = { model: 'demo', input: content, stream: true as const };
  let number = Number(headers['last-event-id'] ?? -1);
  for await (const event of await client.responses.create(body, { headers, signal })) {
    expect('sequence_number' in event && event.sequence_number).toBe(++number);
    yield event.type === 'response.output_text.delta' ? event.delta : '';
  }
}

async function* messageTexts(...[url, headers, signal]: Parameters<Ask>): AsyncIterable<string> {
  const client = new Anthropic({ baseURL: `${url}/api/anthropic`, apiKey: cluster.key, maxRetries: 0 });
  const body = {
    model: 'demo',
    messages: [{ role: 'user' as const, content }],
    max_tokens: 500,
    stream: true as const,
  };
  for await (const event of await client.messages.create(body, { headers, signal }))
    yield event.type === 'content_block_delta' && event.delta.type === 'text_delta' ? event.delta.text : '';
}

const asks: { name: string; ask: Ask }[] = [
  { name: 'openai, chat', ask: chatTexts },
  { name: 'openai, responses', ask: responseTexts },
  { name: 'anthropic, messages', ask: messageTexts },
];

describe.each(asks)('the official SDK ($name)', ({ ask }) => {
  it('goes on after a cut connection, again and again, without a lost or doubled character', async () => {
    let expected = '';
    for await (const text of ask(cluster.url, {}, AbortSignal.timeout(30_000))) expected += text;
    expect(expected.length).toBeGreaterThan(200);
    const { started } = await engineState(cluster);
    const key = newKey();
    let got = '';
    // Events are numbered one after the other from 0 on, and both SDKs hand each of them on once.
    let seen = 0;
    for (let connections = 0; connections < 6; connections += 1) {
      const cut = new AbortController();
      const headers = { 'idempotency-key': key, ...(seen > 0 && { 'last-event-id': String(seen - 1) }) };
      const end = connections < 5 ? seen + 5 + connections : Infinity;
      for await (const text of ask(urls[connections % 2] ?? '', headers, cut.signal)) {
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
