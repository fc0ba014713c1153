import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { fillUsage, writeChatUsage, writeChatUsageDetails } from '#shared/formats/chat/usage.ts';
import { estimateTokens } from '#shared/formats/estimate-tokens.ts';
import { readMessagesEventError } from '../upstreams/messages/upstream-error.ts';
import { readMessagesUsage } from '#shared/formats/messages/usage.ts';
import type { Ending, AnswerContext } from '../translation.ts';
import { readRefusalText, toFinishReason } from '../vocabulary/stop-reason.ts';
import { CustomCalls } from '../vocabulary/custom-calls.ts';
import { writeToolArguments } from '../vocabulary/tool-call.ts';

/**
 * Translates a `messages` upstream's answer for a chat client. Joins texts. Thinking becomes `reasoning_content` without its signature.
 * @throws RouterError `upstream_failed` if the body is not an answer
 */
export function chatToMessagesReply(
  body: JsonObject,
  answerContext: AnswerContext,
): { body: JsonObject; ending: Ending } {
  const failure = readMessagesEventError(body);
  if (failure) throw failure;
  if (!Array.isArray(body['content'])) {
    throw new RouterError('upstream_failed', 'The upstream sent an answer without content.');
  }
  const blocks = body['content'].filter(isJsonObject);
  const custom = CustomCalls.createFor(answerContext.recalled);
  const calls = blocks.filter((block) => block['type'] === 'tool_use').map(toToolCall);
  const text = joinTexts(blocks, 'text');
  const reasoning = joinTexts(blocks, 'thinking');
  const refusal = readRefusalText(body);
  const finishReason = toFinishReason(body['stop_reason'], calls.length > 0);
  const usage = fillUsage(readMessagesUsage(body['usage']), {
    prompt: answerContext.promptTokens,
    completion: () =>
      estimateTokens(
        [reasoning, text, refusal ?? '', ...calls.map(({ function: fn }) => fn.name + fn.arguments)].join(''),
      ),
  });
  const message: JsonObject = {
    role: 'assistant',
    content: calls.length > 0 ? text || null : text,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && {
      tool_calls: calls.map((call) => custom?.toWholeCall({ ...call, ...call.function }) ?? call),
    }),
    refusal: refusal ?? null,
  };
  return {
    body: {
      id: answerContext.id,
      object: 'chat.completion',
      created: answerContext.created,
      model: answerContext.model,
      choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason }],
      usage: writeChatUsage(usage, writeChatUsageDetails(usage)),
    },
    ending: { usage, finishReason },
  };
}

interface FunctionCall extends JsonObject {
  id: string;
  function: { name: string; arguments: string };
}

function toToolCall({ id, name, input }: JsonObject): FunctionCall {
  return {
    id: typeof id === 'string' ? id : '',
    type: 'function',
    function: {
      name: typeof name === 'string' ? name : '',
      arguments: writeToolArguments(isJsonObject(input) ? input : {}),
    },
  };
}

/** Joins the texts of all blocks of a type. The field with the text has the name of the type. */
function joinTexts(blocks: readonly JsonObject[], type: 'text' | 'thinking'): string {
  return blocks.map((block) => (block['type'] === type && typeof block[type] === 'string' ? block[type] : '')).join('');
}
