import { readFileSync } from 'node:fs';
import OpenAI from 'openai';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { commonRegistry } from '../helpers/cluster/common-ingress.ts';
import { useHostedTools } from '../helpers/cluster/use-hosted-tools.ts';
import { startFakeModelApis } from '../helpers/upstreams/fake-model-apis.ts';
import { until } from '../helpers/until.ts';

type Tool = OpenAI.Responses.Tool;
type Item = OpenAI.Responses.ResponseOutputItem;

const { cluster, withoutTools, toolsWorker, diary } = useHostedTools();
beforeAll(() => cluster.addBatchRunner(commonRegistry()));

const openai = (url = cluster.url): OpenAI =>
  new OpenAI({ baseURL: `${url}/api/openai/v1`, apiKey: cluster.key, maxRetries: 0 });

const webSearch: Tool = { type: 'web_search' };
const pages = (fields: object = {}): Tool => ({
  type: 'mcp',
  server_label: 'pages',
  server_url: 'http://127.0.0.1:1/mcp',
  require_approval: 'never',
  ...fields,
});
const weather: Tool = {
  type: 'function',
  name: 'get_weather',
  strict: false,
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

const search = (query: string): string => `[demo call web_search ${JSON.stringify({ query })}]`;
const badgers = [search('badgers'), '[demo say "Badgers dig."]'];

const create = (asked: OpenAI.Responses.ResponseCreateParamsNonStreaming, url?: string) =>
  openai(url).responses.create(asked);

/** Returns a request whose text has a script for the demo engine. */
function ask(steps: string[], tools: Tool[] = [webSearch]) {
  return { model: 'demo', input: ['Please look it up.', ...steps].join('\n'), tools, store: false };
}

/** Returns the user's text, and after it the answer with the client's additions. */
const sentBack = (text: string, output: Item[], ...more: object[]): OpenAI.Responses.ResponseInput =>
  [{ role: 'user', content: text }, ...output, ...more] as OpenAI.Responses.ResponseInput;

const typesOf = (output: Item[]): string[] => output.map(({ type }) => type);

describe('a web search of a Responses client on an engine without one', () => {
  it('is run, and the answer is one stream that the SDK reads', async () => {
    const stream = openai().responses.stream(ask(badgers));
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    stream.on('event', (event) => events.push(event));
    const response = await stream.finalResponse();
    const whole = { status: 'completed', output_text: 'Badgers dig.', tools: [webSearch], store: false };
    expect(response).toMatchObject({ id: expect.stringMatching(/^resp_/), ...whole });
    expect(response.output).toMatchObject([
      { type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'badgers' } },
      { type: 'message', content: [{ type: 'output_text', text: 'Badgers dig.' }] },
    ]);
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, at) => at));
    expect(events.slice(0, 2).map(({ type }) => type)).toEqual(['response.created', 'response.in_progress']);
    const aboutSearch = events.filter((event) => 'output_index' in event && event.output_index === 0);
    expect(aboutSearch.map(({ type }) => type)).toEqual([
      'response.output_item.added',
      'response.web_search_call.in_progress',
      'response.web_search_call.searching',
      'response.web_search_call.completed',
      'response.output_item.done',
    ]);
    expect(events.filter(({ type }) => type === 'response.completed')).toHaveLength(1);
  });

  it('is run in the background, too', async () => {
    const { id } = await create({ ...ask(badgers), store: true, background: true });
    const { responses } = openai();
    for (const answer of [await responses.stream({ response_id: id }).finalResponse(), await responses.retrieve(id)]) {
      expect(answer).toMatchObject({ id, status: 'completed', output_text: 'Badgers dig.', background: true });
      expect(typesOf(answer.output)).toEqual(['web_search_call', 'message']);
    }
  });

  it('is cited if the text names its results', async () => {
    const text = '🦡 [Badgers](https://pages.example/a) dig (https://other.example/a), see https://unknown.example/a.';
    const asked = ask([search('badgers'), `[demo say ${JSON.stringify(text)}]`]);
    const cited = ['[Badgers](https://pages.example/a)', 'https://other.example/a'];
    const stream = openai().responses.stream(asked);
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    stream.on('event', (event) => events.push(event));
    const answers = [await stream.finalResponse(), await create(asked)];
    for (const { output } of answers) {
      const [part] = output.flatMap((item) => (item.type === 'message' ? item.content : []));
      if (part?.type !== 'output_text') throw new Error('there is no text');
      expect(part).toMatchObject({
        text,
        annotations: [
          { type: 'url_citation', url: 'https://pages.example/a', title: 'badgers at pages.example' },
          { type: 'url_citation', url: 'https://other.example/a', title: 'badgers at other.example' },
        ],
      });
      const places = part.annotations.map((each) =>
        each.type === 'url_citation' ? Array.from(text).slice(each.start_index, each.end_index).join('') : '',
      );
      expect(places).toEqual(cited);
    }
    const ends = events.filter(({ type }) => /text\.(?:annotation|done)|part\.done|item\.done/.test(type)).slice(1);
    expect(ends.map(({ type }) => type)).toEqual([
      'response.output_text.annotation.added',
      'response.output_text.annotation.added',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
    ]);
    expect(ends.slice(0, 2)).toMatchObject([
      { output_index: 1, content_index: 0, annotation_index: 0, annotation: { url: 'https://pages.example/a' } },
      { output_index: 1, content_index: 0, annotation_index: 1, annotation: { url: 'https://other.example/a' } },
    ]);
    expect(ends[3]).toMatchObject({ part: { annotations: [{}, {}] } });
  });

  it('is stored with the answer, which a later request continues', async () => {
    const asked = { ...ask(badgers), store: true };
    for (const answer of [await openai().responses.stream(asked).finalResponse(), await create(asked)]) {
      const found = await openai(withoutTools.url).responses.retrieve(answer.id);
      expect(typesOf(found.output)).toEqual(['web_search_call', 'message']);
      expect(found).toMatchObject({ status: 'completed', store: true, output_text: 'Badgers dig.' });
      const next = { model: 'demo', input: 'And now?', previous_response_id: answer.id };
      expect(await create(next)).toMatchObject({ previous_response_id: answer.id });
    }
  });

  it('has ids that differ in all turns, and a usage that is their sum', async () => {
    const one = await create(ask(['[demo say "Hm."]'], []));
    const steps = [search('a'), search('b'), '[demo say "Done."]'];
    const response = await create({ ...ask(steps), reasoning: { effort: 'high' } });
    const types = typesOf(response.output).filter((type) => type !== 'reasoning');
    expect(types).toEqual(['web_search_call', 'web_search_call', 'message']);
    const ids = response.output.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const { input_tokens: input = 0, output_tokens: written = 0, total_tokens: total } = response.usage ?? {};
    expect(input).toBeGreaterThan(3 * (one.usage?.input_tokens ?? 0));
    expect(total).toBe(input + written);
  });

  it('is in the next request, sent back or stored', async () => {
    const first = { ...ask(badgers), store: true };
    const { id, output } = await create(first);
    const message = { role: 'user' as const, content: 'And now?' };
    const next = [
      await create({ ...first, input: sentBack(first.input, output, message) }),
      await create({ ...first, previous_response_id: id, input: [message] }),
    ];
    for (const { output_text: text } of next) expect(text).toContain('2 user, 2 assistant, 1 tool');
  });

  it('does not end the answer when it fails', async () => {
    const response = await create(ask([search('broken'), '[demo say "No luck."]']));
    expect(response).toMatchObject({ status: 'completed', output_text: 'No luck.' });
    expect(response.output[0]).toMatchObject({ type: 'web_search_call', status: 'failed' });
  });

  it('ends the turn when the model calls a function of the client', async () => {
    const steps = [search('a'), '[demo call get_weather {"city": "Oslo"}]', '[demo say "Cold."]'];
    const first = ask(steps, [webSearch, weather]);
    const response = await create(first);
    expect(typesOf(response.output)).toEqual(['web_search_call', 'function_call']);
    const call = response.output[1] as OpenAI.Responses.ResponseFunctionToolCall;
    const output = { type: 'function_call_output' as const, call_id: call.call_id, output: '-3' };
    const input = sentBack(first.input, response.output, output);
    expect(await create({ ...first, input })).toMatchObject({ output_text: 'Cold.' });
  });

  it('counts with all other hosted tools for max_tool_calls, and leaves the client its own tools', async () => {
    const find = '[demo call mcp_pages_find_pages {"query": "b"}]';
    const steps = [search('a'), find, '[demo call get_weather {"city": "Oslo"}]'];
    const tools = [webSearch, pages({ allowed_tools: ['find_pages'] }), weather];
    const response = await create({ ...ask(steps, tools), max_tool_calls: 2 });
    expect(typesOf(response.output)).toEqual(['mcp_list_tools', 'web_search_call', 'mcp_call', 'function_call']);
    const once = ask([search('a'), find, '[demo say "Once."]'], [webSearch, pages()]);
    const fewer = await create({ ...once, max_tool_calls: 1 });
    expect(typesOf(fewer.output)).toEqual(['mcp_list_tools', 'web_search_call', 'message']);
  });

  it('satisfies a choice that requires it for one turn', async () => {
    const response = await create({ ...ask([search('a')]), tool_choice: 'required' });
    expect(typesOf(response.output)).toEqual(['web_search_call', 'message']);
  });

  it('keeps a waiting client of a stream informed', async () => {
    const stream = await openai().responses.create({ ...ask([search('late'), '[demo say "At last."]']), stream: true });
    const types: string[] = [];
    for await (const { type } of stream) types.push(type);
    const waiting = types.filter((type) => type.startsWith('keepalive') || type === 'response.in_progress');
    expect(waiting.length).toBeGreaterThan(2);
    expect(types.at(-1)).toBe('response.completed');
  });

  it('is left out when it may only search a cache, and refused by name where no tool is configured', async () => {
    const offline = { type: 'web_search', external_web_access: false } as unknown as Tool;
    const { url } = withoutTools;
    const say = ['[demo say "Hm."]'];
    const answers = [
      await create(ask(say, [offline]), url),
      await create({ ...ask(say, [webSearch, weather]), model: 'auto' }, url),
    ];
    for (const answer of answers) expect(answer.output_text).toBe('Hm.');
    const refused = create(ask([search('a')]), url);
    await expect(refused).rejects.toMatchObject({ status: 400, param: 'tools[0].type' });
  });
});

describe('an upstream that runs a web search itself', () => {
  it('gets the request unchanged', async () => {
    const upstream = await startFakeModelApis();
    onTestFinished(() => upstream.close());
    const provider = { PROVIDER: 'openai', PROVIDER_URL: `${upstream.url}/v1`, PROVIDER_KEY: 'k' };
    await cluster.addCloudWorker({ ...provider, PROVIDER_MODELS: 'gpt-5.9' });
    const tools = [webSearch, pages({ server_label: 'elsewhere' })];
    for (const model of ['gpt-5.9', 'auto']) {
      const stream = openai().responses.stream({ ...ask(['Hello.'], tools), model });
      expect((await stream.finalResponse()).output_text).toContain('You said');
      expect(upstream.calls.at(-1)).toMatchObject({ path: '/v1/responses', body: { model: 'gpt-5.9', tools } });
    }
  });
});

describe('an MCP server in a Responses request', () => {
  const find = '[demo call mcp_pages_find_pages {"query": "setts"}]';

  it("is the operator's server with this label: its tools are listed and called", async () => {
    const tools = [pages({ allowed_tools: ['find_pages', 'pid'] })];
    const stream = openai().responses.stream(ask([find, '[demo say "Found."]'], tools));
    const types: string[] = [];
    stream.on('event', ({ type }) => types.push(type));
    const response = await stream.finalResponse();
    expect(response.output_text).toBe('Found.');
    expect(response.output).toMatchObject([
      { type: 'mcp_list_tools', server_label: 'pages', tools: [{ name: 'find_pages' }, { name: 'pid' }] },
      {
        type: 'mcp_call',
        status: 'completed',
        server_label: 'pages',
        name: 'find_pages',
        arguments: '{"query": "setts"}',
        output: expect.stringContaining('URL: https://pages.example/a'),
        error: null,
      },
      { type: 'message' },
    ]);
    for (const type of ['mcp_list_tools.completed', 'mcp_call_arguments.done', 'mcp_call.completed'])
      expect(types).toContain(`response.${type}`);
    const input = sentBack('Look.', response.output, { role: 'user', content: 'And?' });
    const next = await create({ ...ask([], tools), input });
    expect(typesOf(next.output)).toEqual(['message']);
    expect(next.output_text).toContain('1 tool');
  });

  it('has failed calls in the answer', async () => {
    const call = '[demo call mcp_pages_refuse {}]';
    const response = await create(ask([call, '[demo say "It will not."]'], [pages()]));
    expect(response.output[1]).toMatchObject({
      type: 'mcp_call',
      status: 'failed',
      error: { type: 'mcp_tool_execution_error', content: [{ text: 'no' }] },
    });
    expect(response.output_text).toBe('It will not.');
  });

  it('waits for approval, unless the request says otherwise', async () => {
    const tools = [pages({ require_approval: undefined, allowed_tools: { tool_names: ['find_pages'] } })];
    const first = ask([find, '[demo say "Found."]'], tools);
    const response = await create(first);
    expect(typesOf(response.output)).toEqual(['mcp_list_tools', 'mcp_approval_request']);
    const request = response.output[1] as OpenAI.Responses.ResponseOutputItem.McpApprovalRequest;
    expect(request).toMatchObject({ name: 'find_pages', server_label: 'pages', arguments: '{"query": "setts"}' });
    const answered = (approve: boolean) => {
      const decision = { type: 'mcp_approval_response', approval_request_id: request.id, approve };
      return create({ ...first, input: sentBack(first.input, response.output, decision) });
    };
    const approved = await answered(true);
    expect(approved.output).toMatchObject([
      { type: 'mcp_call', approval_request_id: request.id, output: expect.stringContaining('https://pages.example/a') },
      { type: 'message', content: [{ text: 'Found.' }] },
    ]);
    expect(typesOf((await answered(false)).output)).toEqual(['message']);
  });

  it("gets nothing from the client's own settings for it, which are in no answer, stored form or log either", async () => {
    const places = { headers: { 'x-key': 'sesame-2' }, server_url: 'http://127.0.0.1:1/sesame-3' };
    const secrets = { authorization: 'sesame-1', ...places };
    const server = pages({ ...secrets, allowed_tools: ['find_pages'] });
    const first = { ...ask([find, '[demo say "Found."]'], [server]), store: true };
    const stream = await openai().responses.create({ ...first, stream: true });
    let id = '';
    let said = '';
    for await (const event of stream) {
      said += JSON.stringify(event);
      if (event.type === 'response.completed') ({ id } = event.response);
    }
    expect(said).toContain('https://pages.example/a');
    const stored = await openai().responses.retrieve(id);
    const elsewhere = { ...first, tools: [pages({ ...secrets, server_label: 'elsewhere' })] };
    const refused: unknown = await create(elsewhere).catch((error: unknown) => error);
    if (!(refused instanceof OpenAI.BadRequestError)) throw new Error('it was not refused', { cause: refused });
    expect(refused).toMatchObject({ param: 'tools[0].type', message: expect.stringContaining("'elsewhere'") });
    expect(stored.tools).toMatchObject([{ type: 'mcp', server_label: 'pages', server_url: 'http://127.0.0.1:1' }]);
    expect(JSON.stringify([said, stored, refused.error, cluster.ingress.lines])).not.toContain('sesame');
  });
});

// The last test: the cluster has no tools after it.
describe('a tools worker that dies while it searches', () => {
  it('costs the answer only that search, and the answer continues', async () => {
    const stream = openai().responses.stream(ask([search('slow'), '[demo say "No luck."]']));
    const done = stream.finalResponse();
    await until(() => readFileSync(diary, 'utf8').includes('searching slow'));
    await toolsWorker.kill();
    const response = await done;
    expect(response).toMatchObject({ status: 'completed', output_text: 'No luck.' });
    expect(response.output[0]).toMatchObject({ type: 'web_search_call', status: 'failed' });
  });
});
