import { expect } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';

export interface AssembledCompletion {
  content: string;
  reasoning: string;
  refusal: string;
  calls: { id: string; name: string; arguments: string }[];
  finishReason: string;
  usage: JsonObject;
}

interface Piece {
  index: number;
  id?: string;
  function: { name?: string; arguments?: string };
}
interface Delta {
  role?: string;
  content?: string;
  reasoning_content?: string;
  refusal?: string;
  tool_calls?: Piece[];
}
interface Chunk extends JsonObject {
  id: string;
}

/** Assembles a chat stream as clients do, and checks the order that they rely on. */
export function assembleCompletion(stream: string): AssembledCompletion {
  const lines = stream.split('\n\n');
  expect(lines.splice(-2)).toEqual(['data: [DONE]', '']);
  const chunks = lines.map((line) => JSON.parse(line.slice('data: '.length)) as Chunk);
  const deltas = chunks.map((chunk) => firstChoice(chunk).delta);
  expect(deltas.map(({ role }) => role)).toEqual(['assistant', ...deltas.slice(1).map(() => undefined)]);
  expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  expect(deltas.at(-1)).toEqual({});
  expect(chunks.slice(0, -1).every((chunk) => firstChoice(chunk).finish_reason === null && !chunk['usage'])).toBe(true);

  const calls: AssembledCompletion['calls'] = [];
  for (const piece of deltas.flatMap((delta) => delta.tool_calls ?? [])) {
    expect(piece.index).toBeLessThanOrEqual(calls.length);
    const call = (calls[piece.index] ??= { id: '', name: '', arguments: '' });
    call.id += piece.id ?? '';
    call.name += piece.function.name ?? '';
    call.arguments += piece.function.arguments ?? '';
  }
  const last = chunks.at(-1);
  return {
    content: deltas.map(({ content }) => content ?? '').join(''),
    reasoning: deltas.map((delta) => delta.reasoning_content ?? '').join(''),
    refusal: deltas.map(({ refusal }) => refusal ?? '').join(''),
    calls,
    finishReason: last ? (firstChoice(last).finish_reason ?? '') : '',
    usage: (last?.['usage'] ?? {}) as JsonObject,
  };
}

function firstChoice(chunk: Chunk): { delta: Delta; finish_reason: string | null } {
  const [choice] = chunk['choices'] as unknown as { delta: Delta; finish_reason: string | null }[];
  if (!choice) throw new Error('a chunk without a choice');
  return choice;
}
