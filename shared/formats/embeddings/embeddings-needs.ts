import { estimateTokens } from '../estimate-tokens.ts';
import type { Needs } from '../client-format.ts';
import { listInputs, type EmbeddingsRequest } from './request.ts';

export function embeddingsNeeds({ input }: EmbeddingsRequest): Needs {
  let inputTokens = 0;
  let longestInput = 0;
  for (const each of listInputs(input)) {
    const tokens = typeof each === 'string' ? estimateTokens(each) : each.length;
    inputTokens += tokens;
    longestInput = Math.max(longestInput, tokens);
  }
  return { tools: false, vision: false, thinking: false, json: false, inputTokens, longestInput };
}
