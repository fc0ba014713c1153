import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { fillUsage } from '#shared/formats/chat/usage.ts';
import { estimateTokens } from '#shared/formats/estimate-tokens.ts';
import { createMessageObject, createTextBlock, createToolUseBlock } from '#shared/formats/messages/message-object.ts';
import { createEditReport } from '../context/edit-context.ts';
import type { Ending, AnswerContext } from '../translation.ts';
import { readResponseFinishReason } from '../upstreams/responses/responses-upstream.ts';
import { toPieces, readThinkingText, type ResponsesPiece } from '../upstreams/responses/item-pieces.ts';
import { readFailure } from '../upstreams/responses/upstream-error.ts';
import { readResponsesUsage } from '#shared/formats/responses/usage.ts';
import { adjustFinishReason, toStopReason } from '../vocabulary/stop-reason.ts';
import { syntheticSignature } from '../vocabulary/thinking.ts';
import { toMessagesToolId, parseToolInput } from '../vocabulary/tool-call.ts';
import { readRecalledThinking } from '../vocabulary/shown-thinking.ts';
import { toReasoningSignature } from '../vocabulary/reasoning-signature.ts';

/**
 * Translates a response for a `messages` client, item by item.
 * @throws RouterError with the error of a failed response; `upstream_failed` if the body is not a response
 */
export function messagesToResponsesReply(
  body: JsonObject,
  answerContext: AnswerContext,
): { body: JsonObject; ending: Ending } {
  const failure = readFailure(body);
  if (failure) throw failure;
  const { output } = body;
  if (!Array.isArray(output)) throw new RouterError('upstream_failed', 'The upstream sent an answer without output.');
  const pieces = toPieces(output);
  const hasRefusal = pieces.some((piece) => piece.kind === 'refusal' && piece.text !== '');
  const hasCalls = pieces.some(({ kind }) => kind === 'call');
  const finishReason = adjustFinishReason(readResponseFinishReason(body, hasCalls), hasRefusal);
  const usage = fillUsage(readResponsesUsage(body), {
    prompt: answerContext.promptTokens,
    completion: () => estimateTokens(pieces.map(readWrittenText).join('')),
  });
  return {
    body: {
      ...createMessageObject({
        id: answerContext.id,
        model: answerContext.model,
        content: pieces.flatMap((piece) => toBlocks(piece, answerContext)),
        ending: { stop_reason: toStopReason(finishReason, null), stop_sequence: null },
        usage,
      }),
      ...createEditReport(answerContext.recalled),
    },
    ending: { usage, finishReason },
  };
}

function toBlocks(piece: ResponsesPiece, answerContext: AnswerContext): JsonObject[] {
  switch (piece.kind) {
    case 'text':
    case 'refusal':
      return piece.text === '' ? [] : [createTextBlock(piece.text)];
    // The piece `thought` carries the same text.
    case 'thinking':
      return [];
    case 'thought': {
      if (readRecalledThinking(answerContext.recalled) === 'none') return [];
      const thinking = readThinkingText(piece.item);
      const signature = toReasoningSignature(piece.item, answerContext);
      if (signature === undefined && thinking === '') return [];
      return [{ type: 'thinking', thinking, signature: signature ?? syntheticSignature }];
    }
    case 'call': {
      const { id, name, arguments: text } = piece.call;
      return [createToolUseBlock(toMessagesToolId(id), name ?? '', parseToolInput(text))];
    }
  }
}

/**
 * Returns the text of a piece, from which the output tokens are estimated. `thought` adds nothing, because `thinking` has the same text.
 */
function readWrittenText(piece: ResponsesPiece): string {
  switch (piece.kind) {
    case 'thought':
      return '';
    case 'call':
      return `${piece.call.name ?? ''}${piece.call.arguments}`;
    default:
      return piece.text;
  }
}
