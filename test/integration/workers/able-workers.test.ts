import { beforeAll, describe, expect, it } from 'vitest';
import { post } from '../../helpers/clients/keyed-requests.ts';
import { useCluster } from '../../helpers/cluster/share-cluster.ts';
import { withRegistry } from '../../helpers/cluster/with-registry.ts';
import { startMessagesUpstream } from '../../helpers/upstreams/start-messages-upstream.ts';
import { until } from '../../helpers/until.ts';
import { useStarted } from '../../helpers/use-started.ts';
import { slowCat } from '../../helpers/cluster/worker-settings.ts';

const registry = `
auto: { tiers: [cli, gpu, cloud], except: [limited] }
models:
  best: { targets: [{ model: gone }] }
`;

const error = { type: 'rate_limit_error', message: 'Slow down.' };
const limit = { status: 429, headers: { 'retry-after': '40' }, error };
const upstream = useStarted(() =>
  startMessagesUpstream(['far', 'limited'], ({ body: { model } }) =>
    model === 'limited' ? limit : [{ type: 'text', text: 'Hello.' }],
  ),
);
/** A command-line agent that comes first, an engine with the chat format, and a provider with the messages format. */
const cluster = useCluster({ ingressOnce: withRegistry(registry) });
beforeAll(async () => {
  const provider = { PROVIDER: 'anthropic', PROVIDER_URL: `${upstream.url}/v1`, PROVIDER_KEY: 'none' };
  await Promise.all([cluster.addCliWorker(slowCat()), cluster.addCloudWorker(provider)]);
});

async function ask(
  path: string,
  fields: object,
  key = cluster.key,
): Promise<{ status: number; tier: string | null; retryAfter: string | null; body: unknown }> {
  const answer = await post({ ...cluster, key, path: `/${path}`, body: { model: 'auto', max_tokens: 10, ...fields } });
  const { status, headers } = answer;
  return { status, tier: headers.get('x-rtr-tier'), retryAfter: headers.get('retry-after'), body: await answer.json() };
}

const user = { role: 'user', content: 'hi' };
const says = (...content: object[]): object => ({ messages: [{ role: 'user', content }] });
const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjQ=' };
const text = { type: 'text', media_type: 'text/plain', data: 'words' };
const result = { type: 'search_result', source: 's', title: 't', content: [{ type: 'text', text: 'r' }] };
const calls = [
  user,
  { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'r' }] },
];
const chatCall = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };
const called = [
  user,
  { role: 'assistant', content: null, tool_calls: [chatCall] },
  { role: 'tool', tool_call_id: 'call_1', content: 'r' },
];
const mcpServer = { type: 'url', name: 'm', url: 'https://m.example/' };
const execution = { type: 'code_execution_20250825', name: 'code_execution' };
const tool = { name: 'f', input_schema: { type: 'object' } };

describe('auto', () => {
  it.each<[string, string, object]>([
    ['cli', 'a text', { messages: [user] }],
    ['gpu', 'a document of text', says({ type: 'document', source: text })],
    ['cloud', 'a PDF', says({ type: 'document', source: pdf })],
    ['cloud', 'search results', says(result)],
    ['cloud', 'MCP servers', { messages: [user], mcp_servers: [mcpServer] }],
    ['cloud', 'a container', { messages: [user], container: 'container_1' }],
    ['cloud', 'a web search', { messages: [user], tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
    ['cloud', 'code execution', { messages: [user], tools: [execution] }],
    ['cloud', 'a request for no output, which warms the cache', { messages: [user], max_tokens: 0 }],
    ['gpu', 'calls of tools without tools', { messages: calls }],
    ['gpu', 'calls of tools, and none allowed', { messages: calls, tools: [tool], tool_choice: { type: 'none' } }],
    ['gpu', 'an answer that is begun', { messages: [user, { role: 'assistant', content: 'The' }] }],
  ])('has %s serve %s in the messages format', async (tier, _, fields) => {
    const { status, ...answer } = await ask('anthropic/v1/messages', fields);
    expect(answer).toMatchObject({ tier });
    expect(status, JSON.stringify(answer.body)).toBe(200);
  });

  it.each<[string, string, object]>([
    ['cli', 'a text', { messages: [user] }],
    ['gpu', 'log probabilities', { messages: [user], logprobs: true }],
    ['gpu', 'an answer that is begun', { messages: [user, { role: 'assistant', content: 'The' }] }],
    ['gpu', 'calls of tools without tools', { messages: called }],
  ])('has %s serve %s in the chat format', async (tier, _, fields) => {
    expect(await ask('openai/v1/chat/completions', fields)).toMatchObject({ tier });
  });

  it.each<[string, string]>([
    ['a text', 'data:text/plain;base64,aGk='],
    ['a PDF', `data:application/pdf;base64,${pdf.data}`],
  ])('has cloud serve %s as a file in the chat format, where there are agents and cloud only', async (_, data) => {
    const { raw } = await cluster.addKey({ tiers: ['cli', 'cloud'] });
    const file = says({ type: 'file', file: { filename: 'a', file_data: data } });
    expect(await ask('openai/v1/chat/completions', { messages: [user] }, raw)).toMatchObject({ tier: 'cli' });
    expect(await ask('openai/v1/chat/completions', file, raw)).toMatchObject({ status: 200, tier: 'cloud' });
  });

  it('lets a worker answer a request that it refuses if no other accepts it', async () => {
    const answer = await ask('openai/v1/responses', { input: [{ type: 'computer_call', id: 'c', call_id: 'c' }] });
    const named = { message: expect.stringContaining('computer_call') };
    expect(answer).toMatchObject({ status: 400, body: { error: named } });
  });
});

async function refuse(model: string) {
  const askedAt = performance.now();
  const { status, retryAfter, body } = await ask('openai/v1/chat/completions', { model, messages: [user] });
  const { message } = (body as { error: { message: string } }).error;
  return { status, retryAfter, message, ms: performance.now() - askedAt };
}

// The last tests, after which the upstream is left alone for a while.
describe('a request that nobody can serve', () => {
  it('is refused at once, with the names that its own stands for', async () => {
    const refusal = await refuse('best');
    expect(refusal).toMatchObject({ status: 503, retryAfter: '10', message: expect.stringContaining('`gone`') });
    // It does not wait 15 seconds for a worker.
    expect(refusal.ms).toBeLessThan(10_000);
  });

  it('is refused at once with the rest of the pause while every upstream limits its rate', async () => {
    expect(await refuse('limited')).toMatchObject({ status: 429 });
    await until(async () => (await refuse('limited')).message.startsWith('Every upstream'));
    const refusal = await refuse('limited');
    expect(refusal).toMatchObject({ status: 429, message: expect.stringContaining('limits its rate') });
    expect(Number(refusal.retryAfter)).toBeGreaterThan(15);
    expect(refusal.ms).toBeLessThan(10_000);
    expect(upstream.calls.filter(({ body: { model } }) => model === 'limited')).toHaveLength(1);
  });
});
