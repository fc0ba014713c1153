import { estimateTokens } from './estimate-tokens.ts';

/** One or several inputs: a text, the tokens of a text, or a list of either. */
export type TextInputs = string | string[] | number[] | number[][];

export function listInputs(inputs: TextInputs): string[] | number[][] {
  if (typeof inputs === 'string') return [inputs];
  return isTokens(inputs) ? [inputs] : inputs;
}

function isTokens(inputs: string[] | number[] | number[][]): inputs is number[] {
  return typeof inputs[0] === 'number';
}

/**
 * Estimates the tokens of all inputs together, and of the longest one.
 * @param addedTokens tokens that each input has in addition
 */
export function estimateInputs(inputs: TextInputs, addedTokens = 0): { inputTokens: number; longestInput: number } {
  let inputTokens = 0;
  let longestInput = 0;
  for (const input of listInputs(inputs)) {
    const tokens = addedTokens + (typeof input === 'string' ? estimateTokens(input) : input.length);
    inputTokens += tokens;
    longestInput = Math.max(longestInput, tokens);
  }
  return { inputTokens, longestInput };
}
