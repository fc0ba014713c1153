import { estimateTokens } from '../estimate-tokens.ts';
import type { Needs } from '../client-format.ts';
import { listPrompts, type CompletionsRequest } from './request.ts';

export function completionsNeeds({ prompt, suffix }: CompletionsRequest): Needs {
  const after = estimateTokens(suffix ?? '');
  let inputTokens = 0;
  let longestInput = 0;
  for (const each of listPrompts(prompt)) {
    const tokens = after + (typeof each === 'string' ? estimateTokens(each) : each.length);
    inputTokens += tokens;
    longestInput = Math.max(longestInput, tokens);
  }
  return { tools: false, vision: false, thinking: false, json: false, inputTokens, longestInput };
}
