import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { completeUsage } from '#shared/formats/chat/usage.ts';
import { estimateTokens } from '#shared/formats/estimate-tokens.ts';
import { messageObject, textBlock, toolUseBlock } from '#shared/formats/messages/message-object.ts';
import { reportOfEdits } from '../context/edit-context.ts';
import type { Ending, Minted } from '../translation.ts';
import { responseFinishReason } from '../upstreams/responses/ending.ts';
import { piecesOfItems, thinkingOf, type ResponsesPiece } from '../upstreams/responses/item-pieces.ts';
import { failureOf } from '../upstreams/responses/upstream-error.ts';
import { readResponsesUsage } from '#shared/formats/responses/usage.ts';
import { finishReasonOfRefusal, stopReasonFor } from '../vocabulary/stop-reason.ts';
import { syntheticSignature } from '../vocabulary/thinking.ts';
import { messagesToolId, toolInput } from '../vocabulary/tool-call.ts';
import { shownThinking } from '../vocabulary/shown-thinking.ts';
import { signatureFor } from '../vocabulary/reasoning-signature.ts';

/**
 * Translates a response for a messages client, item by item.
 * @throws RouterError for a failed response, `upstream_failed` if the body is not a response
 */
export function messagesToResponsesReply(body: JsonObject, minted: Minted): { body: JsonObject; ending: Ending } {
  const failure = failureOf(body);
  if (failure) throw failure;
  const { output } = body;
  if (!Array.isArray(output)) throw new RouterError('upstream_failed', 'The upstream sent an answer without output.');
  const pieces = piecesOfItems(output);
  const refused = pieces.some((piece) => piece.kind === 'refusal' && piece.text !== '');
  const called = pieces.some(({ kind }) => kind === 'call');
  const finishReason = finishReasonOfRefusal(responseFinishReason(body, called), refused);
  const usage = completeUsage(readResponsesUsage(body), {
    prompt: minted.promptTokens,
    completion: () => estimateTokens(pieces.map(writtenIn).join('')),
  });
  return {
    body: {
      ...messageObject({
        id: minted.id,
        model: minted.model,
        content: pieces.flatMap((piece) => blocksOf(piece, minted)),
        ending: { stop_reason: stopReasonFor(finishReason, null), stop_sequence: null },
        usage,
      }),
      ...reportOfEdits(minted.recalled),
    },
    ending: { usage, finishReason },
  };
}

function blocksOf(piece: ResponsesPiece, minted: Minted): JsonObject[] {
  switch (piece.kind) {
    case 'text':
    case 'refusal':
      return piece.text === '' ? [] : [textBlock(piece.text)];
    case 'thinking':
      return [];
    case 'thought': {
      if (shownThinking(minted.recalled) === 'none') return [];
      const thinking = thinkingOf(piece.item);
      const signature = signatureFor(piece.item, minted);
      if (signature === undefined && thinking === '') return [];
      return [{ type: 'thinking', thinking, signature: signature ?? syntheticSignature }];
    }
    case 'call': {
      const { id, name, arguments: text } = piece.call;
      return [toolUseBlock(messagesToolId(id), name ?? '', toolInput(text))];
    }
  }
}

function writtenIn(piece: ResponsesPiece): string {
  switch (piece.kind) {
    case 'thought':
      return '';
    case 'call':
      return `${piece.call.name ?? ''}${piece.call.arguments}`;
    default:
      return piece.text;
  }
}
