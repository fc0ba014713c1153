import { tokensOf, type Plan } from '../answer/plan-answer.ts';

/** Token counts as the OpenAI API gives them; those of thinking only where there was any. */
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
