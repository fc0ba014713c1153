import type { Usage } from '#shared/core/usage.ts';

export interface Outcome {
  /** Reason in the chat format: `stop`, `length`, `tool_calls` or `content_filter`. */
  finishReason: string;
  /** Tokens that the CLI counted; absent if it reports none. */
  usage?: Usage | undefined;
}
