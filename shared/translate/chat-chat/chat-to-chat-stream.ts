import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { readDelta } from '../upstreams/chat/read-delta.ts';
import { readFinishReason } from '../upstreams/chat/finish-reason.ts';
import { unifyReasoning, joinWrittenText } from '../upstreams/chat/reasoning.ts';
import {
  readCustomPart,
  ToolCallAssembler,
  type ToolCallPiece,
  computeCallIdPrefix,
} from '../upstreams/chat/tool-call-assembler.ts';
import { upstreamErrorFromChatEvent } from '../upstreams/chat/upstream-error.ts';
import { fillUsage, readChatUsage, writeChatUsage } from '#shared/formats/chat/usage.ts';
import { estimateTokensOfBytes } from '#shared/formats/estimate-tokens.ts';
import { parseUpstreamEvent, parseUpstreamJson } from '../upstreams/parse-upstream-json.ts';
import { CustomCalls } from '../vocabulary/custom-calls.ts';
import { writeChatEnding } from '#shared/formats/chat/stream-additions.ts';
import { writeDataEvent } from '#shared/formats/sse/encode.ts';
import type { Ending, AnswerContext, StreamTranslation } from '../translation.ts';
import { countRequestedChoices, toChoiceIndex } from './requested-choices.ts';
import { probeText, ChunkTemplate } from './chunk-template.ts';
import { addChoiceUsage } from './usage-of-choices.ts';

interface Choice {
  readonly index: number;
  /** Undefined until the choice has a tool call. */
  callAssembler: ToolCallAssembler | undefined;
  /** Undefined unless the request has custom tools. */
  custom: CustomCalls | undefined;
  hasStarted: boolean;
  upstreamFinishReason: Json | undefined;
  /** Fields of this choice in chunks that were not sent, because they have no output. The last chunk carries these fields. */
  heldFields: JsonObject;
}

/**
 * Relays a chat upstream's stream to chat clients. Chunks are sent on with the router's id, model and time. Only the first chunk of a
 * choice has the role. Finish reasons and usage are part of the last chunk, in which all choices have an empty delta, no matter when the
 * engine sends them.
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
  /** Fields of chunks that were not sent, because they have no output. The last chunk carries these fields. */
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

  event(data: string): string {
    if (data === '[DONE]') {
      this.#isDone = true;
      return '';
    }
    const text = this.#chunkTemplate.findText(data);
    if (text === undefined) return this.#translate(data);
    this.#outputBytes += Buffer.byteLength(text);
    return this.#chunkTemplate.write(text);
  }

  end(): { text: string; ending: Ending } {
    const choices = this.#choices.size > 0 ? [...this.#choices.values()] : [this.#choice(0)];
    choices.sort((one, other) => one.index - other.index);
    const hasEnded = choices.every(({ upstreamFinishReason }) => upstreamFinishReason !== undefined);
    if (!this.#isDone && !hasEnded) {
      throw new RouterError('upstream_failed', 'The upstream closed the stream before its answer was complete.');
    }
    const silent = choices.filter(({ hasStarted }) => !hasStarted);
    if (silent.some(({ upstreamFinishReason }) => upstreamFinishReason === undefined)) {
      throw new RouterError('upstream_failed', 'The upstream sent a stream without an answer.');
    }
    const opened = silent.map((choice) =>
      this.#addRole(choice, { index: choice.index, delta: {}, finish_reason: null }),
    );
    const roleChunk = opened.length > 0 ? this.#write({}, opened) : '';
    const inputs = choices.map((choice) => this.#writeUnsentInputs(choice)).join('');
    const ended = choices.map(({ index, callAssembler, upstreamFinishReason, heldFields }) => {
      return {
        ...heldFields,
        index,
        delta: {},
        finish_reason: readFinishReason(upstreamFinishReason, callAssembler !== undefined),
      };
    });
    const finishReason = ended[0]?.finish_reason ?? 'stop';
    const usage = fillUsage(readChatUsage(this.#usage), {
      prompt: this.#answerContext.promptTokens,
      completion: () => estimateTokensOfBytes(this.#outputBytes),
    });
    const last = this.#stamp({ ...this.#heldChunk });
    last['choices'] = ended;
    const text = writeChatEnding(last, writeChatUsage(usage, this.#usage), this.#answerContext.usageChunk);
    return { text: roleChunk + inputs + text, ending: { usage, finishReason } };
  }

  #writeUnsentInputs({ index, custom }: Choice): string {
    const calls = custom?.takeUnsentInputs() ?? [];
    if (calls.length === 0) return '';
    return this.#write({}, [{ index, delta: { tool_calls: calls }, finish_reason: null }]);
  }

  #translate(data: string): string {
    const chunk = parseUpstreamEvent(data);
    const failure = upstreamErrorFromChatEvent(chunk);
    if (failure) throw failure;
    const choices = (Array.isArray(chunk['choices']) ? chunk['choices'] : [])
      .slice(0, this.#requestedChoices)
      .filter(isJsonObject);
    const { usage } = chunk;
    if (isJsonObject(usage)) this.#takeUsage(usage, choices.length === 0);
    chunk['usage'] = undefined;

    const [first] = choices;
    const wasStarted = first !== undefined && this.#choiceOf(first).hasStarted;
    const shown = choices.filter((choice) => this.#readChoice(choice));
    if (first === undefined || shown.length === 0) {
      Object.assign(this.#heldChunk, chunk);
      return '';
    }
    // To learn a chunk sets `#hasContent`, so the answer must have some content already.
    const mayRepeat =
      this.#hasContent &&
      wasStarted &&
      choices.length === 1 &&
      !isJsonObject(usage) &&
      this.#choiceOf(first).upstreamFinishReason === undefined;
    const delta = first['delta'] as JsonObject;
    if (mayRepeat && !hasCalls(delta['tool_calls']))
      this.#chunkTemplate.considerChunk(
        data,
        () => joinWrittenText(delta, []),
        (probe) => this.#translateProbe(probe),
      );
    return this.#write(chunk, shown);
  }

  /**
   * Reads a choice of the upstream's chunk and changes it in place to what the client gets. Returns whether the choice is sent now. The end
   * of a choice is not, because it waits for the last chunk.
   */
  #readChoice(chunk: JsonObject): boolean {
    const choice = this.#choiceOf(chunk);
    const delta = readDelta(chunk) ?? {};
    chunk['message'] = undefined;
    const shows = this.#repairDelta(delta, choice);
    this.#hasContent ||= shows;
    if (typeof chunk['finish_reason'] === 'string') choice.upstreamFinishReason = chunk['finish_reason'];
    if (!shows && choice.upstreamFinishReason !== undefined) {
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
   * Translates a chunk in which `probeText` replaces the text of a received chunk. Returns undefined if the model's text in the chunk is
   * not `probeText` alone.
   */
  #translateProbe(data: string): string | undefined {
    // The replaced text may contain escapes, or may not be a text at all.
    if (!isJsonObject(parseUpstreamJson(data))) return undefined;
    const bytes = this.#outputBytes;
    const text = this.#translate(data);
    const written = this.#outputBytes - bytes;
    this.#outputBytes = bytes;
    return written === probeText.length ? text : undefined;
  }

  #choiceOf({ index }: JsonObject): Choice {
    return this.#choice(toChoiceIndex(index, this.#requestedChoices, 0));
  }

  #choice(index: number): Choice {
    let choice = this.#choices.get(index);
    if (!choice) {
      const custom = CustomCalls.createFor(this.#answerContext.recalled);
      choice = {
        index,
        callAssembler: undefined,
        custom,
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
  #addRole(choice: Choice, written: JsonObject): JsonObject {
    if (choice.hasStarted) return written;
    choice.hasStarted = true;
    written['delta'] = { ...(written['delta'] as JsonObject), role: 'assistant' };
    return written;
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
    let shows = false;
    for (const field in delta) {
      const value = delta[field];
      shows ||= value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);
    }
    const toolCalls = Array.isArray(delta['tool_calls']) ? delta['tool_calls'] : [];
    const pieces = toolCalls.map((call) => this.#assignCall(call, choice));
    if (pieces.length > 0) {
      delta['tool_calls'] = pieces.map((piece, at) => toClientCall(piece, toolCalls[at] as JsonObject, choice.custom));
    }
    this.#outputBytes += Buffer.byteLength(joinWrittenText(delta, pieces));
    return shows;
  }
}

function hasCalls(calls: Json | undefined): boolean {
  return Array.isArray(calls) && calls.length > 0;
}

function toClientCall(piece: ToolCallPiece, call: JsonObject, calls: CustomCalls | undefined): Json {
  const { index, id, isFirst, name, arguments: text } = piece;
  const { index: _, id: __, type: ___, function: functionFields, custom: ____, ...rest } = call;
  const custom = readCustomPart(call);
  const unwrapped = custom ? undefined : calls?.toCallPiece(piece);
  if (unwrapped) return { ...unwrapped, ...rest };
  const called: JsonObject = {
    ...(isJsonObject(functionFields) ? functionFields : {}),
    ...custom,
    [custom ? 'input' : 'arguments']: text,
  };
  delete called['name'];
  const type = custom ? 'custom' : 'function';
  const named = { [type]: name === undefined ? called : { name, ...called } };
  return isFirst ? { index, id, type, ...rest, ...named } : { index, ...rest, ...named };
}
