import { readFileSync } from 'node:fs';
import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import { readUsage } from '../helpers/accounts/read-usage.ts';
import { post } from '../helpers/clients/keyed-requests.ts';
import { useHostedTools } from '../helpers/cluster/use-hosted-tools.ts';
import { startFakeModelApis } from '../helpers/upstreams/fake-model-apis.ts';
import { uniqueName } from '../helpers/unique-name.ts';
import { until } from '../helpers/until.ts';
import { useStarted } from '../helpers/use-started.ts';

const { cluster, withoutTools, diary } = useHostedTools();
const claude = useStarted(startFakeModelApis);

const anthropic = (key = cluster.key, url = cluster.url): Anthropic =>
  new Anthropic({ baseURL: `${url}/api/anthropic`, apiKey: key, maxRetries: 0 });

const webSearch = { type: 'web_search_20250305' as const, name: 'web_search' as const };
const webFetch = { type: 'web_fetch_20250910' as const, name: 'web_fetch' as const };
const weather = {
  name: 'get_weather',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] },
};

const search = (query: string): string => `[demo call web_search {"query": ${JSON.stringify(query)}}]`;

const badgers = [search('badgers'), '[demo say "Badgers dig."]'];

/** Returns a request whose text has a script for the demo engine. */
function ask(steps: string[], fields: object = {}) {
  const content = ['Please look it up.', ...steps].join('\n');
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content }];
  return { model: 'demo', max_tokens: 900, messages, tools: [webSearch], ...fields };
}

const create = (asked: Anthropic.MessageCreateParamsNonStreaming, headers = {}) =>
  anthropic().messages.create(asked, { headers });

/** Sends the next request of a conversation. */
const goOn = (
  { messages, ...asked }: ReturnType<typeof ask>,
  answer: Anthropic.Message,
  content: Anthropic.MessageParam['content'] = 'And now?',
) =>
  create({
    ...asked,
    messages: [...messages, { role: 'assistant', content: answer.content }, { role: 'user', content }],
  });

/** Returns the log lines about the turns and calls of a request, once there are this many. */
async function servedOf(id: string, count: number) {
  const lines = () =>
    cluster.ingress.lines.filter(({ requestId, msg }) => requestId === id && msg === 'request served');
  await until(() => lines().length === count);
  return lines();
}

describe('a web search on an engine without one', () => {
  it('is run, and the answer is one stream that the SDK reads', async () => {
    const stream = anthropic().messages.stream(ask(badgers));
    const events: Anthropic.MessageStreamEvent[] = [];
    stream.on('streamEvent', (event) => events.push(event));
    const message = await stream.finalMessage();
    expect(message).toMatchObject({ id: expect.stringMatching(/^msg_/), model: 'demo', stop_reason: 'end_turn' });
    expect(message.content).toEqual([
      expect.objectContaining({ type: 'server_tool_use', name: 'web_search', input: { query: 'badgers' } }),
      {
        type: 'web_search_tool_result',
        tool_use_id: expect.stringMatching(/^srvtoolu_/),
        caller: { type: 'direct' },
        content: ['pages.example', 'other.example'].map((host) => ({
          type: 'web_search_result',
          title: `badgers at ${host}`,
          url: `https://${host}/a`,
          encrypted_content: expect.any(String),
          page_age: null,
        })),
      },
      expect.objectContaining({ type: 'text', text: 'Badgers dig.' }),
    ]);
    expect(message.usage.server_tool_use).toMatchObject({ web_search_requests: 1 });
    const counts = Map.groupBy(events, ({ type }) => type);
    expect(counts.get('message_start')).toHaveLength(1);
    expect(counts.get('message_stop')).toHaveLength(1);
    expect(counts.get('content_block_start')?.map((event) => 'index' in event && event.index)).toEqual([0, 1, 2]);
  });

  it.each([
    ['subagent', 'auto.purposes.subagent'],
    ['auxiliary', undefined],
  ])('names the rule that chose the model of each turn, and none that did not: %s', async (purpose, rule) => {
    const id = `hosted-${purpose}`;
    await create(ask(badgers, { model: 'auto' }), { 'x-request-id': id, 'x-rtr-purpose': purpose });
    const turns = (await servedOf(id, 3)).filter(({ format }) => format === 'messages');
    expect(turns.map((line) => line['rule'])).toEqual([rule, rule]);
  });

  it('makes turns of one session of its turns, and the tools of the client before it count once', async () => {
    const session = uniqueName('searching');
    const headers = { 'x-claude-code-session-id': session, 'x-claude-code-prev-tool-durations': 'Bash=742' };
    await create(ask([search('badgers'), search('otters')]), headers);
    const ofSession = async () =>
      (await readUsage(cluster.prefix, cluster.keyId)).filter(({ turn }) => turn?.session === session).toReversed();
    await until(async () => (await ofSession()).length === 3);
    expect((await ofSession()).map(({ turn }) => turn?.tools?.ms)).toEqual([742, undefined, undefined]);
  });

  it('sums the usage of all turns, and each turn and call is a record of its own', async () => {
    const one = await create(ask(['[demo say "Badgers dig."]'], { tools: [] }));
    const steps = [search('badgers'), search('setts'), '[demo say "Dug."]'];
    const all = await create(ask(steps), { 'x-request-id': 'hosted-records' });
    expect(all.usage.input_tokens).toBeGreaterThan(3 * one.usage.input_tokens);
    const records = await servedOf('hosted-records', 5);
    const turn = ['messages', 'demo'];
    const call = ['tools', 'find_pages'];
    expect(records.map(({ format, model }) => [format, model])).toEqual([turn, call, turn, call, turn]);
    const tokens = records.map(({ usage }) => (usage as { completionTokens: number }).completionTokens);
    expect(all.usage.output_tokens).toBe(tokens.reduce((sum, each) => sum + each, 0));
  });

  it('is in the answer of a client that does not stream, and in its next request', async () => {
    const answer = await create(ask(badgers));
    expect(answer.content.map(({ type }) => type)).toEqual(['server_tool_use', 'web_search_tool_result', 'text']);
    const next = await goOn(ask(badgers), answer);
    expect(next.content).toEqual([
      expect.objectContaining({ type: 'text', text: expect.stringContaining('2 user, 2 assistant, 1 tool') }),
    ]);
  });

  it('is cited if the text names its results', async () => {
    const first = ask([search('badgers'), '[demo say "[Badgers](https://pages.example/a) dig."]']);
    const citation = {
      type: 'web_search_result_location',
      url: 'https://pages.example/a',
      title: 'badgers at pages.example',
      cited_text: '',
      encrypted_index: expect.any(String) as string,
    };
    const streamed = await anthropic().messages.stream(first).finalMessage();
    for (const { content } of [streamed, await create(first)])
      expect(content.at(-1)).toMatchObject({ citations: [citation] });
    expect((await goOn(first, streamed)).stop_reason).toBe('end_turn');
  });

  it('does not end the answer when it fails', async () => {
    const answer = await create(ask([search('broken'), '[demo say "No luck."]']));
    expect(answer.stop_reason).toBe('end_turn');
    expect(answer.content).toMatchObject([
      { type: 'server_tool_use' },
      { content: { type: 'web_search_tool_result_error', error_code: 'unavailable' } },
      { type: 'text', text: 'No luck.' },
    ]);
    expect(answer.usage.server_tool_use).toMatchObject({ web_search_requests: 0 });
  });

  it('shows a model the reason of a failure', async () => {
    const answer = await create(ask([search('broken')]));
    expect(answer.content.at(-1)).toMatchObject({ type: 'text', text: expect.stringContaining('the index is gone') });
  });

  it('finds nothing without failing', async () => {
    const answer = await create(ask([search('nothing'), '[demo say "Nothing."]']));
    expect(answer.content).toMatchObject([{ type: 'server_tool_use' }, { content: [] }, { text: 'Nothing.' }]);
  });

  it('stops at max_uses, of the request and of the registry', async () => {
    const tools = [{ ...webSearch, max_uses: 1 }];
    const own = await create(ask([search('a'), search('b'), '[demo say "Once."]'], { tools }));
    expect(own.content).toMatchObject([
      { type: 'server_tool_use' },
      { content: [{ title: 'a at pages.example' }, {}] },
      { type: 'server_tool_use' },
      { content: { error_code: 'max_uses_exceeded' } },
      { type: 'text', text: 'Once.' },
    ]);
    const many = await create(ask(['a', 'b', 'c', 'd', 'e', 'f'].map(search)));
    expect(many.content.filter(({ type }) => type === 'web_search_tool_result')).toHaveLength(4);
    expect(many.content.at(-1)).toMatchObject({ type: 'text', text: expect.stringContaining('not on offer') });
    expect(many.stop_reason).toBe('end_turn');
  });

  it('keeps to the domains of the request', async () => {
    const tools = [{ ...webSearch, allowed_domains: ['other.example'] }];
    const answer = await create(ask([search('a'), '[demo say "Done."]'], { tools }));
    expect(answer.content[1]).toMatchObject({ content: [{ url: 'https://other.example/a' }] });
  });

  it('gives the search tool the place of the user, if it takes one', async () => {
    const tools = [{ ...webSearch, user_location: { type: 'approximate' as const, city: 'Oslo', country: 'NO' } }];
    const answer = await create(ask([search('fjords'), '[demo say "Done."]'], { tools }));
    expect(answer.content[1]).toMatchObject({ content: [{ url: 'https://pages.example/a' }, {}] });
    expect(readFileSync(diary, 'utf8')).toContain('searching fjords near Oslo\n');
  });

  it('ends the turn when the model calls a tool of the client, and goes on with its result', async () => {
    const steps = [search('a'), '[demo call get_weather {"city": "Oslo"}]', '[demo say "Cold."]'];
    const first = ask(steps, { tools: [webSearch, weather] });
    const answer = await create(first);
    expect(answer.stop_reason).toBe('tool_use');
    expect(answer.content.map(({ type }) => type)).toEqual(['server_tool_use', 'web_search_tool_result', 'tool_use']);
    const call = answer.content.at(-1) as Anthropic.ToolUseBlock;
    const next = await goOn(first, answer, [{ type: 'tool_result', tool_use_id: call.id, content: '-3' }]);
    expect(next).toMatchObject({ stop_reason: 'end_turn', content: [{ type: 'text', text: 'Cold.' }] });
  });

  it('satisfies a choice that requires it for one turn', async () => {
    const answer = await create(ask([search('a')], { tool_choice: { type: 'tool', name: 'web_search' } }));
    expect(answer.content.map(({ type }) => type)).toEqual(['server_tool_use', 'web_search_tool_result', 'text']);
  });

  it('pings a streaming client while it runs', async () => {
    const body = { ...ask([search('late'), '[demo say "At last."]']), stream: true };
    const answer = await post({ ...cluster, path: '/anthropic/v1/messages', body });
    const [, waiting = ''] = (await answer.text()).split('"type":"server_tool_use"');
    const [before = ''] = waiting.split('web_search_tool_result');
    expect(before.match(/event: ping/g)?.length).toBeGreaterThanOrEqual(2);
  });

  it('is cancelled when the client disconnects', async () => {
    const cancelled = () => readFileSync(diary, 'utf8').match(/^cancelled$/gm)?.length ?? 0;
    const before = cancelled();
    const stream = anthropic().messages.stream(ask([search('slow')]));
    const done = stream.done().catch((error: unknown) => error);
    const begun = Promise.withResolvers<undefined>();
    stream.on('streamEvent', ({ type }) => void (type === 'content_block_stop' && begun.resolve(undefined)));
    await begun.promise;
    await until(() => readFileSync(diary, 'utf8').includes('searching slow'));
    stream.abort();
    await until(() => cancelled() > before);
    expect(await done).toBeInstanceOf(Anthropic.APIUserAbortError);
  });

  it('counts tokens including the functions that stand for the tools', async () => {
    const { messages } = ask([]);
    const count = (tools: Anthropic.MessageCountTokensTool[]) =>
      anthropic().messages.countTokens({ model: 'demo', messages, tools });
    expect((await count([webSearch])).input_tokens).toBeGreaterThan((await count([])).input_tokens + 20);
  });
});

describe('a web fetch on an engine without one', () => {
  const fetchPage = (url: string) => `[demo call web_fetch {"url": "${url}"}]`;

  it('fetches addresses that the conversation names', async () => {
    const steps = [fetchPage('https://pages.example/a'), '[demo say "Read."]'];
    const named = await create(ask(steps, { tools: [webFetch] }));
    const page = { source: { data: 'The text of https://pages.example/a.' } };
    expect(named.content).toMatchObject([
      { type: 'server_tool_use', name: 'web_fetch' },
      { type: 'web_fetch_tool_result', content: { url: 'https://pages.example/a', content: page } },
      { text: 'Read.' },
    ]);
    expect(named.usage.server_tool_use).toMatchObject({ web_fetch_requests: 1 });
  });

  it('fetches what a search has found', async () => {
    const steps = [search('setts'), fetchPage('https://other.example/a'), '[demo say "Read."]'];
    const answer = await create(ask(steps, { tools: [webSearch, webFetch] }));
    expect(answer.content[3]).toMatchObject({ type: 'web_fetch_tool_result', content: { type: 'web_fetch_result' } });
  });
});

describe('a web search', () => {
  it('is run by an upstream that has one, which gets the request unchanged', async () => {
    const provider = { PROVIDER: 'anthropic', PROVIDER_URL: `${claude.url}/v1`, PROVIDER_KEY: 'k' };
    await cluster.addCloudWorker({ ...provider, PROVIDER_MODELS: 'claude-native' });
    for (const model of ['claude-native', 'auto']) {
      const stream = anthropic().messages.stream(ask([], { model }));
      expect((await stream.finalMessage()).model).toBe('claude-native');
      expect(claude.calls.at(-1)?.body['tools']).toEqual([webSearch]);
    }
    // A model that cannot search and that the client names is supported by the router.
    expect((await create(ask([search('a')]))).content[0]).toMatchObject({ type: 'server_tool_use' });
  });

  const error = { type: 'invalid_request_error', message: expect.stringContaining('tools.0.type') };

  it('is refused by the name of the tool if no tool is configured', async () => {
    const refused = anthropic(cluster.key, withoutTools.url).messages.create(ask([search('a')]));
    await expect(refused).rejects.toMatchObject({ status: 400, error: { error } });
  });

  it('is refused for a key that may not use tools', async () => {
    const { raw } = await cluster.addKey({ tiers: ['gpu'] });
    for (const model of ['demo', 'auto']) {
      const refused = anthropic(raw).messages.create({ ...ask([search('a')]), model });
      await expect(refused).rejects.toMatchObject({ status: 400, error: { error } });
    }
  });
});
