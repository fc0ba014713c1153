import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  ListPromptsResultSchema,
  ListResourcesResultSchema,
  ListResourceTemplatesResultSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { JobHandler } from '#shared/broker/contract/job-contract.ts';
import { contentKinds, contentName } from '#shared/broker/contract/server-content.ts';
import { noUsage } from '#shared/core/usage.ts';
import { post } from '../../../helpers/clients/keyed-requests.ts';
import { useScriptedCluster } from '../../../helpers/cluster/start-scripted-cluster.ts';
import { until } from '../../../helpers/until.ts';

/** Content of ten servers, and of one whose lists contain what MCP clients refuse. */
const serverCount = 10;
const listOf = (server: string): Record<string, object[]> => ({
  'resources/list': [
    { uri: `${server}://note`, name: 'note' },
    { uri: `shared://${server}`, name: 'shared' },
  ],
  'resources/templates/list': [{ uriTemplate: `${server}://pages/{page}`, name: 'page' }],
  'prompts/list': [{ name: `${server}-prompt` }],
});
const odd: Record<string, unknown> = {
  'resources/list': [{ uri: 'odd://good', name: 'good' }, { uri: 7, name: 'x' }, { uri: 'odd://bad' }, null],
  'resources/templates/list': [{ uriTemplate: 'odd://{x}', name: 'good', annotations: { priority: 7 } }],
  'prompts/list': [{ name: 'odd-good' }, { name: 7 }, { name: 'odd-bad', arguments: {} }, 'x'],
};
const fields: Record<string, string> = {
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
  'prompts/list': 'prompts',
};

/** The questions that servers got, as `<server> <method>`. */
const asked: string[] = [];

const handler: JobHandler = ({ body }, reply) => {
  const { tool, input } = JSON.parse(body.toString()) as {
    tool: string;
    input: { method: string; params: { uri?: string } };
  };
  const server = tool.replace('/*', '');
  const { method, params } = input;
  asked.push(`${server} ${method}`);
  const field = fields[method];
  const listed = field === undefined ? {} : { [field]: server === 'odd' ? odd[method] : listOf(server)[method] };
  const results: Record<string, object> = {
    'resources/read': { contents: [{ uri: params.uri, text: server }] },
    'prompts/get': { messages: [{ role: 'user', content: { type: 'text', text: server } }] },
    'completion/complete': { completion: { values: [server] } },
  };
  const mayAnswer = method !== 'resources/read' || params.uri?.startsWith('nobody:') !== true;
  const result = results[method] ?? listed;
  const error = { code: -32_002, message: 'Resource not found' };
  reply.write(
    JSON.stringify({
      tool,
      is_error: !mayAnswer,
      content: [],
      ...(mayAnswer ? { structured_content: { result } } : { error }),
    }),
  );
  return Promise.resolve({ usage: noUsage, finishReason: 'stop' });
};

const cluster = useScriptedCluster();
const servers = [...Array.from({ length: serverCount }, (_, at) => `s${at}`), 'odd'];
beforeAll(async () => {
  const tools = servers.map((server) => ({
    name: contentName(server),
    description: '',
    inputSchema: { type: 'object' },
    server,
    passes: [...contentKinds],
  }));
  await cluster.addScripted({ tier: 'tools', kind: 'tools', formats: ['tools'], models: [], tools, handler });
});
afterEach(() => void asked.splice(0));

async function ask(method: string, params: object = {}, key = cluster.key): Promise<Record<string, unknown>> {
  const response = await post({
    ...cluster,
    key,
    path: '/tools/mcp',
    body: { jsonrpc: '2.0', id: 1, method, params },
    headers: { accept: 'application/json, text/event-stream' },
  });
  const text = await response.text();
  const { result, error } = JSON.parse(text.replace(/^[^{]*/, '').trim()) as Record<string, Record<string, unknown>>;
  return result ?? { error };
}

const askedFor = (method: string): string[] =>
  asked.filter((question) => question.endsWith(` ${method}`)).map((question) => question.split(' ')[0] ?? '');

describe('content of MCP servers', () => {
  it('is read from the server that lists it, or whose template fits, and from no other', async () => {
    for (const [uri, server] of [
      ['s7://note', 's7'],
      ['shared://s3', 's3'],
      ['s4://pages/12', 's4'],
    ])
      expect(await ask('resources/read', { uri })).toMatchObject({ contents: [{ uri, text: server }] });
    expect(askedFor('resources/read')).toEqual(['s7', 's3', 's4']);
  });

  it('that no server lists is asked for at no more than four servers, those of its scheme first', async () => {
    expect(await ask('resources/read', { uri: 's8://unlisted' })).toMatchObject({ contents: [{ text: 's8' }] });
    expect(askedFor('resources/read')).toEqual(['s8']);
    asked.length = 0;
    expect(await ask('resources/read', { uri: 'nobody://has-it' })).toMatchObject({
      error: { message: 'Resource not found' },
    });
    expect(askedFor('resources/read')).toHaveLength(4);
  });

  it('is listed once for all that ask within a few seconds: prompts and completions know their server', async () => {
    const other = (await cluster.addKey({})).raw;
    await until(async () => {
      asked.length = 0;
      await ask('prompts/get', { name: 's5-prompt' });
      return askedFor('prompts/list').length === 0;
    });
    for (const key of [cluster.key, other])
      expect(await ask('prompts/get', { name: 's2-prompt' }, key)).toMatchObject({
        messages: [{ content: { text: 's2' } }],
      });
    const argument = { name: 'x', value: 'y' };
    const prompt = { type: 'ref/prompt', name: 's6-prompt' };
    expect(await ask('completion/complete', { ref: prompt, argument })).toEqual({ completion: { values: ['s6'] } });
    const template = { type: 'ref/resource', uri: 's9://pages/{page}' };
    expect(await ask('completion/complete', { ref: template, argument })).toEqual({ completion: { values: ['s9'] } });
    expect(askedFor('completion/complete')).toEqual(['s6', 's9']);
  });

  it('that MCP clients refuse is left out of lists, and breaks none', async () => {
    const prompts = ListPromptsResultSchema.parse(await ask('prompts/list')).prompts.map(({ name }) => name);
    expect(prompts).toEqual(['odd-good', ...Array.from({ length: serverCount }, (_, at) => `s${at}-prompt`)]);
    const uris = ListResourcesResultSchema.parse(await ask('resources/list')).resources.map(({ uri }) => uri);
    expect(uris.filter((uri) => uri.startsWith('odd:'))).toEqual(['odd://good']);
    expect(uris).toHaveLength(1 + 2 * serverCount);
    const templates = ListResourceTemplatesResultSchema.parse(await ask('resources/templates/list'));
    expect(templates.resourceTemplates).toHaveLength(serverCount);
  });
});
