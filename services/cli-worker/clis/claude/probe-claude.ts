import { isDeepStrictEqual } from 'node:util';
import type { Capability } from '#shared/broker/contract/announcement.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { CliSession } from '../cli.ts';
import { probeUpstream } from '../probe-upstream.ts';
import type { ClaudeRequest } from './claude-request.ts';

const answerEvents: readonly (JsonObject & { type: string })[] = [
  { type: 'message_start', message: { id: 'msg_probe', type: 'message', role: 'assistant', content: [], usage: {} } },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 0 } },
  { type: 'message_stop' },
];

const probeTool = { name: 'probe', description: 'A tool', input_schema: { type: 'object' } };
const probeFormat = { type: 'json_schema', schema: { type: 'object', properties: {}, additionalProperties: false } };

/**
 * Finds out whether the installed version of Claude Code offers a client's tools to the model, and whether it forwards the fields of a
 * request. Makes a process send a request to an upstream inside the worker, on the loopback interface, and checks that request. This takes
 * about half a second and costs no tokens.
 * @param start starts a process with variables that override the worker's variables
 */
export async function probeClaude(
  start: (overrides: Record<string, string>) => Promise<CliSession<ClaudeRequest, JsonObject>>,
  { models, signal }: { models: readonly [string, ...string[]]; signal: AbortSignal },
): Promise<Capability[]> {
  const startAt = (url: string): Promise<CliSession<ClaudeRequest, JsonObject>> =>
    start({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'probe', NO_PROXY: '127.0.0.1' });
  const { request } = await probeUpstream(answerEvents, startAt, createQuestion(models[0]), signal);
  const takesTools = isDeepStrictEqual(request['tools'], [probeTool]) && isJsonObject(request['tool_choice']);
  const takesFormats = isJsonObject(request['output_config']) && request['output_config']['format'] !== undefined;
  return [...(takesTools ? (['tools'] as const) : []), ...(takesFormats ? (['json'] as const) : [])];
}

function createQuestion(model: string): ClaudeRequest {
  return {
    model,
    system: '',
    history: [],
    question: [{ type: 'text', text: 'Hello' }],
    tools: [probeTool.name],
    isThinking: false,
    fields: { tools: [probeTool], tool_choice: { type: 'any' }, output_config: { format: probeFormat } },
  };
}
