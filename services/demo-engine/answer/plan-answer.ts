import type { DemoOptions } from '../request/demo-options.ts';
import type { ToolCall } from './choose-tool-calls.ts';
import type { Answer } from './compose-answer.ts';
import { makeFiller, takePiecesAfter, splitIntoTokens, type Piece } from './split-into-tokens.ts';

export type Delta =
  | { kind: 'reasoning'; text: string }
  | { kind: 'content'; text: string }
  | { kind: 'tool_call'; index: number; id: string; name: string; arguments: string }
  | { kind: 'tool_arguments'; index: number; text: string };

/** One step of an answer. Each step is sent as one chunk. A step without text is not sent, but its tokens count. */
export interface Step {
  delta: Delta;
  tokens: number;
}

export interface Plan {
  steps: Step[];
  finish: 'stop' | 'length' | 'tool_calls';
  stop: string | null;
}

/** Splits an answer into steps. Ends the answer at a stop string, or at the request's token limit. */
export function planAnswer(
  answer: Answer,
  limits: { maxTokens: number; stops: readonly string[] },
  demo: DemoOptions,
): Plan {
  const text = demo.answer_tokens === undefined ? splitIntoTokens(answer.content) : makeFiller(demo.answer_tokens);
  const stoppedText = applyStop(text, limits.stops);
  const content = {
    ...stoppedText,
    pieces: takePiecesAfter(stoppedText.pieces, answer.beginning ?? '') ?? stoppedText.pieces,
  };
  const allSteps = [
    ...splitIntoTokens(answer.reasoning).map((piece) => toStep('reasoning', piece)),
    ...content.pieces.map((piece) => toStep('content', piece)),
    ...(content.stop === null ? createCallSteps(answer.toolCalls, demo) : []),
  ];
  const steps = takeFirstTokens(allSteps, limits.maxTokens);
  if (steps.length < allSteps.length) return { steps, finish: 'length', stop: null };
  const hasCalls = content.stop === null && answer.toolCalls.length > 0;
  return { steps, finish: hasCalls ? 'tool_calls' : 'stop', stop: content.stop };
}

export function takeFirstTokens(steps: readonly Step[], maxTokens: number): Step[] {
  let tokens = 0;
  const end = steps.findIndex((step) => (tokens += step.tokens) > maxTokens);
  return end < 0 ? [...steps] : steps.slice(0, end);
}

export function countTokensOfSteps(steps: readonly Step[]): number {
  return steps.reduce((tokens, step) => tokens + step.tokens, 0);
}

function toStep(kind: 'reasoning' | 'content', { text, tokens }: Piece): Step {
  return { delta: { kind, text }, tokens };
}

function createCallSteps(calls: readonly ToolCall[], demo: DemoOptions): Step[] {
  const stepsByCall = calls.map((call, index) => {
    const nameTokens = splitIntoTokens(call.name).reduce((tokens, piece) => tokens + piece.tokens, 0);
    const pieces = splitIntoTokens(call.arguments);
    const isSentWhole = demo.tool_args_whole ?? false;
    const argumentTokens = isSentWhole ? pieces.reduce((tokens, piece) => tokens + piece.tokens, 0) : 0;
    const { id, name: toolName } = call;
    const start: Step = {
      delta: { kind: 'tool_call', index, id, name: toolName, arguments: isSentWhole ? call.arguments : '' },
      tokens: nameTokens + argumentTokens,
    };
    const rest = isSentWhole ? [] : pieces.map((piece): Step => toArgumentStep(index, piece));
    return [start, ...rest];
  });
  return demo.interleave_tools ? interleave(stepsByCall) : stepsByCall.flat();
}

function toArgumentStep(index: number, { text, tokens }: Piece): Step {
  return { delta: { kind: 'tool_arguments', index, text }, tokens };
}

function interleave<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat();
}

/** A text up to its first stop string. */
export interface StoppedText {
  pieces: Piece[];
  /** The stop string that ended the text; null if no stop string did. */
  stop: string | null;
}

/**
 * Cuts a text before the stop string that ends first. A stop string may extend over several pieces. The tokens of the stop string count,
 * because they were generated.
 */
export function applyStop(pieces: readonly Piece[], stops: readonly string[]): StoppedText {
  const text = stops.length > 0 ? pieces.map((piece) => piece.text).join('') : '';
  const occurrences = stops
    .map((stop) => ({ stop, at: stop === '' ? -1 : text.indexOf(stop) }))
    .filter(({ at }) => at >= 0)
    .toSorted((a, b) => a.at + a.stop.length - (b.at + b.stop.length) || a.at - b.at);
  const [firstOccurrence] = occurrences;
  if (!firstOccurrence) return { pieces: [...pieces], stop: null };
  const keptPieces: Piece[] = [];
  let position = 0;
  for (const piece of pieces) {
    if (position >= firstOccurrence.at + firstOccurrence.stop.length) break;
    keptPieces.push({ text: piece.text.slice(0, Math.max(0, firstOccurrence.at - position)), tokens: piece.tokens });
    position += piece.text.length;
  }
  return { pieces: keptPieces, stop: firstOccurrence.stop };
}
