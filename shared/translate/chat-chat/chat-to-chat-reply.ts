import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { readFinishReason } from '../upstreams/chat/finish-reason.ts';
import { unifyReasoning, joinWrittenText } from '../upstreams/chat/reasoning.ts';
import {
  readCustomPart,
  ToolCallAssembler,
  type ToolCallPiece,
  computeCallIdPrefix,
} from '../upstreams/chat/tool-call-assembler.ts';
import { CustomCalls } from '../vocabulary/custom-calls.ts';
import { upstreamErrorFromChatEvent } from '../upstreams/chat/upstream-error.ts';
import { fillUsage, readChatUsage, writeChatUsage } from '#shared/formats/chat/usage.ts';
import { estimateTokens } from '#shared/formats/estimate-tokens.ts';
import type { Ending, AnswerContext } from '../translation.ts';
import { countRequestedChoices, toChoiceIndex } from './requested-choices.ts';
import { completeChoiceUsage } from './usage-of-choices.ts';

/**
 * Converts a chat upstream's answer for a chat client. Id, model and time are set by the router. Arguments of tool calls are JSON text, and
 * the content beside them is null if it is empty. Thinking is in `reasoning_content`. Usage has the three counts. All other fields stay
 * unchanged.
 * @throws RouterError `upstream_failed` if the body is not an answer
 */
export function chatToChatReply(body: JsonObject, answerContext: AnswerContext): { body: JsonObject; ending: Ending } {
  const failure = upstreamErrorFromChatEvent(body);
  if (failure) throw failure;
  const choiceCount = countRequestedChoices(answerContext.recalled);
  const upstreamChoices = Array.isArray(body['choices']) ? body['choices'].slice(0, choiceCount) : [];
  const choices = upstreamChoices.map((choice, position) =>
    repairChoice(choice, answerContext, choiceIndexOf(choice, choiceCount, position)),
  );
  const [first] = choices;
  if (!first) throw missingMessageError();
  const texts = choices.map(({ written }) => written);
  const usage = fillUsage(completeChoiceUsage(readChatUsage(body['usage']), body, texts), {
    prompt: answerContext.promptTokens,
    completion: () => estimateTokens(texts.map((written) => written()).join('')),
  });
  return {
    body: {
      ...body,
      id: answerContext.id,
      object: 'chat.completion',
      created: answerContext.created,
      model: answerContext.model,
      choices: choices.map(({ choice }) => choice),
      usage: writeChatUsage(usage, body['usage']),
    },
    ending: { usage, finishReason: first.finishReason },
  };
}

function choiceIndexOf(choice: Json, choiceCount: number, position: number): number {
  return toChoiceIndex(isJsonObject(choice) ? choice['index'] : undefined, choiceCount, position);
}

/** @returns the choice, and a function that returns all text of the model in it */
function repairChoice(choice: Json, answerContext: AnswerContext, index: number) {
  if (!isJsonObject(choice) || !isJsonObject(choice['message'])) throw missingMessageError();
  const prefix = computeCallIdPrefix(answerContext.id, index);
  const { message, written } = repairMessage(choice['message'], prefix, CustomCalls.createFor(answerContext.recalled));
  const finishReason = readFinishReason(choice['finish_reason'], Array.isArray(message['tool_calls']));
  return { choice: { logprobs: null, ...choice, index, message, finish_reason: finishReason }, finishReason, written };
}

function missingMessageError(): RouterError {
  return new RouterError('upstream_failed', 'The upstream sent an answer without a message.');
}

/** @returns the message, and a function that returns all text of the model */
function repairMessage(
  input: JsonObject,
  prefix: string,
  custom: CustomCalls | undefined,
): { message: JsonObject; written: () => string } {
  const message: JsonObject = { refusal: null, ...input, role: 'assistant' };
  unifyReasoning(message);
  const { calls, pieces } = repairToolCalls(input['tool_calls'], prefix, custom);
  if (calls.length === 0) {
    delete message['tool_calls'];
    message['content'] ??= '';
  } else {
    message['tool_calls'] = calls;
    message['content'] ||= null;
  }
  return { message, written: () => joinWrittenText(message, pieces) };
}

function repairToolCalls(
  toolCalls: Json | undefined,
  prefix: string,
  calls: CustomCalls | undefined,
): { calls: Json[]; pieces: ToolCallPiece[] } {
  if (!Array.isArray(toolCalls) || toolCalls.length === 0) return { calls: [], pieces: [] };
  const callAssembler = new ToolCallAssembler(prefix);
  // In an answer that is not streamed, every element is a separate call, whatever its index.
  const pieces = toolCalls.map((call, index) => callAssembler.assign(isJsonObject(call) ? { ...call, index } : call));
  const repaired = pieces.map((piece, position) => {
    const { id, name, arguments: text } = piece;
    const call = toolCalls[position];
    const { index: _, ...rest } = call as JsonObject;
    const custom = readCustomPart(rest);
    if (custom) return { ...rest, id, type: 'custom', custom: { ...custom, name: name ?? '', input: text } };
    const { function: fn, ...further } = rest;
    const unwrapped = calls?.toWholeCall(piece);
    if (unwrapped) return { ...further, ...unwrapped };
    return {
      ...rest,
      id,
      type: 'function',
      function: { ...(isJsonObject(fn) && fn), name: name ?? '', arguments: text || '{}' },
    };
  });
  return { calls: repaired, pieces };
}
