import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { readFinishReason } from '../upstreams/chat/finish-reason.ts';
import {
  readReasoningText,
  reasoningSignatureField,
  unifyReasoning,
  joinWrittenText,
} from '../upstreams/chat/reasoning.ts';
import { ToolCallAssembler, type ToolCallPiece, computeCallIdPrefix } from '../upstreams/chat/tool-call-assembler.ts';
import { ReasoningCollector, type ReturnedReasoning } from '../upstreams/chat/returned-reasoning.ts';
import { readChatEventError } from '../upstreams/chat/upstream-error.ts';
import { fillUsage, readChatUsage } from '#shared/formats/chat/usage.ts';
import { estimateTokens } from '#shared/formats/estimate-tokens.ts';
import { createMessageObject, createTextBlock, createToolUseBlock } from '#shared/formats/messages/message-object.ts';
import type { Ending, AnswerContext } from '../translation.ts';
import { createEditReport } from '../context/edit-context.ts';
import { writeReturnedSignature } from '../vocabulary/reasoning-signature.ts';
import { writeTextSignature, type ShownThinking, readRecalledThinking } from '../vocabulary/shown-thinking.ts';
import { readStopSequence, toStopReason } from '../vocabulary/stop-reason.ts';
import { syntheticSignature } from '../vocabulary/thinking.ts';
import { toMessagesToolId, parseToolInput } from '../vocabulary/tool-call.ts';
import { createRedactedBlock } from '../messages/messages-block-writer.ts';

/**
 * Translates a chat upstream's answer for a `messages` client: thinking, then text, then tool calls.
 * @throws RouterError `upstream_failed` if the body is not an answer
 */
export function messagesToChatReply(
  body: JsonObject,
  answerContext: AnswerContext,
): { body: JsonObject; ending: Ending } {
  const failure = readChatEventError(body);
  if (failure) throw failure;
  const choice = Array.isArray(body['choices']) ? body['choices'][0] : undefined;
  if (!isJsonObject(choice) || !isJsonObject(choice['message'])) {
    throw new RouterError('upstream_failed', 'The upstream sent an answer without a message.');
  }
  const { message } = choice;
  unifyReasoning(message);
  const pieces = assignToolCalls(message, answerContext);
  const calls = pieces.map(toToolUse);
  const shownThinking = readRecalledThinking(answerContext.recalled);
  const returned = collectReturned(message, pieces, answerContext);
  const thinking = toThinkingBlocks(message, shownThinking, returned, answerContext);
  const isCarried = returned === undefined || thinking.length > 0 || (shownThinking === 'none' && calls.length === 0);
  const redacted = isCarried ? [] : [createRedactedBlock(returned, answerContext)];
  const content = [...thinking, ...toTextBlocks(message), ...redacted, ...calls];
  const finishReason = readFinishReason(choice['finish_reason'], calls.length > 0);
  const stopSequence = readStopSequence(choice);
  const stopReason = toStopReason(finishReason, stopSequence);
  const usage = fillUsage(readChatUsage(body['usage']), {
    prompt: answerContext.promptTokens,
    completion: () => estimateTokens(joinWrittenText(message, pieces)),
  });
  return {
    body: {
      ...createMessageObject({
        id: answerContext.id,
        model: answerContext.model,
        content,
        ending: { stop_reason: stopReason, stop_sequence: stopReason === 'stop_sequence' ? stopSequence : null },
        usage,
      }),
      ...createEditReport(answerContext.recalled),
    },
    ending: { usage, finishReason },
  };
}

function collectReturned(
  message: JsonObject,
  pieces: readonly ToolCallPiece[],
  answerContext: AnswerContext,
): ReturnedReasoning | undefined {
  if (answerContext.origin === undefined) return undefined;
  const { tool_calls: calls } = message;
  const collector = new ReasoningCollector();
  collector.add(message);
  for (const [position, { id }] of pieces.entries()) {
    collector.addCall(toMessagesToolId(id), Array.isArray(calls) ? (calls[position] ?? null) : null);
  }
  return collector.take();
}

function toThinkingBlocks(
  message: JsonObject,
  shownThinking: ShownThinking,
  returned: ReturnedReasoning | undefined,
  answerContext: AnswerContext,
): JsonObject[] {
  const thinking = readReasoningText(message);
  const omitted = shownThinking === 'omitted' ? thinking : undefined;
  const signature = returned
    ? writeReturnedSignature(returned, answerContext, omitted)
    : message[reasoningSignatureField];
  if (shownThinking === 'none' || (thinking === '' && (returned !== undefined || signature === undefined))) return [];
  if (shownThinking === 'omitted') {
    return [{ type: 'thinking', thinking: '', signature: signature ?? writeTextSignature(thinking) }];
  }
  return [{ type: 'thinking', thinking, signature: signature ?? syntheticSignature }];
}

/** Returns the text blocks. A refusal becomes a text block, because the model wrote it as text. */
function toTextBlocks({ content, refusal }: JsonObject): JsonObject[] {
  return [content, refusal].flatMap((text) => (typeof text === 'string' && text !== '' ? [createTextBlock(text)] : []));
}

function assignToolCalls(message: JsonObject, answerContext: AnswerContext): ToolCallPiece[] {
  const { tool_calls: calls } = message;
  if (!Array.isArray(calls)) return [];
  const callAssembler = new ToolCallAssembler(computeCallIdPrefix(answerContext.id));
  return calls.map((call, index) => callAssembler.assign(isJsonObject(call) ? { ...call, index } : call));
}

function toToolUse({ id, name, arguments: text }: ToolCallPiece): JsonObject {
  return createToolUseBlock(toMessagesToolId(id), name ?? '', parseToolInput(text));
}
