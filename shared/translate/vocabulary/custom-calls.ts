import type { JsonObject } from '#shared/core/json.ts';
import { InputUnwrapper } from '../responses/input-unwrapper.ts';
import type { ToolCallPiece } from '../upstreams/chat/tool-call-order.ts';

interface OpenCall {
  unwrapper: InputUnwrapper;
  taken: number;
}

/**
 * Converts function calls back to the calls of custom tools that `customAsFunctions` replaced. Results are elements of the chat format's
 * `tool_calls`.
 */
export class CustomCalls {
  readonly #names: readonly string[];
  readonly #open = new Map<number, OpenCall>();

  private constructor(names: readonly string[]) {
    this.#names = names;
  }

  /** @param recalled the result of `recallCustom` for the request; undefined if the request has no custom tools */
  static of(recalled: JsonObject | undefined): CustomCalls | undefined {
    const names = recalled?.['custom'];
    return names === undefined ? undefined : new CustomCalls(names as string[]);
  }

  /** Returns the custom call in a whole answer; undefined for a function call. */
  whole({ id, name = '', arguments: json }: Omit<ToolCallPiece, 'index' | 'first'>): JsonObject | undefined {
    if (!this.#names.includes(name)) return undefined;
    const unwrapper = new InputUnwrapper();
    unwrapper.push(json);
    return { id, type: 'custom', custom: { name, input: unwrapper.finish() } };
  }

  /** Returns the piece of a custom call; undefined for a piece of a function call. */
  piece({ index, id, first, name, arguments: json }: ToolCallPiece): JsonObject | undefined {
    const known = this.#open.get(index);
    if (!known && (name === undefined || !this.#names.includes(name))) return undefined;
    const call = known ?? { unwrapper: new InputUnwrapper(), taken: 0 };
    this.#open.set(index, call);
    const input = call.unwrapper.push(json);
    call.taken += input.length;
    return first ? { index, id, type: 'custom', custom: { name, input } } : { index, custom: { input } };
  }

  /** Returns the text of each input that no piece has contained. To be called once the answer is complete. */
  rest(): JsonObject[] {
    return [...this.#open].flatMap(([index, { unwrapper, taken }]) => {
      const input = unwrapper.finish().slice(taken);
      return input === '' ? [] : [{ index, custom: { input } }];
    });
  }
}
