import { RouterError } from '#shared/core/errors.ts';
import { writeExact } from '#shared/core/exact-numbers.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { parseUpstreamJson } from '../parse-upstream-json.ts';

/** The official SDK accepts indexes from 0 to 127. */
const maxCalls = 128;
/** Maximum characters of arguments that are kept to distinguish calls without ids. */
const maxArgumentsLength = 4 * 1024 * 1024;

/** A piece of one tool call, with the position of the call in the answer. */
export interface ToolCallPiece {
  /** Position of the call in the answer, from 0 without gaps. */
  index: number;
  id: string;
  isFirst: boolean;
  /** The function's name, set in only one piece of the call. */
  name: string | undefined;
  /** Further text of the arguments, or of a custom tool's input. */
  arguments: string;
}

interface Call {
  index: number;
  id: string;
  upstreamId: string | undefined;
  isNamed: boolean;
  /** The arguments so far. Kept only for a call without an id of the engine. */
  arguments: string;
}

/**
 * Assigns each piece of a streamed answer to its tool call. Engines differ in the index. Some count from 1 or leave gaps, and some omit it.
 * Ollama sends 0 for every call, with different ids. Some continue a call at another index than its first. Engines also differ in the id.
 * Some send none, some repeat the id and the name in every piece, and some send another id with each piece.
 */
export class ToolCallAssembler {
  readonly #generatedIdPrefix: string;
  readonly #calls: Call[] = [];
  readonly #byId = new Map<string, Call>();
  readonly #byIndex = new Map<number, Call>();
  #last: Call | undefined;

  /** @param generatedIdPrefix prefix of the ids for calls to which the engine gives no id */
  constructor(generatedIdPrefix: string) {
    this.#generatedIdPrefix = generatedIdPrefix;
  }

  /**
   * Assigns one element of the `tool_calls` of a delta or message to its call.
   * @throws RouterError `upstream_failed` for a call that is malformed or exceeds a limit
   */
  assign(piece: Json): ToolCallPiece {
    if (!isJsonObject(piece)) throw createUnreadableCallError();
    const custom = readCustomPart(piece);
    const fn = isJsonObject(piece['function']) ? piece['function'] : {};
    const id = toNonEmptyText(piece['id']);
    const name = toNonEmptyText((custom ?? fn)['name']);
    const index = Number.isInteger(piece['index']) ? Number(piece['index']) : undefined;
    const text = toArgumentsText(custom ? custom['input'] : fn['arguments']);

    const knownCall = this.#findCall(index, id, { name, text });
    const call = knownCall ?? this.#createCall(id);
    if (index !== undefined) this.#byIndex.set(index, call);
    this.#last = call;
    const newName = call.isNamed ? undefined : name;
    if (newName !== undefined) call.isNamed = true;
    if (call.upstreamId === undefined) {
      call.arguments += text;
      if (call.arguments.length > maxArgumentsLength) throw createUnreadableCallError();
    }
    return { index: call.index, id: call.id, isFirst: knownCall === undefined, name: newName, arguments: text };
  }

  /** Returns the call that a piece continues; undefined if the piece begins a call. */
  #findCall(
    index: number | undefined,
    id: string | undefined,
    { name, text }: { name: string | undefined; text: string },
  ): Call | undefined {
    const callAtIndex = index === undefined ? this.#last : this.#byIndex.get(index);
    const callWithId = id === undefined ? undefined : this.#byId.get(id);
    if (name === undefined) {
      const found = callWithId ?? callAtIndex;
      // A piece with a new id and without text may begin a call; the name of the call follows. Any other piece continues the last call.
      return found ?? (id !== undefined && text === '' ? undefined : this.#last);
    }
    if (id !== undefined) {
      if (index === undefined) return callWithId;
      if (callAtIndex === undefined || callAtIndex.upstreamId === undefined || callAtIndex.upstreamId === id)
        return callAtIndex;
      return callWithId;
    }
    // Without ids, a name after complete arguments begins the next call. Before that, the engine repeats the name.
    const isNextPossible = callAtIndex?.isNamed === true && callAtIndex.upstreamId === undefined;
    return isNextPossible && isJson(callAtIndex.arguments) ? undefined : callAtIndex;
  }

  #createCall(id: string | undefined): Call {
    const index = this.#calls.length;
    if (index >= maxCalls) throw createUnreadableCallError();
    // Clients match results to calls by id, so an id that the engine uses twice is replaced.
    const isNew = id !== undefined && !this.#byId.has(id);
    const call: Call = {
      index,
      id: isNew ? id : `${this.#generatedIdPrefix}${index}`,
      upstreamId: id,
      isNamed: false,
      arguments: '',
    };
    this.#calls.push(call);
    if (isNew) this.#byId.set(id, call);
    return call;
  }
}

/** Returns the field `custom` of a call of a custom tool, which has no `function`; undefined for other calls. */
export function readCustomPart({ custom }: JsonObject): JsonObject | undefined {
  return isJsonObject(custom) ? custom : undefined;
}

/** Returns arguments as JSON text. Some engines send an object, or nothing for a call without arguments. */
export function toArgumentsText(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : writeExact(value);
}

function toNonEmptyText(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function isJson(text: string): boolean {
  return parseUpstreamJson(text) !== undefined;
}

function createUnreadableCallError(): RouterError {
  return new RouterError('upstream_failed', 'The upstream sent a tool call that cannot be read.');
}

/** Returns the prefix of generated ids of tool calls. The prefix differs between answers, and between the choices of one answer. */
export function computeCallIdPrefix(answerId: string, choice = 0): string {
  const answer = answerId.replace(/^(chatcmpl-|msg_|resp_)/, '').replaceAll(/[^\w-]/g, '');
  return choice === 0 ? `call_${answer}_` : `call_${answer}_${choice}_`;
}
