import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { ToolCallPiece } from '../chat/tool-call-assembler.ts';

/** A piece of an answer, for clients of other formats. */
export type ResponsesPiece =
  | { kind: 'text' | 'refusal' | 'thinking'; text: string }
  /** `thought`: a whole reasoning item, after pieces of `thinking` with the same text. */
  | { kind: 'thought'; item: JsonObject }
  /** `isCustom`: the called tool is a custom tool; the arguments are its input as plain text. */
  | { kind: 'call'; call: ToolCallPiece; isCustom: boolean };

/** Separator between the parts of a summary. Each part is a paragraph with a heading. */
export const paragraphBreak = '\n\n';

/** Returns the text of a reasoning item: the text of its content, or, without content, of its summary. */
export function readThinkingText(item: JsonObject): string {
  return joinParagraphs(item['content']) || joinParagraphs(item['summary']);
}

/** Returns the text and the refusals of a message, without annotations. */
export function readTexts(item: JsonObject): { text: string; refusal: string } {
  const parts = Array.isArray(item['content']) ? item['content'].filter(isJsonObject) : [];
  const joinField = (field: 'text' | 'refusal'): string =>
    parts.map((part) => (typeof part[field] === 'string' ? part[field] : '')).join('');
  return { text: joinField('text'), refusal: joinField('refusal') };
}

function joinParagraphs(parts: Json | undefined): string {
  if (!Array.isArray(parts)) return '';
  const texts = parts.flatMap((part) => (isJsonObject(part) && typeof part['text'] === 'string' ? [part['text']] : []));
  return texts.filter((text) => text !== '').join(paragraphBreak);
}

/** Returns the pieces of a whole answer. Omits items other than reasoning, messages and calls of the client's tools. */
export function toPieces(output: readonly Json[]): ResponsesPiece[] {
  let calls = 0;
  return output.filter(isJsonObject).flatMap((item): ResponsesPiece[] => {
    switch (item['type']) {
      case 'reasoning':
        return [
          { kind: 'thinking', text: readThinkingText(item) },
          { kind: 'thought', item },
        ];
      case 'message': {
        const { text, refusal } = readTexts(item);
        return [
          { kind: 'text', text },
          { kind: 'refusal', text: refusal },
        ];
      }
      case 'function_call':
      case 'custom_tool_call':
        return [{ kind: 'call', call: toCallPiece(item, calls++), isCustom: isCustomCall(item) }];
      default:
        return [];
    }
  });
}

function toCallPiece(item: JsonObject, index: number): ToolCallPiece {
  return { index, isFirst: true, id: readCallId(item), name: readFunctionName(item), arguments: readArguments(item) };
}

/** Returns the id of a call that its result refers to. */
export function readCallId(item: JsonObject): string {
  const { call_id: id, id: itemId } = item;
  if (typeof id === 'string' && id !== '') return id;
  return typeof itemId === 'string' ? itemId : '';
}

export function readFunctionName({ name }: JsonObject): string {
  return typeof name === 'string' ? name : '';
}

export function isCustomCall({ type }: JsonObject): boolean {
  return type === 'custom_tool_call';
}

/** Returns the arguments of a function call, or the input of a custom tool call. */
export function readArguments({ arguments: json, input }: JsonObject): string {
  const text = json ?? input;
  return typeof text === 'string' ? text : '';
}
