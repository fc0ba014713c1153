import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { readDelta } from '../upstreams/chat/chat-upstream.ts';
import { readFinishReason } from '../upstreams/chat/finish-reason.ts';
import { unifyReasoning, joinWrittenText } from '../upstreams/chat/reasoning.ts';
import {
  readCustomPart,
  ToolCallAssembler,
  type ToolCallPiece,
  computeCallIdPrefix,
} from '../upstreams/chat/tool-call-assembler.ts';
import { readChatEventError } from '../upstreams/chat/upstream-error.ts';
import { fillUsage, readChatUsage, writeChatUsage } from '#shared/formats/chat/usage.ts';
import { estimateTokensOfBytes } from '#shared/formats/estimate-tokens.ts';
import { parseUpstreamEvent, parseUpstreamJson } from '../upstreams/parse-upstream-json.ts';
import { CustomCalls } from '../vocabulary/custom-calls.ts';
import { writeChatEnding } from '#shared/formats/chat/stream-additions.ts';
import { writeDataEvent } from '#shared/formats/sse/encode.ts';
import type { Ending, AnswerContext, StreamTranslation } from '../translation.ts';
import { countRequestedChoices, toChoiceIndex, addChoiceUsage } from './choices.ts';
import { probeText, ChunkTemplate } from './chunk-template.ts';

interface Choice {
  readonly index: number;
  /** Undefined until the choice has a tool call. */
  callAssembler: ToolCallAssembler | undefined;
  /** Undefined unless the request has custom tools. */
  customCalls: CustomCalls | undefined;
  hasStarted: boolean;
  upstreamFinishReason: Json | undefined;
  /** Fields of this choice from chunks without output, which were not sent. The last chunk carries these fields. */
  heldFields: JsonObject;
}

/**
 * Relays a chat upstream's stream to chat clients. Chunks are sent on with the router's id, model and time. Only the first chunk of a
 * choice has the role. The last chunk carries all finish reasons and the usage, no matter when the engine sends them. The choices of the
 * last chunk have empty deltas.
 */
export class ChatToChatStream implements StreamTranslation {
  readonly #answerContext: AnswerContext;
  readonly #requestedChoices: number;
  readonly #choices = new Map<number, Choice>();
  readonly #chunkTemplate = new ChunkTemplate();
  #hasContent = false;
  #isDone = false;
  #usage: JsonObject | undefined;
  /** The sum of the usage in chunks without choices. */
  #choicesUsage: JsonObject | undefined;
  #outputBytes = 0;
  /** Fields of chunks without output, which were not sent. The last chunk carries these fields. */
  #heldChunk: JsonObject = {};

  constructor(answerContext: AnswerContext) {
    this.#answerContext = answerContext;
    this.#requestedChoices = countRequestedChoices(answerContext.recalled);
  }

  get hasContent(): boolean {
    return this.#hasContent;
  }

  get awaitsChoice(): boolean {
    const choices = [...this.#choices.values()];
    return (
      choices.length < this.#requestedChoices ||
      choices.some(({ upstreamFinishReason }) => upstreamFinishReason === undefined)
    );
  }

  translateEvent(data: string): string {
    if (data === '[DONE]') {
      this.#isDone = true;
      return '';
    }
    const text = this.#chunkTemplate.findText(data);
    if (text === undefined) return this.#translate(data);
    this.#outputBytes += Buffer.byteLength(text);
    return this.#chunkTemplate.write(text);
  }

  translateEnd(): { text: string; ending: Ending } {
    const choices = this.#choices.size > 0 ? [...this.#choices.values()] : [this.#getChoice(0)];
    choices.sort((a, b) => a.index - b.index);
    const hasEnded = choices.every(({ upstreamFinishReason }) => upstreamFinishReason !== undefined);
    if (!this.#isDone && !hasEnded) {
      throw new RouterError('upstream_failed', 'The upstream closed the stream before its answer was complete.');
    }
    const unstarted = choices.filter(({ hasStarted }) => !hasStarted);
    if (unstarted.some(({ upstreamFinishReason }) => upstreamFinishReason === undefined)) {
      throw new RouterError('upstream_failed', 'The upstream sent a stream without an answer.');
    }
    const roleChoices = unstarted.map((choice) =>
      this.#addRole(choice, { index: choice.index, delta: {}, finish_reason: null }),
    );
    const roleChunk = roleChoices.length > 0 ? this.#write({}, roleChoices) : '';
    const inputChunks = choices.map((choice) => this.#writeUnsentInputs(choice)).join('');
    const endedChoices = choices.map(({ index, callAssembler, upstreamFinishReason, heldFields }) => {
      return {
        ...heldFields,
        index,
        delta: {},
        finish_reason: readFinishReason(upstreamFinishReason, callAssembler !== undefined),
      };
    });
    const finishReason = endedChoices[0]?.finish_reason ?? 'stop';
    const usage = fillUsage(readChatUsage(this.#usage), {
      prompt: this.#answerContext.promptTokens,
      completion: () => estimateTokensOfBytes(this.#outputBytes),
    });
    const last = this.#stamp({ ...this.#heldChunk });
    last['choices'] = endedChoices;
    const text = writeChatEnding(last, writeChatUsage(usage, this.#usage));
    return { text: roleChunk + inputChunks + text, ending: { usage, finishReason } };
  }

  #writeUnsentInputs({ index, customCalls }: Choice): string {
    const calls = customCalls?.takeUnsentInputs() ?? [];
    if (calls.length === 0) return '';
    return this.#write({}, [{ index, delta: { tool_calls: calls }, finish_reason: null }]);
  }

  #translate(data: string): string {
    const chunk = parseUpstreamEvent(data);
    const failure = readChatEventError(chunk);
    if (failure) throw failure;
    const choices = (Array.isArray(chunk['choices']) ? chunk['choices'] : [])
      .slice(0, this.#requestedChoices)
      .filter(isJsonObject);
    const { usage } = chunk;
    if (isJsonObject(usage)) this.#takeUsage(usage, choices.length === 0);
    chunk['usage'] = undefined;

    const [first] = choices;
    const hadStarted = first !== undefined && this.#getChoiceOf(first).hasStarted;
    const sentChoices = choices.filter((choice) => this.#readChoice(choice));
    if (first === undefined || sentChoices.length === 0) {
      Object.assign(this.#heldChunk, chunk);
      return '';
    }
    // Learning translates a probe, which sets `#hasContent`. So the answer must have content already.
    const isLearnable =
      this.#hasContent &&
      hadStarted &&
      choices.length === 1 &&
      !isJsonObject(usage) &&
      this.#getChoiceOf(first).upstreamFinishReason === undefined;
    const delta = first['delta'] as JsonObject;
    if (isLearnable && !hasCalls(delta['tool_calls']))
      this.#chunkTemplate.considerChunk(
        data,
        () => joinWrittenText(delta, []),
        (probe) => this.#translateProbe(probe),
      );
    return this.#write(chunk, sentChoices);
  }

  /**
   * Converts a choice of the upstream's chunk, in place, to the choice that the client gets. Returns whether the choice is sent now. A
   * choice that has only ended is not sent now: its finish reason waits for the last chunk.
   */
  #readChoice(chunk: JsonObject): boolean {
    const choice = this.#getChoiceOf(chunk);
    const delta = readDelta(chunk) ?? {};
    chunk['message'] = undefined;
    const hasOutput = this.#repairDelta(delta, choice);
    this.#hasContent ||= hasOutput;
    if (typeof chunk['finish_reason'] === 'string') choice.upstreamFinishReason = chunk['finish_reason'];
    if (!hasOutput && choice.upstreamFinishReason !== undefined) {
      Object.assign(choice.heldFields, chunk);
      return false;
    }
    chunk['index'] = choice.index;
    chunk['delta'] = delta;
    chunk['finish_reason'] = null;
    this.#addRole(choice, chunk);
    return true;
  }

  /**
   * Translates a received chunk whose text was replaced by `probeText`. Returns undefined unless the model's text in the translated chunk
   * is exactly `probeText`.
   */
  #translateProbe(data: string): string | undefined {
    // The chunk may be invalid JSON now, because the replaced text may contain escapes, or may not be a text at all.
    if (!isJsonObject(parseUpstreamJson(data))) return undefined;
    const bytes = this.#outputBytes;
    const text = this.#translate(data);
    const writtenBytes = this.#outputBytes - bytes;
    this.#outputBytes = bytes;
    return writtenBytes === probeText.length ? text : undefined;
  }

  #getChoiceOf({ index }: JsonObject): Choice {
    return this.#getChoice(toChoiceIndex(index, this.#requestedChoices, 0));
  }

  #getChoice(index: number): Choice {
    let choice = this.#choices.get(index);
    if (!choice) {
      const customCalls = CustomCalls.createFor(this.#answerContext.recalled);
      choice = {
        index,
        callAssembler: undefined,
        customCalls,
        hasStarted: false,
        upstreamFinishReason: undefined,
        heldFields: {},
      };
      this.#choices.set(index, choice);
    }
    return choice;
  }

  #takeUsage(usage: JsonObject, isAlone: boolean): void {
    this.#usage = usage;
    if (!isAlone || this.#requestedChoices === 1) return;
    this.#choicesUsage = addChoiceUsage(this.#choicesUsage, usage);
    this.#usage = this.#choicesUsage;
  }

  /** Adds the role to the first chunk of a choice. */
  #addRole(choice: Choice, fields: JsonObject): JsonObject {
    if (choice.hasStarted) return fields;
    choice.hasStarted = true;
    fields['delta'] = { ...(fields['delta'] as JsonObject), role: 'assistant' };
    return fields;
  }

  #write(chunk: JsonObject, choices: JsonObject[]): string {
    chunk['choices'] = choices;
    return writeDataEvent(JSON.stringify(this.#stamp(chunk)));
  }

  #stamp(chunk: JsonObject): JsonObject {
    chunk['id'] = this.#answerContext.id;
    chunk['object'] = 'chat.completion.chunk';
    chunk['created'] = this.#answerContext.created;
    chunk['model'] = this.#answerContext.model;
    return chunk;
  }

  #assignCall(call: Json, choice: Choice): ToolCallPiece {
    choice.callAssembler ??= new ToolCallAssembler(computeCallIdPrefix(this.#answerContext.id, choice.index));
    return choice.callAssembler.assign(call);
  }

  /** Repairs a delta in place. Returns whether the delta has any output. */
  #repairDelta(delta: JsonObject, choice: Choice): boolean {
    delta['role'] = undefined;
    unifyReasoning(delta);
    let hasOutput = false;
    for (const field in delta) {
      const value = delta[field];
      hasOutput ||=
        value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);
    }
    const toolCalls = Array.isArray(delta['tool_calls']) ? delta['tool_calls'] : [];
    const pieces = toolCalls.map((call) => this.#assignCall(call, choice));
    if (pieces.length > 0) {
      delta['tool_calls'] = pieces.map((piece, position) =>
        toClientCall(piece, toolCalls[position] as JsonObject, choice.customCalls),
      );
    }
    this.#outputBytes += Buffer.byteLength(joinWrittenText(delta, pieces));
    return hasOutput;
  }
}

function hasCalls(calls: Json | undefined): boolean {
  return Array.isArray(calls) && calls.length > 0;
}

function toClientCall(piece: ToolCallPiece, call: JsonObject, customCalls: CustomCalls | undefined): Json {
  const { index, id, isFirst, name, arguments: text } = piece;
  const { index: _, id: __, type: ___, function: functionFields, custom: ____, ...rest } = call;
  const customPart = readCustomPart(call);
  const customCall = customPart ? undefined : customCalls?.toCallPiece(piece);
  if (customCall) return { ...customCall, ...rest };
  const toolFields: JsonObject = {
    ...(isJsonObject(functionFields) ? functionFields : {}),
    ...customPart,
    [customPart ? 'input' : 'arguments']: text,
  };
  delete toolFields['name'];
  const type = customPart ? 'custom' : 'function';
  const toolPart = { [type]: name === undefined ? toolFields : { name, ...toolFields } };
  return isFirst ? { index, id, type, ...rest, ...toolPart } : { index, ...rest, ...toolPart };
}
