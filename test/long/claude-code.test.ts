// @module-tag claude
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { createOverflowError } from '#shared/formats/context-overflow.ts';
import { createMessagesErrorAnswer } from '#shared/formats/messages/error.ts';
import { createRejectionDetails } from '#shared/formats/rejected-capability.ts';
import { createUnsupportedMessagesError } from '#shared/translate/unsupported.ts';
import { converseWithClaude } from '../helpers/clis/converse-with-claude.ts';
import { findCli } from '../helpers/clis/install-clis.ts';
import { pixelData } from '../helpers/clis/open-real-cli.ts';
import { runAgent } from '../helpers/clis/run-agent.ts';
import { startCluster } from '../helpers/cluster/start-cluster.ts';
import { customProvider } from '../helpers/cluster/worker-settings.ts';
import { stopAfterTest } from '../helpers/stop-after-test.ts';
import { startRecordingProxy } from '../helpers/upstreams/start-recording-proxy.ts';
import type { MessagesAnswer, MessagesCall } from '../helpers/upstreams/start-messages-upstream.ts';
import { startMessagesUpstream } from '../helpers/upstreams/start-messages-upstream.ts';
import { useStarted } from '../helpers/use-started.ts';
import { useFolder } from '../helpers/files/temporary-folder.ts';

const claude = findCli('claude') ?? '';
const engineWindow = 40_000;

const folder = useFolder();
/** What the native upstream answers. */
let answer: (call: MessagesCall, at: number) => MessagesAnswer;

const upstream = useStarted(() => startMessagesUpstream(['claude-native'], (call, at) => answer(call, at)));
const cluster = useStarted(() => startCluster({ engine: { DEMO_CONTEXT_WINDOW: String(engineWindow) } }));
beforeAll(async () => {
  await cluster.addCloudWorker({ ...customProvider(upstream.url, 'messages'), PROVIDER_KEY: 'sk-native' });
});

const text = (words: string): JsonObject[] => [{ type: 'text', text: words }];
/** A block that is signed as by an upstream. */
const thinking = (words: string): JsonObject => {
  return { type: 'thinking', thinking: words, signature: randomBytes(600).toString('base64') };
};

/** A home that has no settings. */
function newHome(): string {
  const home = join(folder, randomBytes(4).toString('hex'));
  mkdirSync(home);
  return home;
}

function environment(more: Record<string, string> = {}): Record<string, string> {
  return {
    ANTHROPIC_BASE_URL: `${cluster.url}/api/anthropic`,
    ANTHROPIC_AUTH_TOKEN: cluster.key,
    CLAUDE_CODE_MAX_OUTPUT_TOKENS: '2000',
    ...more,
  };
}

function converse(model: string, prompts: Parameters<typeof converseWithClaude>[1], more?: Record<string, string>) {
  return converseWithClaude(claude, prompts, { home: newHome(), model, environment: environment(more) });
}

describe.concurrent('Claude Code on a chat engine', () => {
  it('finds a deferred tool and calls it', async ({ expect }) => {
    const calls = '[demo call ToolSearch {"query":"select:CronList","max_results":5}]\n[demo call CronList {}]';
    const { results } = await converse('demo', [`List the jobs.\n${calls}\n[demo say "There are no jobs."]`]);
    expect(results).toMatchObject([{ is_error: false, num_turns: 3, result: 'There are no jobs.' }]);
  });

  it('shortens a conversation that does not fit any more, and goes on', async ({ expect }) => {
    const { results, messages } = await converse('demo', [
      `Remember this.\n${'one '.repeat(10_000)}\n[demo say "Remembered."]`,
      `And this.\n${'two '.repeat(20_000)}\n[demo say "Remembered, too."]`,
    ]);
    expect(messages.map(({ subtype }) => subtype)).toContain('compact_boundary');
    expect(results).toMatchObject([{ result: 'Remembered.' }, { is_error: false, result: 'Remembered, too.' }]);
  });

  it('leaves out a document that the engine does not take, and goes on', async ({ expect }) => {
    const pdf = { type: 'base64', media_type: 'application/pdf', data: Buffer.from('%PDF-1.4 no').toString('base64') };
    const asked = [{ type: 'document', source: pdf }, ...text('What does it say?\n[demo say "I see no document."]')];
    const { results } = await converse('demo', [asked]);
    expect(results).toMatchObject([{ is_error: false, result: 'I see no document.' }]);
  });

  it('takes pings for signs of life, and asks again without them', async ({ expect }) => {
    // Its byte-level watchdog, with the least time that it takes. The one of five minutes counts the same bytes.
    const watchdog = {
      _CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL: '1',
      CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS: '10000',
      CLAUDE_CODE_MAX_RETRIES: '0',
    };
    const answers = ['2000', '60000'].map(async (KEEP_ALIVE_MS) => {
      const { url } = await cluster.addIngress({ KEEP_ALIVE_MS });
      const settings = { ...watchdog, ANTHROPIC_BASE_URL: `${url}/api/anthropic` };
      const { results } = await converse('demo', ['[demo delay=14000]\n[demo say "Here I am."]'], settings);
      return results;
    });
    const [pinged, silent] = await Promise.all(answers);
    expect(pinged).toMatchObject([{ is_error: false, result: 'Here I am.' }]);
    expect(silent).toMatchObject([{ is_error: true }]);
  });

  it('takes the window that its settings name', async ({ expect }) => {
    const window = { CLAUDE_CODE_MAX_CONTEXT_TOKENS: String(engineWindow) };
    const named = await converse('demo', ['hi'], window);
    expect(named.results).toMatchObject([{ modelUsage: { demo: { contextWindow: engineWindow } } }]);
    const unnamed = await converse('demo', ['hi']);
    expect(unnamed.results).toMatchObject([{ modelUsage: { demo: { contextWindow: 1_000_000 } } }]);
  });

  it('reports a model that does not exist', async ({ expect }) => {
    const { results } = await converse('no-such-model', ['hi']);
    expect(results).toMatchObject([{ is_error: true, result: expect.stringContaining('no-such-model') }]);
  });

  it('lists the models of the router, and uses one by the name that it is listed under', async ({ expect }) => {
    const home = newHome();
    const discovers = environment({ CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1' });
    const asked = ['-p', 'Say hello.', '--output-format', 'json', '--model', 'anthropic/demo[1m]'];
    const { stdout } = await runAgent(claude, asked, home, discovers);
    expect(JSON.parse(stdout)).toMatchObject({ is_error: false, result: expect.stringContaining('Say hello.') });
    const cached = readdirSync(join(home, '.claude/cache')).find((name) => name.startsWith('gateway-models'));
    const { models } = JSON.parse(readFileSync(join(home, '.claude/cache', cached ?? ''), 'utf8')) as JsonObject;
    const description = expect.stringMatching(/^tier gpu, 40,000 tokens of context/);
    expect(models).toEqual([
      { id: 'anthropic/auto', display_name: 'auto', description: expect.any(String) },
      { id: 'claude-native', display_name: 'claude-native (cloud)', description: expect.any(String) },
      { id: 'anthropic/demo', display_name: 'demo (gpu)', description },
    ]);
  });
});

describe('Claude Code on a native upstream', () => {
  it('has its turns arrive byte for byte, with every thinking block as it was signed, and its headers', async () => {
    const proxy = stopAfterTest(await startRecordingProxy(cluster.url));
    const first = upstream.calls.length;
    const written: JsonObject[][] = [];
    answer = (_, at) => {
      written.push([thinking(`Turn ${at} “ä” 🦡`), ...text(`Answer ${at}.`)]);
      return written.at(-1) ?? [];
    };
    const prompts = Array.from({ length: 8 }, (_, turn) => `Question ${turn}`);
    const { results } = await converse('claude-native', prompts, { ANTHROPIC_BASE_URL: `${proxy.url}/api/anthropic` });
    expect(results).toHaveLength(8);
    const calls = upstream.calls.slice(first);
    // But for the mark of the upstream at its signatures.
    const unmarked = proxy.bodies.map((body) => body.replaceAll(/(?<="signature":")rtr\.[\w-]{12}\./g, ''));
    expect(calls.map(({ raw }) => raw)).toEqual(unmarked);
    expect(unmarked.at(-1)).not.toBe(proxy.bodies.at(-1));
    const last = calls.at(-1);
    const replayed = last?.body.messages.filter(({ role }) => role === 'assistant').map(({ content }) => content);
    expect(replayed).toEqual(written.slice(0, 7));
    for (const [block] of written.slice(0, 7)) expect(last?.raw).toContain(JSON.stringify(block));
    for (const { body, headers } of calls) {
      expect(body['system']).toMatchObject([
        { type: 'text', text: expect.stringMatching(/^x-anthropic-billing-header: /) },
        { type: 'text', cache_control: { type: 'ephemeral' } },
        ...((body['system'] as JsonObject[]).length > 2 ? [{ type: 'text' }] : []),
      ]);
      expect(headers).toMatchObject({
        'anthropic-beta': expect.stringContaining('claude-code-20250219'),
        'anthropic-dangerous-direct-browser-access': 'true',
        'x-claude-code-session-id': expect.any(String),
        'x-api-key': 'sk-native',
      });
      expect(body.messages.some(({ role }) => role === 'system')).toBe(true);
    }
  });

  /** A refusal in the words of an upstream. */
  const refused = (message: string) => ({ status: 400, error: { type: 'invalid_request_error', message } });
  /** One of the router's own. */
  const refusedBy = (error: RouterError) => {
    const { status, body } = createMessagesErrorAnswer(error, 'r');
    return { status, error: { ...body.error } };
  };
  const has = (part: string) => (call: MessagesCall) => JSON.stringify(call.body.messages).includes(part);
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixelData } };
  const beta = 'advanced-tool-use-2025-11-20';
  const unknownBeta = `Unexpected value(s) \`${beta}\` for the \`anthropic-beta\` header. Please consult our documentation at docs.claude.com.`;
  const unknownTag =
    "context_management.edits.0: Input tag 'clear_thinking_20251015' found using 'type' does not match any of the expected tags: 'clear_tool_uses_20250919'";
  const noEffort = { details: createRejectionDetails('effort_unsupported') };

  it.each<[what: string, refusal: MessagesAnswer, isWith: (call: MessagesCall) => boolean]>([
    ['a tag that the upstream does not know', refused(unknownTag), ({ body }) => 'context_management' in body],
    [
      'a beta that the upstream does not know',
      refused(unknownBeta),
      ({ headers }) => String(headers['anthropic-beta']).includes(beta),
    ],
    [
      'images, by an error of the router',
      refusedBy(createUnsupportedMessagesError('messages.0.content.0.type', 'images', 'image_block')),
      has('"type":"image"'),
    ],
    [
      'an effort, by an error of the router',
      refusedBy(new RouterError('invalid_request', 'Not known here.', noEffort)),
      ({ body }) => body['output_config'] !== undefined,
    ],
    [
      'so many output tokens, by an error of the router',
      refusedBy(createOverflowError({ input: 30_000, output: 32_000, maximum: 40_000 })),
      ({ body }) => Number(body['max_tokens']) > 10_000,
    ],
  ])('asks again without what is refused: %s', async (_, refusal, isWith) => {
    const first = upstream.calls.length;
    answer = (call) => (isWith(call) ? refusal : text('Without it.'));
    const settings = { CLAUDE_CODE_MAX_OUTPUT_TOKENS: '32000' };
    const { results } = await converse('claude-native', [[image, ...text('What is it?')]], settings);
    expect(results).toMatchObject([{ is_error: false, result: 'Without it.' }]);
    expect(upstream.calls.length - first).toBe(2);
  });

  it.each([
    ['of another key', ''],
    ['of another conversation', '`thinking` block is bound to a different conversation. '],
  ])('asks again without thinking %s, which the upstream refuses in its own words', async (_, reason) => {
    const first = upstream.calls.length;
    const message = `messages.1.content.0: ${reason}Invalid \`signature\` in \`thinking\` block`;
    answer = (call) => {
      if (call.body.messages.filter(({ role }) => role === 'user').length < 2)
        return [{ type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }, ...text('One.')];
      return has('"thinking":"Hm."')(call) ? refused(message) : text('Two.');
    };
    const { results } = await converse('claude-native', ['First', 'Second']);
    expect(results).toMatchObject([{ result: 'One.' }, { is_error: false, result: 'Two.' }]);
    expect(upstream.calls.length - first).toBe(3);
  });

  it('says what its requests are for, and how long its tools took', async () => {
    const first = upstream.calls.length;
    answer = ({ body }) =>
      body.messages.some(({ content }) => JSON.stringify(content).includes('tool_result'))
        ? text('Done.')
        : [{ type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'echo hi' } }];
    const { results } = await converse('claude-native', ['Say hi.'], { CLAUDE_CODE_GATEWAY_HINT_HEADERS: '1' });
    expect(results).toMatchObject([{ is_error: false, result: 'Done.' }]);
    const [asked, answered] = upstream.calls.slice(first).map(({ headers }) => headers);
    expect(asked).toMatchObject({
      'x-claude-code-request-class': 'main',
      'x-claude-code-session-id': expect.any(String),
      'x-claude-code-prompt-id': expect.any(String),
    });
    expect(answered).toMatchObject({
      'x-claude-code-prompt-id': asked?.['x-claude-code-prompt-id'],
      'x-claude-code-prev-tool-durations': expect.stringMatching(/^Bash=\d+$/),
    });
  });

  it('waits as long as a short limit of the upstream lasts', async () => {
    const first = upstream.calls.length;
    answer = (_, at) =>
      at > first
        ? text('After it.')
        : { status: 429, headers: { 'retry-after': '2' }, error: { type: 'rate_limit_error', message: 'Too fast.' } };
    const startedAt = performance.now();
    const { results } = await converse('claude-native', ['hi']);
    expect(results).toMatchObject([{ is_error: false, result: 'After it.' }]);
    expect(performance.now() - startedAt).toBeGreaterThan(2_000);
    expect(upstream.calls.length - first).toBe(2);
  });

  it('sees how far the windows of a subscription are used, once its token is of a gateway', async () => {
    const used = {
      status: 'allowed_warning',
      reset: '1995000000',
      'representative-claim': 'five_hour',
      '5h-status': 'allowed_warning',
      '5h-reset': '1995000000',
      '5h-utilization': '0.93',
      '5h-surpassed-threshold': '0.9',
    };
    const named = Object.entries(used).map(([name, value]) => [`anthropic-ratelimit-unified-${name}`, value]);
    const headers = Object.fromEntries(named) as Record<string, string>;
    answer = () => ({ content: text('Hi.'), headers });
    const given = { authorization: `Bearer ${cluster.key}` };
    const proxy = stopAfterTest(await startRecordingProxy(cluster.url, given));
    const claims = { aud: 'claude-gateway', sub: 'somebody', session_id: 's', exp: 1_995_000_000 };
    const token = [{ alg: 'HS256', typ: 'JWT' }, claims].map((part) => base64url(JSON.stringify(part))).join('.');
    const { messages } = await converse('claude-native', ['hi'], {
      ANTHROPIC_BASE_URL: `${proxy.url}/api/anthropic`,
      ANTHROPIC_AUTH_TOKEN: `${token}.${base64url('signature')}`,
    });
    const rate_limit_info = { status: 'allowed_warning', rateLimitType: 'five_hour', utilization: 0.93 };
    expect(messages.filter(({ type }) => type === 'rate_limit_event')).toMatchObject([{ rate_limit_info }]);
  });

  it('greets the router before it asks', async () => {
    const proxy = stopAfterTest(await startRecordingProxy(cluster.url));
    answer = () => text('Hi.');
    const asked = ['-p', 'hi', '--output-format', 'json', '--model', 'claude-native'];
    const settings = environment({ ANTHROPIC_BASE_URL: `${proxy.url}/api/anthropic` });
    const { stdout } = await runAgent(claude, asked, newHome(), settings);
    expect(JSON.parse(stdout)).toMatchObject({ is_error: false, result: 'Hi.' });
    expect(proxy.answered).toContain('HEAD /api/anthropic/api/hello 200');
    expect(proxy.answered).toContain('POST /api/anthropic/v1/messages?beta=true 200');
  });

  it('shows the wording of a limit at once, if the upstream says to wait for more than a minute', async () => {
    const first = upstream.calls.length;
    answer = () => ({
      status: 429,
      headers: { 'retry-after': '3600', 'x-should-retry': 'false' },
      error: { type: 'rate_limit_error', message: 'The weekly limit of badgers is reached.' },
    });
    const { results } = await converse('claude-native', ['hi']);
    const result = expect.stringContaining('weekly limit of badgers');
    expect(results).toMatchObject([{ is_error: true, api_error_status: 429, result }]);
    expect(upstream.calls.length - first).toBe(1);
  });
});

const base64url = (value: string): string => Buffer.from(value).toString('base64url');

describe('Claude Code as a worker', () => {
  beforeAll(async () => {
    await cluster.addCliWorker({
      CLI_KIND: 'claude',
      CLI_COMMAND: claude,
      CLI_MODELS: 'claude-sonnet-5',
      ANTHROPIC_BASE_URL: upstream.url,
      ANTHROPIC_API_KEY: 'sk-native',
      HOME: newHome(),
    });
  });

  it('passes thinking with its signature to clients, and back to its upstream', async () => {
    const written: JsonObject[] = [];
    answer = () => {
      written.push(thinking(`Hm “ä” ${written.length}`));
      return [...written.slice(-1), ...text(`Answer ${written.length}.`)];
    };
    const anthropic = new Anthropic({ baseURL: `${cluster.url}/api/anthropic`, apiKey: cluster.key, maxRetries: 0 });
    const messages: Anthropic.MessageParam[] = [];
    for (const streams of [true, false, true, false]) {
      messages.push({ role: 'user', content: 'Go on.' });
      const asked = { model: 'claude-sonnet-5', max_tokens: 1000, messages, thinking: { type: 'adaptive' as const } };
      const { content } = streams
        ? await anthropic.messages.stream(asked).finalMessage()
        : await anthropic.messages.create(asked);
      expect(content).toEqual([written.at(-1), { type: 'text', text: `Answer ${written.length}.` }]);
      messages.push({ role: 'assistant', content });
    }
    const raw = upstream.calls.at(-1)?.raw;
    for (const block of written.slice(0, 3)) expect(raw).toContain(JSON.stringify(block));
  });

  it('passes thinking to Responses clients, sealed with its signature, and back to its upstream', async () => {
    const written: JsonObject[] = [];
    answer = () => {
      written.push(thinking(`Hm ${written.length}`));
      return [...written.slice(-1), ...text(`Answer ${written.length}.`)];
    };
    const openai = new OpenAI({ baseURL: `${cluster.url}/api/openai`, apiKey: cluster.key, maxRetries: 0 });
    const input: OpenAI.Responses.ResponseInput = [];
    for (const streams of [true, false, true]) {
      input.push({ role: 'user', content: 'Go on.' });
      const asked = {
        model: 'claude-sonnet-5',
        store: false,
        include: ['reasoning.encrypted_content' as const],
        reasoning: { effort: 'high' as const, summary: 'auto' as const },
        input,
      };
      const { output, output_text: said } = streams
        ? await openai.responses.stream(asked).finalResponse()
        : await openai.responses.create(asked);
      const text = written.at(-1)?.['thinking'];
      const reasoning = { summary: [{ text }], content: [{ text }], encrypted_content: expect.any(String) };
      expect(output).toMatchObject([{ type: 'reasoning', ...reasoning }, { type: 'message' }]);
      expect(said).toBe(`Answer ${written.length}.`);
      input.push(...(output as OpenAI.Responses.ResponseInputItem[]));
    }
    const raw = upstream.calls.at(-1)?.raw;
    for (const block of written.slice(0, 2)) expect(raw).toContain(JSON.stringify(block));
  });

  it('is asked for a title with a schema, which it takes', async () => {
    const first = upstream.calls.length;
    answer = () => text('{"title": "Badgers"}');
    const request = { subtype: 'generate_session_title', description: 'Find the badgers.', persist: false };
    const proxy = stopAfterTest(await startRecordingProxy(cluster.url));
    const settings = { ANTHROPIC_BASE_URL: `${proxy.url}/api/anthropic` };
    const { results } = await converse('claude-sonnet-5', [request], settings);
    expect(results).toMatchObject([{ response: { subtype: 'success', response: { title: 'Badgers' } } }]);
    expect(upstream.calls.length - first).toBe(1);
    expect(proxy.answered).toEqual(['POST /api/anthropic/v1/messages?beta=true 200']);
  });
});
