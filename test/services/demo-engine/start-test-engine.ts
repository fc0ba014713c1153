import OpenAI from 'openai';
import { onTestFinished } from 'vitest';
import { loadConfig, type Environment } from '#shared/core/load-config.ts';
import { demoEngineSettings } from '#services/demo-engine/config.ts';
import { startDemoEngine } from '#services/demo-engine/start-demo-engine.ts';

/** Starts a demo engine that answers as fast as possible, and clients for it. It is stopped when the test ends. */
export async function startTestEngine(environment: Environment = {}) {
  const failures: unknown[] = [];
  const config = loadConfig(demoEngineSettings, { DEMO_OPTIONS: 'rate=0', ...environment });
  const engine = await startDemoEngine(config, (error) => failures.push(error));
  onTestFinished(async () => {
    await engine.close();
    if (failures.length > 0) throw new AggregateError(failures, 'the engine failed unexpectedly');
  });
  const post = (body: unknown, signal?: AbortSignal): Promise<Response> =>
    fetch(`${engine.url}/v1/chat/completions`, { method: 'POST', body: textOf(body), ...(signal && { signal }) });
  const get = async (path: string): Promise<unknown> => (await fetch(`${engine.url}${path}`)).json();
  return {
    url: engine.url,
    openai: new OpenAI({ baseURL: `${engine.url}/v1`, apiKey: 'none', maxRetries: 0 }),
    post,
    get,
    state: async () => (await get('/demo/state')) as DemoState,
  };
}

interface DemoState {
  active: number;
  waiting: number;
  started: number;
  finished: number;
  aborted: number;
  faulted: number;
  last: { completion_tokens: number; fields: string[]; ended: string | null } | null;
}

const textOf = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(body));

export function user(content: string): { role: 'user'; content: string } {
  return { role: 'user', content };
}

/** A function tool whose named string properties are all required. */
export function tool(name: string, ...properties: string[]) {
  const texts = Object.fromEntries(properties.map((property) => [property, { type: 'string' }]));
  const parameters = { type: 'object', properties: texts, required: properties };
  return { type: 'function' as const, function: { name, description: `Does ${name}.`, parameters } };
}
