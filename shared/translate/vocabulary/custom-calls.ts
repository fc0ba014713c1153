import type { JsonObject } from '#shared/core/json.ts';
import { InputUnwrapper } from '../responses/input-unwrapper.ts';
import type { ToolCallPiece } from '../upstreams/chat/tool-call-order.ts';

/** A call whose input is being unwrapped. */
interface OpenCall {
  unwrapper: InputUnwrapper;
  /** Characters of the input that were taken. */
  taken: number;
}

/**
 * Makes calls of custom tools of the calls of functions that stand for them, see `customAsFunctions`. Results are elements of the
 * chat format's `tool_calls`.
 */
export class CustomCalls {
  readonly #names: readonly string[];
  readonly #open = new Map<number, OpenCall>();

  private constructor(names: readonly string[]) {
    this.#names = names;
  }

  /** @param recalled what `recallCustom` kept of the request; undefined if it has no custom tools */
  static of(recalled: JsonObject | undefined): CustomCalls | undefined {
    const names = recalled?.['custom'];
    return names === undefined ? undefined : new CustomCalls(names as string[]);
  }

  /** The custom call, in an answer that came whole; undefined for the call of a function. */
  whole({ id, name = '', arguments: json }: Omit<ToolCallPiece, 'index' | 'first'>): JsonObject | undefined {
    if (!this.#names.includes(name)) return undefined;
    const unwrapper = new InputUnwrapper();
    unwrapper.push(json);
    return { id, type: 'custom', custom: { name, input: unwrapper.finish() } };
  }

  /** The piece of a custom call; undefined for one of the call of a function. */
  piece({ index, id, first, name, arguments: json }: ToolCallPiece): JsonObject | undefined {
    const known = this.#open.get(index);
    if (!known && (name === undefined || !this.#names.includes(name))) return undefined;
    const call = known ?? { unwrapper: new InputUnwrapper(), taken: 0 };
    this.#open.set(index, call);
    const input = call.unwrapper.push(json);
    call.taken += input.length;
    return first ? { index, id, type: 'custom', custom: { name, input } } : { index, custom: { input } };
  }

  /** What the inputs of all calls have beyond their pieces, once the answer is complete. */
  rest(): JsonObject[] {
    return [...this.#open].flatMap(([index, { unwrapper, taken }]) => {
      const input = unwrapper.finish().slice(taken);
      return input === '' ? [] : [{ index, custom: { input } }];
    });
  }
}
