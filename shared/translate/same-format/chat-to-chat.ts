import { chatFormat } from '#shared/formats/chat/chat-format.ts';
import type { Translation, ModelTraits, Ending, AnswerContext } from '../translation.ts';
import { chatUpstream } from '../upstreams/chat/chat-upstream.ts';
import { countRequestedChoices, readChoiceCount, toChoiceIndex, completeChoiceUsage } from './choices.ts';
import { ChatToChatStream } from './chat-to-chat-stream.ts';
import { isJsonObject, type JsonObject, type Json } from '#shared/core/json.ts';
import type { ChatRequest } from '#shared/formats/chat/request.ts';
import { createUnsupportedChatError } from '../unsupported.ts';
import { convertCustomToFunctions, readCustomToolNames } from '../vocabulary/custom-tools.ts';
import { RouterError } from '#shared/core/errors.ts';
import { readFinishReason } from '../upstreams/chat/finish-reason.ts';
import { unifyReasoning, joinWrittenText } from '../upstreams/chat/reasoning.ts';
import {
  readCustomPart,
  ToolCallAssembler,
  type ToolCallPiece,
  computeCallIdPrefix,
} from '../upstreams/chat/tool-call-assembler.ts';
import { CustomCalls } from '../vocabulary/custom-calls.ts';
import { readChatEventError } from '../upstreams/chat/upstream-error.ts';
import { fillUsage, readChatUsage, writeChatUsage } from '#shared/formats/chat/usage.ts';
import { estimateTokens } from '#shared/formats/estimate-tokens.ts';

/**
 * Translates between chat clients and chat upstreams. Changes only the fields that identify the answer, and custom tools for an upstream
 * without them.
 */
export const chatToChat: Translation = {
  client: chatFormat,
  upstream: chatUpstream,
  passesHeaders: true,
  passesLists: true,
  recallFields: (body) => ({ ...readChoiceCount(body), ...readCustomToolNames(body) }),
  translateRequest: chatToChatRequest,
  translateReply: chatToChatReply,
  createStream: (answerContext) => new ChatToChatStream(answerContext),
};

/**
 * Returns the upstream's request for a chat client's request. Changes only the model's name, and custom tools for an upstream that has only
 * functions. A streamed request always asks for the usage.
 * @throws RouterError `unsupported_parameter` for several choices on an upstream that returns only one
 */
export function chatToChatRequest(body: JsonObject, traits: ModelTraits): JsonObject {
  if (traits.makesOneChoice === true && countRequestedChoices(readChoiceCount(body)) > 1)
    throw createUnsupportedChatError('n', 'more than one choice');
  const adapted = traits.takesCustomTools === true ? body : convertCustomToFunctions(body as ChatRequest);
  const request: JsonObject = { ...adapted, model: traits.model };
  if (body['stream'] === true) {
    const options = isJsonObject(body['stream_options']) ? body['stream_options'] : {};
    request['stream_options'] = { ...options, include_usage: true };
  }
  return request;
}

/**
 * Converts a chat upstream's answer for a chat client. The router sets the id, the model and the time. Arguments of tool calls become JSON
 * text, and empty content beside tool calls becomes null. Thinking becomes `reasoning_content`. The usage gets the counts of input, output
 * and total tokens. All other fields stay unchanged.
 * @throws RouterError `upstream_failed` if the body is not an answer
 */
function chatToChatReply(body: JsonObject, answerContext: AnswerContext): { body: JsonObject; ending: Ending } {
  const failure = readChatEventError(body);
  if (failure) throw failure;
  const choiceCount = countRequestedChoices(answerContext.recalled);
  const upstreamChoices = Array.isArray(body['choices']) ? body['choices'].slice(0, choiceCount) : [];
  const choices = upstreamChoices.map((choice, position) =>
    repairChoice(choice, answerContext, readChoiceIndex(choice, choiceCount, position)),
  );
  const [first] = choices;
  if (!first) throw createMissingMessageError();
  const textReaders = choices.map(({ readText }) => readText);
  const usage = fillUsage(completeChoiceUsage(readChatUsage(body['usage']), body, textReaders), {
    prompt: answerContext.promptTokens,
    completion: () => estimateTokens(textReaders.map((readText) => readText()).join('')),
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

function readChoiceIndex(choice: Json, choiceCount: number, position: number): number {
  return toChoiceIndex(isJsonObject(choice) ? choice['index'] : undefined, choiceCount, position);
}

/** @returns the choice, and a function that returns all text of the model in it */
function repairChoice(choice: Json, answerContext: AnswerContext, index: number) {
  if (!isJsonObject(choice) || !isJsonObject(choice['message'])) throw createMissingMessageError();
  const prefix = computeCallIdPrefix(answerContext.id, index);
  const { message, readText } = repairMessage(choice['message'], prefix, CustomCalls.createFor(answerContext.recalled));
  const finishReason = readFinishReason(choice['finish_reason'], Array.isArray(message['tool_calls']));
  return { choice: { logprobs: null, ...choice, index, message, finish_reason: finishReason }, finishReason, readText };
}

function createMissingMessageError(): RouterError {
  return new RouterError('upstream_failed', 'The upstream sent an answer without a message.');
}

/** @returns the message, and a function that returns all text of the model */
function repairMessage(
  upstreamMessage: JsonObject,
  prefix: string,
  customCalls: CustomCalls | undefined,
): { message: JsonObject; readText: () => string } {
  const message: JsonObject = { refusal: null, ...upstreamMessage, role: 'assistant' };
  unifyReasoning(message);
  const { calls, pieces } = repairToolCalls(upstreamMessage['tool_calls'], prefix, customCalls);
  if (calls.length === 0) {
    delete message['tool_calls'];
    message['content'] ??= '';
  } else {
    message['tool_calls'] = calls;
    message['content'] ||= null;
  }
  return { message, readText: () => joinWrittenText(message, pieces) };
}

function repairToolCalls(
  toolCalls: Json | undefined,
  prefix: string,
  customCalls: CustomCalls | undefined,
): { calls: Json[]; pieces: ToolCallPiece[] } {
  if (!Array.isArray(toolCalls) || toolCalls.length === 0) return { calls: [], pieces: [] };
  const callAssembler = new ToolCallAssembler(prefix);
  // In an answer that is not streamed, every element is a separate call, whatever its index.
  const pieces = toolCalls.map((call, index) => callAssembler.assign(isJsonObject(call) ? { ...call, index } : call));
  const repaired = pieces.map((piece, position) => {
    const { id, name, arguments: text } = piece;
    const call = toolCalls[position];
    const { index: _, ...rest } = call as JsonObject;
    const customPart = readCustomPart(rest);
    if (customPart) return { ...rest, id, type: 'custom', custom: { ...customPart, name: name ?? '', input: text } };
    const { function: fn, ...further } = rest;
    const customCall = customCalls?.toWholeCall(piece);
    if (customCall) return { ...further, ...customCall };
    return {
      ...rest,
      id,
      type: 'function',
      function: { ...(isJsonObject(fn) && fn), name: name ?? '', arguments: text || '{}' },
    };
  });
  return { calls: repaired, pieces };
}
