import type { Capability } from '#shared/broker/contract/announcement.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { AnswerPart, CliSession } from '../cli.ts';
import { probeImage, probeUpstream } from '../probe-upstream.ts';
import type { CodexRequest } from './codex-request.ts';

const toolName = 'probe';
/** Arguments that Codex itself would format differently. They show whether Codex reports arguments unchanged. */
const argumentsText = '{ "a": 1.0 }';
const callItem = {
  id: 'fc_1',
  type: 'function_call',
  status: 'completed',
  call_id: 'call_1',
  name: toolName,
  arguments: argumentsText,
};
const response = { id: 'resp_1', object: 'response', output: [] };
const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
const answerEvents: readonly (JsonObject & { type: string })[] = [
  { type: 'response.created', response: { ...response, status: 'in_progress' } },
  { type: 'response.output_item.added', output_index: 0, item: callItem },
  { type: 'response.output_item.done', output_index: 0, item: callItem },
  { type: 'response.completed', response: { ...response, status: 'completed', usage } },
];
const imageUrl = `data:image/png;base64,${probeImage}`;

/**
 * Finds out whether the installed version of Codex offers a client's tools to the model, and reports their calls as the model wrote them.
 * Also finds out whether Codex forwards a schema and images. Makes a process send a request to an upstream inside the worker, and checks
 * that request. This takes about half a second and costs no tokens.
 * @param start starts a process that sends requests to the upstream at an address
 */
export async function probeCodex(
  start: (url: string) => Promise<CliSession<CodexRequest, AnswerPart>>,
  { models, signal }: { models: readonly [string, ...string[]]; signal: AbortSignal },
): Promise<Capability[]> {
  const { request, pieces } = await probeUpstream(answerEvents, start, createQuestion(models[0]), signal);
  const { tools, text, input } = request;
  const offersTools = Array.isArray(tools) && tools.some((tool) => isJsonObject(tool) && tool['name'] === toolName);
  const reportsCalls = pieces.some((part) => part.kind === 'call' && part.arguments === argumentsText);
  const takesFormats = isJsonObject(text) && isJsonObject(text['format']);
  return [
    ...(offersTools && reportsCalls ? (['tools'] as const) : []),
    ...(takesFormats ? (['json'] as const) : []),
    ...(JSON.stringify(input ?? []).includes(imageUrl) ? (['vision'] as const) : []),
  ];
}

function createQuestion(model: string): CodexRequest {
  const content = [
    { type: 'input_text', text: 'Hello' },
    { type: 'input_image', image_url: imageUrl },
  ];
  return {
    model,
    instructions: '',
    items: [{ type: 'message', role: 'user', content }],
    effort: undefined,
    schema: { type: 'object', properties: {}, required: [], additionalProperties: false },
    tools: [{ name: toolName, description: 'A tool', inputSchema: { type: 'object', properties: {} } }],
    toolNames: new Map([[toolName, toolName]]),
    parallelCalls: true,
    maxTokens: undefined,
    stop: [],
  };
}
