import type { DemoOptions } from '../request/demo-options.ts';
import { applyStop } from './apply-stop.ts';
import type { ToolCall } from './choose-tool-calls.ts';
import type { Answer } from './compose-answer.ts';
import { makeFiller, piecesAfter, splitIntoTokens, type Piece } from './split-into-tokens.ts';

export type Delta =
  | { kind: 'reasoning'; text: string }
  | { kind: 'content'; text: string }
  | { kind: 'tool_call'; index: number; id: string; name: string; arguments: string }
  | { kind: 'tool_arguments'; index: number; text: string };

/** One step of an answer, which is sent as one chunk. A step without visible text counts its tokens, but is not sent. */
export interface Step {
  delta: Delta;
  tokens: number;
}

export interface Plan {
  steps: Step[];
  finish: 'stop' | 'length' | 'tool_calls';
  stop: string | null;
}

/** Splits an answer into steps, and ends it at a stop string or at the request's token limit. */
export function planAnswer(
  answer: Answer,
  limits: { maxTokens: number; stops: readonly string[] },
  demo: DemoOptions,
): Plan {
  const text = demo.answer_tokens === undefined ? splitIntoTokens(answer.content) : makeFiller(demo.answer_tokens);
  const whole = applyStop(text, limits.stops);
  const content = { ...whole, pieces: piecesAfter(whole.pieces, answer.begun ?? '') ?? whole.pieces };
  const all = [
    ...splitIntoTokens(answer.reasoning).map((piece) => toStep('reasoning', piece)),
    ...content.pieces.map((piece) => toStep('content', piece)),
    ...(content.stop === null ? callSteps(answer.toolCalls, demo) : []),
  ];
  const steps = firstTokens(all, limits.maxTokens);
  if (steps.length < all.length) return { steps, finish: 'length', stop: null };
  const calls = content.stop === null && answer.toolCalls.length > 0;
  return { steps, finish: calls ? 'tool_calls' : 'stop', stop: content.stop };
}

export function firstTokens(steps: readonly Step[], maxTokens: number): Step[] {
  let tokens = 0;
  const end = steps.findIndex((step) => (tokens += step.tokens) > maxTokens);
  return end < 0 ? [...steps] : steps.slice(0, end);
}

export function tokensOf(steps: readonly Step[]): number {
  return steps.reduce((tokens, step) => tokens + step.tokens, 0);
}

function toStep(kind: 'reasoning' | 'content', { text, tokens }: Piece): Step {
  return { delta: { kind, text }, tokens };
}

function callSteps(calls: readonly ToolCall[], demo: DemoOptions): Step[] {
  const each = calls.map((call, index) => {
    const name = splitIntoTokens(call.name).reduce((tokens, piece) => tokens + piece.tokens, 0);
    const pieces = splitIntoTokens(call.arguments);
    const whole = demo.tool_args_whole ?? false;
    const spent = whole ? pieces.reduce((tokens, piece) => tokens + piece.tokens, 0) : 0;
    const { id, name: toolName } = call;
    const start: Step = {
      delta: { kind: 'tool_call', index, id, name: toolName, arguments: whole ? call.arguments : '' },
      tokens: name + spent,
    };
    const rest = whole ? [] : pieces.map((piece): Step => argumentStep(index, piece));
    return [start, ...rest];
  });
  return demo.interleave_tools ? interleave(each) : each.flat();
}

function argumentStep(index: number, { text, tokens }: Piece): Step {
  return { delta: { kind: 'tool_arguments', index, text }, tokens };
}

function interleave<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat();
}
