import type { JsonObject } from '#shared/core/json.ts';
import { InputUnwrapper } from '../responses/input-unwrapper.ts';
import type { ToolCallPiece } from '../upstreams/chat/tool-call-assembler.ts';

interface OpenCall {
  unwrapper: InputUnwrapper;
  sentLength: number;
}

/**
 * Converts function calls back to the custom calls that `convertCustomToFunctions` replaced. Results are elements of the chat format's
 * `tool_calls`.
 */
export class CustomCalls {
  readonly #names: readonly string[];
  readonly #open = new Map<number, OpenCall>();

  private constructor(names: readonly string[]) {
    this.#names = names;
  }

  /** @param recalled the result of `readCustomToolNames` for the request; undefined if the request has no custom tools */
  static createFor(recalled: JsonObject | undefined): CustomCalls | undefined {
    const names = recalled?.['custom'];
    return names === undefined ? undefined : new CustomCalls(names as string[]);
  }

  /** Converts a call of a whole answer; undefined for a function call. */
  toWholeCall({ id, name = '', arguments: json }: Omit<ToolCallPiece, 'index' | 'isFirst'>): JsonObject | undefined {
    if (!this.#names.includes(name)) return undefined;
    const unwrapper = new InputUnwrapper();
    unwrapper.addPiece(json);
    return { id, type: 'custom', custom: { name, input: unwrapper.finish() } };
  }

  /** Converts a piece of a call; undefined for a piece of a function call. */
  toCallPiece({ index, id, isFirst, name, arguments: json }: ToolCallPiece): JsonObject | undefined {
    const knownCall = this.#open.get(index);
    if (!knownCall && (name === undefined || !this.#names.includes(name))) return undefined;
    const call = knownCall ?? { unwrapper: new InputUnwrapper(), sentLength: 0 };
    this.#open.set(index, call);
    const input = call.unwrapper.addPiece(json);
    call.sentLength += input.length;
    return isFirst ? { index, id, type: 'custom', custom: { name, input } } : { index, custom: { input } };
  }

  /** Returns a piece with the unsent input for each custom call. Call it once, when the answer is complete. */
  takeUnsentInputs(): JsonObject[] {
    return [...this.#open].flatMap(([index, { unwrapper, sentLength }]) => {
      const input = unwrapper.finish().slice(sentLength);
      return input === '' ? [] : [{ index, custom: { input } }];
    });
  }
}
