import { describe, expect, it } from 'vitest';
import type { Job } from '#shared/broker/dispatch/job.ts';
import type { JobSink } from '#shared/broker/dispatch/job-sink.ts';
import type { JobRequest } from '#shared/broker/dispatch/job-request.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { HostedCall } from '#shared/formats/hosted/hosted-request.ts';
import { pickToolHints } from '#shared/formats/hosted/domain-filter.ts';
import { encodeToolEvent, type ToolResult } from '#shared/formats/tools/tool-result.ts';
import { registrySchema } from '#shared/registry/registry.ts';
import { runHostedCall } from '#shared/serving/hosted/run-hosted-call.ts';
import { least } from '../../../helpers/least.ts';
import { callerOf, servingParts } from '../../../helpers/serving/serving-parts.ts';

interface Call {
  kind: HostedCall['hosted']['kind'];
  input: JsonObject;
  schema?: JsonObject;
  allowsUrl?: (url: string) => boolean;
  hints?: JsonObject;
}

/** Runs a call with a dispatcher that answers with this result. Returns the outcome and the input of the tool. */
async function run(call: Call, answer: Partial<ToolResult> | RouterError = {}, settings: object = {}) {
  let given: { tool: string; input: JsonObject } | undefined;
  const dispatch = (_: JobRequest, body: Buffer, sink: JobSink): Job => {
    given = JSON.parse(body.toString()) as typeof given;
    if (answer instanceof RouterError) sink.fail(answer);
    else {
      const result = { tool: 'find', is_error: false, content: [], ...answer };
      sink.end(Buffer.from(encodeToolEvent({ result })));
    }
    return { finished: Promise.resolve({}) } as unknown as Job;
  };
  const parts = {
    ...servingParts(dispatch, []),
    settings: registrySchema.parse({ hosted_tools: { [call.kind]: { tool: 'find' }, ...settings } }).hosted_tools,
  };
  const { kind, allowsUrl, hints } = call;
  const hosted = { kind, title: kind, param: 'tools.0', allowsUrl, hints };
  const servedTool = { name: 'find', nameAtServer: 'find', description: '', inputSchema: call.schema ?? {} };
  const asked = { id: 'c', hosted, servedTool, input: call.input };
  const outcome = await runHostedCall(parts, asked, callerOf(), new AbortController().signal, () => undefined);
  return { outcome, given };
}

const schemaOf = (fields: JsonObject, required: string[] = Object.keys(fields)): JsonObject => ({
  type: 'object',
  properties: fields,
  required,
});
const string = { type: 'string' };
const web = { kind: 'web_search' as const, input: { query: 'q' } };
const page = { kind: 'web_fetch' as const, input: { url: 'https://a.example/' } };

describe('a call of a hosted tool', () => {
  it.each<[string, JsonObject, JsonObject]>([
    ['without a schema', {}, { query: 'q' }],
    ['with the usual field', schemaOf({ count: { type: 'number' }, query: string }), { query: 'q' }],
    ['with another usual field', schemaOf({ q: string, text: string }), { q: 'q' }],
    ['with one required field', schemaOf({ topic: string, limit: { type: 'number' } }, ['topic']), { topic: 'q' }],
    ['with a list', schemaOf({ keywords: { type: 'array', items: string } }), { keywords: ['q'] }],
  ])('gives the query to a tool %s', async (_, schema, input) => {
    expect((await run({ ...web, schema })).given).toEqual({ tool: 'find', input });
  });

  it("puts the query into the field that the registry names, with the registry's further input", async () => {
    const settings = { web_search: { tool: 'find', field: 'ask', input: { count: 3 } } };
    expect((await run(web, {}, settings)).given?.input).toEqual({ count: 3, ask: 'q' });
  });

  it('puts further fields of the request into the fields of the input that take them', async () => {
    const place = { type: 'approximate', country: 'NO', city: 'Oslo', timezone: 'Europe/Oslo' };
    const user_location = { ...place, region: null };
    const hints = pickToolHints({ user_location, allowed_domains: ['a.example'], blocked_domains: [] });
    const given = async (fields: JsonObject, settings: object = {}) => {
      const schema = schemaOf({ query: string, ...fields }, ['query']);
      return (await run({ ...web, hints, schema }, {}, settings)).given?.input;
    };
    const optional = { anyOf: [string, { type: 'null' }] };
    const domains = { type: 'array', items: string };
    expect(await given({})).toEqual({ query: 'q' });
    const known = { query: 'q', country: 'NO', city: 'Oslo', allowed_domains: ['a.example'] };
    expect(await given({ country: string, city: optional, region: string, allowed_domains: domains })).toEqual(known);
    expect(await given({ user_location: { type: 'object' } })).toMatchObject({ user_location: { city: 'Oslo' } });
    // A value that the input refuses would fail the call.
    expect(await given({ country: { enum: ['norway'] }, city: { type: 'number' } })).toEqual({ query: 'q' });
    const settings = { web_search: { tool: 'find', input: { country: 'SE' } } };
    expect(await given({ country: string }, settings)).toEqual({ query: 'q', country: 'SE' });
  });

  it('that fetches is refused if it was redirected to a page that the request does not allow', async () => {
    const allowsUrl = (url: string): boolean => url.startsWith('https://a.example/');
    const content = [{ type: 'text', text: 'x' }];
    const led = async (url: string, isError = false): Promise<object> =>
      (await run({ ...page, allowsUrl }, { content, structured_content: { url }, is_error: isError })).outcome;
    expect(await led('https://a.example/b')).toMatchObject({ kind: 'fetched', text: 'x' });
    for (const isError of [false, true])
      expect(await led('https://b.example/', isError)).toMatchObject({ kind: 'failed', reason: 'url_not_allowed' });
  });

  it('passes the input of a tool of an MCP server, and its output', async () => {
    const call = { kind: 'mcp' as const, input: { a: 1 } };
    const content = [{ type: 'text', text: 'x' }];
    const { given, outcome } = await run(call, { content, is_error: true }, { mcp: {} });
    expect(given?.input).toEqual({ a: 1 });
    expect(outcome).toEqual({ kind: 'output', text: 'x', isError: true });
    expect((await run(call, { structured_content: { b: 2 } }, { mcp: {} })).outcome).toMatchObject({ text: '{"b":2}' });
  });

  it('keeps its results within the limit', async () => {
    const content = 'ö'.repeat(5_000);
    const results = ['a', 'b', 'c'].map((title) => ({ title, url: `https://${title}.example/`, content }));
    const { outcome } = await run(web, { structured_content: { results } }, { max_result_bytes: 1_000 });
    expect(outcome).toMatchObject({ kind: 'found', results: results.map(({ title }) => ({ title })) });
    const size = Buffer.byteLength(outcome.kind === 'found' ? outcome.results.map(({ text }) => text).join('') : '');
    expect(size).toBeGreaterThan(700);
    expect(size).toBeLessThan(1_000);
    const fetched = await run(page, { content: [{ type: 'text', text: content }] }, { max_result_bytes: 1_001 });
    expect(fetched.outcome).toEqual({ kind: 'fetched', ...page.input, text: 'ö'.repeat(500) });
  });

  it('cuts a text between two characters, however many of them stand for what was none', async () => {
    const fetched = async (text: string, most: number) => {
      const { outcome } = await run(page, { content: [{ type: 'text', text }] }, { max_result_bytes: most });
      return outcome.kind === 'fetched' ? outcome.text : '';
    };
    expect(await fetched('a\uFFFD👋'.repeat(1_000), 1_003)).toBe('a\uFFFD👋'.repeat(125) + 'a');
    expect(await fetched('a\uFFFD👋'.repeat(1_000), 1_007)).toBe('a\uFFFD👋'.repeat(125) + 'a\uFFFD');
    const many = '\uFFFD'.repeat(200_000) + 'x';
    const cut = async (): Promise<number> => {
      const begin = performance.now();
      expect(await fetched(`${many}yyyy`, Buffer.byteLength(many))).toBe(many);
      return performance.now() - begin;
    };
    expect(await least(cut, 2_000)).toBeLessThan(2_000);
  });

  it.each([
    ['rate_limit_exceeded', 'too_many_requests'],
    ['invalid_request', 'invalid_input'],
    ['upstream_timeout', 'unavailable'],
  ] as const)('that fails with %s is %s', async (code, reason) => {
    expect((await run(web, new RouterError(code, 'why'))).outcome).toEqual({ kind: 'failed', reason, message: 'why' });
  });

  it('is not run without its input, or for a page that the request does not allow', async () => {
    const empty = await run({ ...web, input: { query: ' ' } });
    expect(empty).toMatchObject({ given: undefined, outcome: { reason: 'invalid_input' } });
    const denied = await run({ ...page, allowsUrl: () => false });
    expect(denied).toMatchObject({ given: undefined, outcome: { reason: 'url_not_allowed' } });
  });
});
