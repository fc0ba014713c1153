import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { writeChatUsageDetails, fillUsage, writeChatUsage } from '#shared/formats/chat/usage.ts';
import { estimateTokens } from '#shared/formats/estimate-tokens.ts';
import type { Ending, AnswerContext } from '../translation.ts';
import { joinWrittenText } from '../upstreams/chat/reasoning.ts';
import { readResponseFinishReason } from '../upstreams/responses/responses-upstream.ts';
import { toPieces, type ResponsesPiece } from '../upstreams/responses/item-pieces.ts';
import { readFailure } from '../upstreams/responses/upstream-error.ts';
import { readResponsesUsage } from '#shared/formats/responses/usage.ts';

/**
 * Translates a response for a chat client. Joins texts. Thinking becomes `reasoning_content`.
 * @throws RouterError with the error of a failed response; `upstream_failed` if the body is not a response
 */
export function chatToResponsesReply(
  body: JsonObject,
  answerContext: AnswerContext,
): { body: JsonObject; ending: Ending } {
  const failure = readFailure(body);
  if (failure) throw failure;
  const { output } = body;
  if (!Array.isArray(output)) throw new RouterError('upstream_failed', 'The upstream sent an answer without output.');
  const pieces = toPieces(output);
  const calls = pieces.filter((piece) => piece.kind === 'call');
  const [content, refusal, reasoning] = [
    joinTexts(pieces, 'text'),
    joinTexts(pieces, 'refusal'),
    joinTexts(pieces, 'thinking'),
  ];
  const message: JsonObject = {
    role: 'assistant',
    content: calls.length > 0 ? content || null : content,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && {
      tool_calls: calls.map(toToolCall),
    }),
    refusal: refusal || null,
  };
  const finishReason = readResponseFinishReason(body, calls.length > 0);
  const usage = fillUsage(readResponsesUsage(body), {
    prompt: answerContext.promptTokens,
    completion: () =>
      estimateTokens(
        joinWrittenText(
          message,
          calls.map(({ call }) => call),
        ),
      ),
  });
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

function toToolCall({
  call: { id, name = '', arguments: text },
  isCustom,
}: ResponsesPiece & { kind: 'call' }): JsonObject {
  if (isCustom) return { id, type: 'custom', custom: { name, input: text } };
  return { id, type: 'function', function: { name, arguments: text || '{}' } };
}

function joinTexts(pieces: readonly ResponsesPiece[], kind: 'text' | 'refusal' | 'thinking'): string {
  return pieces.map((piece) => (piece.kind === kind && 'text' in piece ? piece.text : '')).join('');
}
