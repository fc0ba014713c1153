import type { JsonObject } from '#shared/core/json.ts';

/** One or several prompts: a text or its tokens, or lists of either. */
export type CompletionsPrompt = string | string[] | number[] | number[][];

/** A request to continue a text, checked by `parseCompletionsRequest`: the fields that the router reads. */
export type CompletionsRequest = JsonObject & {
  model: string;
  prompt: CompletionsPrompt;
  /** The text after the one to write: editors complete between the two. */
  suffix?: string | null;
  max_tokens?: number | null;
  n?: number | null;
  best_of?: number | null;
  stream?: boolean | null;
  stream_options?: JsonObject | null;
  stop?: string | string[] | null;
};

/** The prompts, one by one. */
export function promptsOf(prompt: CompletionsPrompt): string[] | number[][] {
  if (typeof prompt === 'string') return [prompt];
  return isTokens(prompt) ? [prompt] : prompt;
}

/** Whether a list is that of one prompt's tokens. */
function isTokens(prompt: string[] | number[] | number[][]): prompt is number[] {
  return typeof prompt[0] === 'number';
}
