import type { Plan, Step } from '../answer/plan-answer.ts';
import type { DemoOptions } from '../request/demo-options.ts';
import type { AnswerHead } from './answer-head.ts';
import type { usageOf } from './usage-of.ts';

/** An answer that is ready to be sent. */
export interface Reply {
  head: AnswerHead;
  plan: Plan;
  usage: ReturnType<typeof usageOf>;
  demo: DemoOptions;
  /** Whether a stream ends with a chunk of token counts. */
  includeUsage: boolean;
  /** Hears of the steps as they are sent. */
  onSent(steps: readonly Step[]): void;
}

/** How a reply was brought to its end, as long as the client stays: whole, or broken off by a fault on demand. */
export type ReplyEnding = 'finished' | 'faulted';
