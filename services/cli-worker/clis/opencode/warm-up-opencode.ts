import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { AnswerPart } from '../cli.ts';
import { warmUpModel } from './opencode-config.ts';
import { toOpencodeToolName, type OpencodeRequest } from './opencode-request.ts';
import type { OpencodeSession } from './opencode-session.ts';
import type { LocalUpstream } from '../local-upstream.ts';

/** Number of conversations after which opencode has loaded everything and hardly gets faster. */
const warmUpCount = 8;

const toolName = 'warm_up';
const createMessage = (type: string, role: string, text: string): JsonObject => ({
  type: 'message',
  role,
  content: [{ type, text }],
});
const items: JsonObject[] = [
  createMessage('input_text', 'user', 'Hello'),
  createMessage('output_text', 'assistant', 'Hello'),
  { type: 'function_call', call_id: 'call_1', name: toOpencodeToolName(toolName), arguments: '{"a":1}' },
  { type: 'function_call_output', call_id: 'call_1', output: 'Done' },
];
const request: OpencodeRequest = {
  model: `${warmUpModel.providerID}/${warmUpModel.modelID}`,
  system: 'Be exact.',
  items,
  parameters: { maxOutputTokens: 7 },
  effort: undefined,
  schema: undefined,
  tools: [],
  toolNames: new Map([[toOpencodeToolName(toolName), toolName]]),
  parallelCalls: true,
  stop: [],
};

/** The messages that the upstream must get for `request`. It must get no others. */
const expectedMessages: JsonObject[] = [
  { role: 'system', content: 'Be exact.' },
  { role: 'user', content: 'Hello' },
  { role: 'assistant', content: 'Hello' },
  { role: 'tool', content: 'Done' },
];

/**
 * Holds conversations with the warm-up upstream, because the first conversations take several times as long as later ones.
 * @returns whether this version of opencode offers a client's tools to the model
 * @throws RouterError `upstream_failed` if opencode changes a conversation before it reaches the upstream
 */
export async function warmUpOpencode(
  session: OpencodeSession,
  upstream: LocalUpstream,
  signal: AbortSignal,
): Promise<{ takesTools: boolean }> {
  const parts: AnswerPart[] = [];
  const tools = [{ name: toolName, description: 'A tool', inputSchema: { type: 'object' } }];
  const { finishReason } = await session.converse({ ...request, tools }, (part) => void parts.push(part), signal);
  for (let round = 1; round < warmUpCount; round += 1) await session.converse(request, () => undefined, signal);
  if (!isExpectedRequest(upstream.lastRequest())) {
    throw new RouterError('upstream_failed', 'This version of opencode does not pass on conversations as they are.');
  }
  return { takesTools: finishReason === 'tool_calls' && parts.some((part) => part.kind === 'call') };
}

function isExpectedRequest({ messages, tools, max_tokens: limit }: JsonObject): boolean {
  const turns = (Array.isArray(messages) ? messages : []).filter(isJsonObject);
  const hasExpectedMessages =
    turns.length === expectedMessages.length &&
    turns.every(
      ({ role, content }, at) =>
        role === expectedMessages[at]?.['role'] && content === expectedMessages[at]?.['content'],
    );
  return hasExpectedMessages && tools === undefined && limit === 7;
}
