import { type Plan, type Step, tokensOf } from '../answer/plan-answer.ts';
import type { DemoOptions } from '../request/demo-options.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerResponse } from 'node:http';

/** An answer ready to be sent. */
export interface Reply {
  form: ReplyForm;
  plan: Plan;
  usage: ReturnType<typeof usageOf>;
  demo: DemoOptions;
  /** Whether a stream ends with a chunk of token counts. */
  includeUsage: boolean;
  /** Called with steps after they are sent. */
  onSent(steps: readonly Step[]): void;
}

/** How an answer is written: as a chat completion, or as a continued text. */
export interface ReplyForm {
  /** The event that opens a stream; empty where there is none. */
  role(): string;
  /** The event of one step; empty for a step without text. */
  step(step: Step): string;
  /** The event with the finish_reason. */
  finish(plan: Plan): string;
  /** The separate event with the token counts. */
  usage(usage: object): string;
  /** An event that ends in the middle of its JSON. */
  broken(): string;
  /** The answer in one piece, without its token counts. */
  whole(plan: Plan): object;
}

/** How a reply ended with its client still connected: complete, or by a fault on demand. */
export type ReplyEnding = 'finished' | 'faulted';

/** The fields that every chunk of an answer, or the whole answer, carries. */
export interface AnswerHead {
  /** `chatcmpl-…` */
  id: string;
  model: string;
  /** Seconds since 1970. */
  created: number;
}

/** Token counts as the OpenAI API returns them; those of thinking only if there was any. */
export function usageOf(plan: Pick<Plan, 'steps'>, promptTokens: number) {
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

/** Sends nothing more until the client disconnects; closes the connection after ten minutes. */
export async function hang(response: ServerResponse, signal: AbortSignal): Promise<void> {
  await sleep(maxHangMs, undefined, { signal });
  response.destroy();
}
