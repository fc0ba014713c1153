import { type Plan, type Step, tokensOf } from '../answer/plan-answer.ts';
import type { DemoOptions } from '../request/demo-options.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerResponse } from 'node:http';

export interface Reply {
  form: ReplyForm;
  plan: Plan;
  usage: ReturnType<typeof computeUsage>;
  demo: DemoOptions;
  /** Whether a stream ends with a chunk of token counts. */
  includeUsage: boolean;
  onSent(steps: readonly Step[]): void;
}

/** Form of an answer: a chat completion, or a continued text. */
export interface ReplyForm {
  /** Returns the event that opens a stream; `''` if the form has no such event. */
  role(): string;
  /** Returns the event of one step; `''` for a step without text. */
  step(step: Step): string;
  /** Returns the event with `finish_reason`. */
  finish(plan: Plan): string;
  /** Returns the separate event with the token counts. */
  usage(usage: object): string;
  /** Returns an event that ends in the middle of its JSON. */
  broken(): string;
  /** Returns the whole answer without its token counts. */
  whole(plan: Plan): object;
}

/** How a reply ended whose client is still connected: complete, or broken by a fault that its options requested. */
export type ReplyEnding = 'finished' | 'faulted';

/** Fields in every chunk of an answer, and in a whole answer. */
export interface AnswerHead {
  /** Id of the answer, such as `chatcmpl-…`. */
  id: string;
  model: string;
  /** Seconds since 1970. */
  created: number;
}

/** Returns token counts in the form of the OpenAI API. They contain the count of thinking only if there was any thinking. */
export function computeUsage(plan: Pick<Plan, 'steps'>, promptTokens: number) {
  const completionTokens = tokensOf(plan.steps);
  const reasoningTokens = tokensOf(plan.steps.filter(({ delta }) => delta.kind === 'reasoning'));
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    ...(reasoningTokens > 0 ? { completion_tokens_details: { reasoning_tokens: reasoningTokens } } : {}),
  };
}

const maxHangMs = 600_000;

/** Sends nothing more until the client disconnects, and closes the connection after ten minutes. */
export async function hang(response: ServerResponse, signal: AbortSignal): Promise<void> {
  await sleep(maxHangMs, undefined, { signal });
  response.destroy();
}
