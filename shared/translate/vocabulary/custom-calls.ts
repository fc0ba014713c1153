import type { JsonObject } from '#shared/core/json.ts';
import { InputUnwrapper } from '../responses/input-unwrapper.ts';
import type { ToolCallPiece } from '../upstreams/chat/tool-call-assembler.ts';

interface OpenCall {
  unwrapper: InputUnwrapper;
  sentLength: number;
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

  /** @param recalled the result of `customToolNames` for the request; undefined if the request has no custom tools */
  static createFor(recalled: JsonObject | undefined): CustomCalls | undefined {
    const names = recalled?.['custom'];
    return names === undefined ? undefined : new CustomCalls(names as string[]);
  }

  /** Returns the custom call in a whole answer; undefined for a function call. */
  toWholeCall({ id, name = '', arguments: json }: Omit<ToolCallPiece, 'index' | 'isFirst'>): JsonObject | undefined {
    if (!this.#names.includes(name)) return undefined;
    const unwrapper = new InputUnwrapper();
    unwrapper.addPiece(json);
    return { id, type: 'custom', custom: { name, input: unwrapper.finish() } };
  }

  /** Returns the piece of a custom call; undefined for a piece of a function call. */
  toCallPiece({ index, id, isFirst, name, arguments: json }: ToolCallPiece): JsonObject | undefined {
    const known = this.#open.get(index);
    if (!known && (name === undefined || !this.#names.includes(name))) return undefined;
    const call = known ?? { unwrapper: new InputUnwrapper(), sentLength: 0 };
    this.#open.set(index, call);
    const input = call.unwrapper.addPiece(json);
    call.sentLength += input.length;
    return isFirst ? { index, id, type: 'custom', custom: { name, input } } : { index, custom: { input } };
  }

  /** Returns, for each custom call, a piece with the rest of its input. Call it once, when the answer is complete. */
  takeUnsentInputs(): JsonObject[] {
    return [...this.#open].flatMap(([index, { unwrapper, sentLength: taken }]) => {
      const input = unwrapper.finish().slice(taken);
      return input === '' ? [] : [{ index, custom: { input } }];
    });
  }
}
