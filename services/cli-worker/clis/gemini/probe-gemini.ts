import type { Capability } from '#shared/broker/contract/announcement.ts';
import type { Json, JsonObject } from '#shared/core/json.ts';
import type { AnswerPart, CliSession } from '../cli.ts';
import { probeImage, probeUpstream } from '../probe-upstream.ts';
import { toolPrefix, type GeminiRequest } from './gemini-request.ts';

const toolName = 'probe';
const toolCall = { functionCall: { name: toolPrefix + toolName, args: { a: 1 } } };
const usage = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
const answerEvents: readonly JsonObject[] = [
  {
    candidates: [{ index: 0, content: { role: 'model', parts: [toolCall, toolCall] }, finishReason: 'STOP' }],
    usageMetadata: usage,
  },
];

/**
 * Finds out whether the installed version of Gemini CLI offers a client's tools to the model and reports all calls, and whether it forwards
 * images. Makes a process send a request to an upstream inside the worker, and checks that request. This costs no tokens.
 * @param start starts a process that sends requests to the upstream at an address
 */
export async function probeGemini(
  start: (url: string) => Promise<CliSession<GeminiRequest, AnswerPart>>,
  { models, signal }: { models: readonly [string, ...string[]]; signal: AbortSignal },
): Promise<Capability[]> {
  const { request, pieces } = await probeUpstream(answerEvents, start, createQuestion(models[0]), signal);
  const contains = (field: Json | undefined, text: string): boolean => JSON.stringify(field ?? null).includes(text);
  const reportsCalls = pieces.filter((part) => part.kind === 'call').length === 2;
  return [
    ...(contains(request['tools'], toolPrefix + toolName) && reportsCalls ? (['tools'] as const) : []),
    ...(contains(request['contents'], probeImage) ? (['vision'] as const) : []),
  ];
}

function createQuestion(model: string): GeminiRequest {
  return {
    model,
    system: '',
    turns: [{ role: 'user', parts: [{ text: 'Hello' }, { inlineData: { mimeType: 'image/png', data: probeImage } }] }],
    tools: [{ name: toolName, description: 'A tool', inputSchema: { type: 'object', properties: {} } }],
    toolNames: new Map([[toolPrefix + toolName, toolName]]),
    parallelCalls: true,
    maxTokens: undefined,
    stop: [],
  };
}
