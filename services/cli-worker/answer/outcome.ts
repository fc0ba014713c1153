import type { Usage } from '#shared/core/usage.ts';

/** How an answer ended. */
export interface Outcome {
  /** In the chat format's words: stop, length, tool_calls, content_filter. */
  finishReason: string;
  /** What the CLI counted; absent where it reports nothing. */
  usage?: Usage | undefined;
}
