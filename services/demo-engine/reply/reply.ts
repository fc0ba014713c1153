import { type Plan, type Step, countTokensOfSteps } from '../answer/plan-answer.ts';
import type { DemoOptions } from '../request/demo-options.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerResponse } from 'node:http';

export interface Reply {
  format: ReplyFormat;
  plan: Plan;
  usage: ReturnType<typeof computeUsage>;
  demo: DemoOptions;
  /** Whether a stream ends with a chunk of token counts. */
  includeUsage: boolean;
  onStepsSent(steps: readonly Step[]): void;
}

/** Writes an answer as a chat completion or as a text completion. */
export interface ReplyFormat {
  /** Returns the event that opens a stream; `''` if the format has no such event. */
  writeOpening(): string;
  /** Returns the event of one step; `''` for a step without text. */
  writeStep(step: Step): string;
  /** Returns the event with `finish_reason`. */
  writeEnd(plan: Plan): string;
  /** Returns the separate event with the token counts. */
  writeUsage(usage: object): string;
  /** Returns an event that ends in the middle of its JSON. */
  writeBrokenEvent(): string;
  /** Returns the whole answer without its token counts. */
  buildWhole(plan: Plan): object;
}

/** How a reply ended if its client is still connected: complete, or broken by a fault that its options request. */
export type ReplyEnding = 'finished' | 'faulted';

/** Fields in every chunk of an answer, and in a whole answer. */
export interface AnswerHead {
  /** Id of the answer, such as `chatcmpl-…`. */
  id: string;
  model: string;
  /** Seconds since 1970. */
  created: number;
}

/** Returns token counts in the form of OpenAI's API. The count of reasoning tokens is present only if the answer has reasoning. */
export function computeUsage(plan: Pick<Plan, 'steps'>, promptTokens: number) {
  const completionTokens = countTokensOfSteps(plan.steps);
  const reasoningTokens = countTokensOfSteps(plan.steps.filter(({ delta }) => delta.kind === 'reasoning'));
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
