import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { shareCluster } from '../cluster/share-cluster.ts';
import { startCliWorker } from '../cluster/start-cli-worker.ts';
import type { Cluster } from '../cluster/start-cluster.ts';
import { startFakeModelApis } from '../upstreams/fake-model-apis.ts';
import type { CliName } from './install-clis.ts';
import { commandOf, realClis } from './real-clis.ts';

/** The parameters of a chat request that a test sets. */
export type ChatParams = Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, 'model'> & { model?: string };

/** A cluster that waits for workers of real agents. */
export const shareCliCluster = (): Promise<Cluster> => shareCluster({ workers: 0, engineUrl: 'http://127.0.0.1:9' });

/**
 * Opens a worker of a real agent. Call its `stop` in `afterAll`.
 * @param environment variables of the worker, besides or instead of those that the agent needs
 * @param given a cluster that outlasts it, for tests that run at the same time; default: one of its own
 */
export async function openRealCli(
  name: CliName,
  environment: Record<string, string | undefined> = {},
  given?: Cluster,
) {
  const cli = realClis[name];
  const [model] = cli.models;
  const api = await startFakeModelApis();
  const cluster = given ?? (await shareCliCluster());
  const settings: Record<string, string | undefined> = {
    CLI_KIND: name,
    CLI_COMMAND: commandOf(name),
    CLI_MODELS: model,
    SLOTS: '2',
    ...cli.environment(api.url),
    ...environment,
  };
  const set = Object.entries(settings).flatMap(([variable, value]) => (value === undefined ? [] : [[variable, value]]));
  const worker = await startCliWorker(cluster, Object.fromEntries(set) as Record<string, string>);
  const openai = new OpenAI({ baseURL: `${cluster.url}/api/openai/v1`, apiKey: cluster.key, maxRetries: 0 });
  const anthropic = new Anthropic({ baseURL: `${cluster.url}/api/anthropic`, apiKey: cluster.key, maxRetries: 0 });
  return {
    /** The first model that it serves. */
    model,
    api,
    cluster,
    worker,
    openai,
    anthropic,
    /** Requests a chat completion of the model, streamed by default. */
    chat: (params: ChatParams, streams = true) => {
      const body = { model, ...params };
      return streams
        ? openai.chat.completions.stream({ ...body, stream: true }).finalChatCompletion()
        : openai.chat.completions.create(body);
    },
    /** The body of the last request to the upstream. */
    lastBody: () => api.calls.at(-1)?.body ?? {},
    stop: async () => {
      await worker.stop();
      if (!given) await cluster.stop();
      await api.close();
    },
  };
}

/** A worker of a real agent in front of fake model APIs, and clients that use it through an ingress. */
export type OpenedCli = Awaited<ReturnType<typeof openRealCli>>;

/** Returns a user's message. */
export function user(content: string): { role: 'user'; content: string } {
  return { role: 'user', content };
}

/** Returns a user's message of a question and an image. */
export function asksAbout(url: string, detail?: 'low'): OpenAI.ChatCompletionUserMessageParam {
  const image = { type: 'image_url' as const, image_url: { url, ...(detail && { detail }) } };
  return { role: 'user', content: [{ type: 'text', text: 'What is it?' }, image] };
}

/** A schema for answers, and the response format with it. */
export const answerSchema = {
  type: 'object',
  properties: { said: { type: 'string', minLength: 1 } },
  required: ['said'],
  additionalProperties: false,
};
export const answerFormat = (strict: boolean) => {
  return { type: 'json_schema' as const, json_schema: { name: 'answer', schema: answerSchema, strict } };
};

/** One pixel, as a PNG in base64. */
export const pixelData =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Returns the same tool in each format. */
export function clientTool(name: string, schema: { type: 'object' }) {
  // Longer than the maximum description of an agent.
  const description = `Says the weather. ${'It is exact. '.repeat(400)}`.trim();
  return {
    description,
    chat: [{ type: 'function' as const, function: { name, description, parameters: schema } }],
    messages: [{ name, description, input_schema: schema }],
    responses: [{ type: 'function' as const, name, description, parameters: schema, strict: false }],
  };
}
