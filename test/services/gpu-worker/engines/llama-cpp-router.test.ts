import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { detectEngine } from '#services/gpu-worker/detect-engine.ts';
import { llamaCpp } from '#services/gpu-worker/engines/llama-cpp.ts';
import { connectEngine } from '../../../helpers/broker/run-job.ts';
import { serveInTest } from '../../../helpers/servers/serve-http.ts';

const recorded = (name: string): JsonObject =>
  JSON.parse(readFileSync(`test/fixtures/engines/llama-cpp-router/${name}.json`, 'utf8')) as JsonObject;

interface Listed extends JsonObject {
  id: string;
  status: { value: string; args: string[] };
}

const never = new AbortController().signal;
const operations = ['generate', 'complete'];
const capabilities = ['stream', 'json', 'continue', 'tools', 'thinking'];
const lacks = ['documents@chat', 'file_ids@chat', 'audio_input@chat'];
const tiny = { id: 'tiny', operations, capabilities, contextWindow: 8192, lacks };

/**
 * Starts a llama-server in router mode, from its recorded answers. Without `autoload=false` it would load a model for any request about it.
 * @param states states of its models; a change shows at the next request
 */
async function start(states: Record<string, string>, { autoloads = false, flags = [] as string[] } = {}) {
  /** Requests that need a model, with the model. */
  const asked: string[] = [];
  const loads: string[] = [];
  const url = await serveInTest(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://engine');
    const answer = (status: number, body: object): void =>
      void response
        .writeHead(status, { 'content-type': 'application/json', server: 'llama.cpp' })
        .end(JSON.stringify(body));
    const named = /"model":"([^"]+)"|name="model"\r\n\r\n([^\r]+)/.exec(await text(request));
    const model = searchParams.get('model') ?? named?.[1] ?? named?.[2];
    if (pathname === '/v1/models') {
      const { data } = recorded('models') as { data: Listed[] };
      const shown = data.map((each) => {
        const status = { ...each.status, value: states[each.id] ?? '', args: [...each.status.args, ...flags] };
        return { ...each, status };
      });
      return answer(200, { data: shown });
    }
    if (model === undefined) {
      return answer(pathname === '/props' ? 200 : 404, { ...recorded('props'), models_autoload: autoloads });
    }
    asked.push(`${request.method} ${pathname} ${model}`);
    if (searchParams.get('autoload') !== 'false') loads.push(model);
    if (!['loaded', 'sleeping'].includes(states[model] ?? '')) return answer(400, recorded('not-loaded'));
    if (pathname === '/props') return answer(200, recorded('props-of-tiny'));
    if (pathname === '/v1/completions') return answer(400, recorded('empty-completions'));
    if (pathname === '/tokenize') return answer(200, { tokens: [1, 2, 3] });
    return answer(404, { error: { code: 404, message: 'File Not Found', type: 'not_found_error' } });
  });
  return { http: connectEngine({ url }), asked, loads };
}

describe('llama.cpp in router mode', () => {
  it('is detected, and serves only loaded models where requests load none', async () => {
    const { http, loads } = await start({ tiny: 'loaded', other: 'unloaded' });
    expect(await detectEngine(http)).toBe('llama-cpp');
    expect(await llamaCpp.discover(http, [])).toEqual({ models: [tiny], slots: 2 });
    expect(loads).toEqual([]);
  });

  it("gets no requests about models that are not loaded, and only one probe of a model's operations", async () => {
    const states = { tiny: 'loaded', other: 'unloaded' };
    const { http, asked, loads } = await start(states, { autoloads: true });
    const first = await llamaCpp.discover(http, []);
    expect(first.models).toMatchObject([{ id: 'other', operations, capabilities }, tiny]);
    expect(asked.filter((each) => each.endsWith(' other'))).toEqual([]);
    expect(asked.filter((each) => each.startsWith('POST'))).not.toEqual([]);
    asked.length = 0;
    expect(await llamaCpp.discover(http, first.models)).toEqual(first);
    expect(asked).toEqual(['GET /props tiny']);
    expect(loads).toEqual([]);
  });

  it('keeps the description of a model that is no longer loaded', async () => {
    const states: Record<string, string> = { tiny: 'loaded', other: 'downloading' };
    const { http } = await start(states, { autoloads: true });
    const { models } = await llamaCpp.discover(http, []);
    for (const state of ['unloaded', 'loading', 'sleeping']) {
      states['tiny'] = state;
      expect((await llamaCpp.discover(http, models)).models).toEqual([tiny]);
    }
  });

  it.each([
    ['--embeddings', 'embed'],
    ['--reranking', 'rank'],
  ])('shows by %s in its command line that a model that was not loaded yet can %s', async (flag, operation) => {
    const { http } = await start({ tiny: 'unloaded' }, { autoloads: true, flags: [flag] });
    const model = { id: 'tiny', operations: [operation], capabilities: [], contextWindow: undefined };
    expect((await llamaCpp.discover(http, [])).models).toEqual([model]);
  });

  it('counts tokens only with loaded models', async () => {
    const { http, loads } = await start({ tiny: 'loaded', other: 'unloaded' }, { autoloads: true });
    const count = (model: string) =>
      llamaCpp.continuation?.countText(http, { model, text: 'a b', isWhole: true }, never);
    expect(await count('tiny')).toBe(3);
    await expect(count('other')).rejects.toThrow('status 400');
    const asked = { model: 'other', messages: [] };
    await expect(llamaCpp.countTokens?.(http, asked, never)).rejects.toThrow('status 400');
    expect(loads).toEqual([]);
  });
});
