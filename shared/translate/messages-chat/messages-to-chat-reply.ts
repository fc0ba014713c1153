import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { readFinishReason } from '../upstreams/chat/finish-reason.ts';
import { reasoningOf, reasoningSignatureField, unifyReasoning, writtenText } from '../upstreams/chat/reasoning.ts';
import { ToolCallOrder, type ToolCallPiece, toolCallPrefix } from '../upstreams/chat/tool-call-order.ts';
import { ReasoningCollector, type ReturnedReasoning } from '../upstreams/chat/returned-reasoning.ts';
import { upstreamErrorFromChatEvent } from '../upstreams/chat/upstream-error.ts';
import { completeUsage, readChatUsage } from '#shared/formats/chat/usage.ts';
import { estimateTokens } from '#shared/formats/estimate-tokens.ts';
import { messageObject, textBlock, toolUseBlock } from '#shared/formats/messages/message-object.ts';
import type { Ending, Minted } from '../translation.ts';
import { reportOfEdits } from '../context/edit-context.ts';
import { writeReturnedSignature } from '../vocabulary/returned-signature.ts';
import { carryingSignature, type ShownThinking, shownThinking } from '../vocabulary/shown-thinking.ts';
import { matchedStop, stopReasonFor } from '../vocabulary/stop-reason.ts';
import { syntheticSignature } from '../vocabulary/thinking.ts';
import { messagesToolId, toolInput } from '../vocabulary/tool-call.ts';
import { redactedBlock } from './messages-block-writer.ts';

/**
 * Translates a chat upstream's answer for a messages client: thinking, then text, then tool calls.
 * @throws RouterError `upstream_failed` if the body is not an answer
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
  const shown = shownThinking(minted.recalled);
  const returned = returnedBy(message, pieces, minted);
  const thinking = thinkingBlocks(message, shown, returned, minted);
  const isCarried = returned === undefined || thinking.length > 0 || (shown === 'none' && calls.length === 0);
  const redacted = isCarried ? [] : [redactedBlock(returned, minted)];
  const content = [...thinking, ...textBlocks(message), ...redacted, ...calls];
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

function returnedBy(
  message: JsonObject,
  pieces: readonly ToolCallPiece[],
  minted: Minted,
): ReturnedReasoning | undefined {
  if (minted.origin === undefined) return undefined;
  const { tool_calls: calls } = message;
  const collector = new ReasoningCollector();
  collector.add(message);
  for (const [at, { id }] of pieces.entries()) {
    collector.addCall(messagesToolId(id), Array.isArray(calls) ? (calls[at] ?? null) : null);
  }
  return collector.take();
}

function thinkingBlocks(
  message: JsonObject,
  shown: ShownThinking,
  returned: ReturnedReasoning | undefined,
  minted: Minted,
): JsonObject[] {
  const thinking = reasoningOf(message);
  const omitted = shown === 'omitted' ? thinking : undefined;
  const signature = returned ? writeReturnedSignature(returned, minted, omitted) : message[reasoningSignatureField];
  if (shown === 'none' || (thinking === '' && (returned !== undefined || signature === undefined))) return [];
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
