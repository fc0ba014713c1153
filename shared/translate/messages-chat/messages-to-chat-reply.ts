import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { readFinishReason } from '../upstreams/chat/finish-reason.ts';
import { reasoningOf, reasoningSignatureField, unifyReasoning, writtenText } from '../upstreams/chat/reasoning.ts';
import { ToolCallOrder, type ToolCallPiece, toolCallPrefix } from '../upstreams/chat/tool-call-order.ts';
import { upstreamErrorFromChatEvent } from '../upstreams/chat/upstream-error.ts';
import { completeUsage, readChatUsage } from '#shared/formats/chat/usage.ts';
import { estimateTokens } from '#shared/formats/estimate-tokens.ts';
import { messageObject, textBlock, toolUseBlock } from '#shared/formats/messages/message-object.ts';
import type { Ending, Minted } from '../translation.ts';
import { reportOfEdits } from '../context/edit-context.ts';
import { carryingSignature, type ShownThinking, shownThinking } from '../vocabulary/shown-thinking.ts';
import { matchedStop, stopReasonFor } from '../vocabulary/stop-reason.ts';
import { syntheticSignature } from '../vocabulary/thinking.ts';
import { messagesToolId, toolInput } from '../vocabulary/tool-call.ts';

/**
 * Translates a chat upstream's answer for a messages client: thinking, then text, then tool calls.
 * @throws RouterError `upstream_failed` if it is not an answer
 */
export function messagesToChatReply(body: JsonObject, minted: Minted): { body: JsonObject; ending: Ending } {
  const failure = upstreamErrorFromChatEvent(body);
  if (failure) throw failure;
  const choice = Array.isArray(body['choices']) ? body['choices'][0] : undefined;
  if (!isJsonObject(choice) || !isJsonObject(choice['message'])) {
    throw new RouterError('upstream_failed', 'The upstream sent an answer without a message.');
  }
  const { message } = choice;
  unifyReasoning(message);
  const pieces = toolCalls(message, minted);
  const calls = pieces.map(toolUse);
  const content = [...thinkingBlocks(message, shownThinking(minted.recalled)), ...textBlocks(message), ...calls];
  const finishReason = readFinishReason(choice['finish_reason'], calls.length > 0);
  const stopSequence = matchedStop(choice);
  const stopReason = stopReasonFor(finishReason, stopSequence);
  const usage = completeUsage(readChatUsage(body['usage']), {
    prompt: minted.promptTokens,
    completion: () => estimateTokens(writtenText(message, pieces)),
  });
  return {
    body: {
      ...messageObject({
        id: minted.id,
        model: minted.model,
        content,
        ending: { stop_reason: stopReason, stop_sequence: stopReason === 'stop_sequence' ? stopSequence : null },
        usage,
      }),
      ...reportOfEdits(minted.recalled),
    },
    ending: { usage, finishReason },
  };
}

function thinkingBlocks(message: JsonObject, shown: ShownThinking): JsonObject[] {
  const thinking = reasoningOf(message);
  const signature = message[reasoningSignatureField];
  if (shown === 'none' || (thinking === '' && signature === undefined)) return [];
  if (shown === 'omitted') {
    return [{ type: 'thinking', thinking: '', signature: signature ?? carryingSignature(thinking) }];
  }
  return [{ type: 'thinking', thinking, signature: signature ?? syntheticSignature }];
}

/** A refusal is text of the model, so it becomes a text block. */
function textBlocks({ content, refusal }: JsonObject): JsonObject[] {
  return [content, refusal].flatMap((text) => (typeof text === 'string' && text !== '' ? [textBlock(text)] : []));
}

function toolCalls(message: JsonObject, minted: Minted): ToolCallPiece[] {
  const { tool_calls: calls } = message;
  if (!Array.isArray(calls)) return [];
  const order = new ToolCallOrder(toolCallPrefix(minted.id));
  return calls.map((call, index) => order.place(isJsonObject(call) ? { ...call, index } : call));
}

function toolUse({ id, name, arguments: text }: ToolCallPiece): JsonObject {
  return toolUseBlock(messagesToolId(id), name ?? '', toolInput(text));
}
