import type { JsonObject } from '#shared/core/json.ts';

/** One or several prompts: a text, the tokens of a text, or a list of either. */
export type CompletionsPrompt = string | string[] | number[] | number[][];

export type CompletionsRequest = JsonObject & {
  model: string;
  prompt: CompletionsPrompt;
  /** The text after the completion. Editors complete between prompt and suffix. */
  suffix?: string | null;
  max_tokens?: number | null;
  n?: number | null;
  best_of?: number | null;
  stream?: boolean | null;
  stream_options?: JsonObject | null;
  stop?: string | string[] | null;
};

export function listPrompts(prompt: CompletionsPrompt): string[] | number[][] {
  if (typeof prompt === 'string') return [prompt];
  return isTokens(prompt) ? [prompt] : prompt;
}

function isTokens(prompt: string[] | number[] | number[][]): prompt is number[] {
  return typeof prompt[0] === 'number';
}
