import type { Usage } from '#shared/core/usage.ts';

/** A piece of an answer, in the order in which the model wrote it. */
export interface AnswerPart {
  kind: 'text' | 'thinking';
  text: string;
}

/** How an answer ended. */
export interface Outcome {
  /** In the chat format's words: stop, length, content_filter. */
  finishReason: string;
  /** What the CLI counted; absent where it tells nothing. */
  usage?: Usage | undefined;
}
