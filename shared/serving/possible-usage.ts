import type { JobReport } from '#shared/broker/dispatch/job-report.ts';
import type { RequestParameters } from '#shared/formats/client-format.ts';
import { mapUnits, unitsOf, type Unit, type Usage } from '#shared/core/usage.ts';

/** Input tokens that an engine adds at most: the template of the conversation, and what images have beyond their estimate. */
const addedByEngine = 32_768;

/** Those that an agent or a provider adds at most: its own prompts and tools, and the conversation again in each of its own turns. */
const addedByAgent = 1_000_000;

/** Output tokens of a request and a model without a limit, at most. */
const unknownOutput = 131_072;

/** Output tokens that are not seen in the answer, as of hidden thinking, at most: whatever limit a request or a model has. */
const maxUnseen = 1_048_576;

/** Bytes of a second of sound at least, at the lowest rates that speech is stored with. */
const bytesPerSecond = 250;

/** Searches of one answer at most. */
const maxSearches = 1_000;

/** What of a request bounds its usage. */
export interface UsageBounds extends Pick<RequestParameters, 'needs' | 'units'> {
  /** The limit of output tokens; undefined without one. */
  maxOutput: number | undefined;
  /** Bytes of the body as the worker got it. */
  bodyBytes: number;
}

/**
 * Usage as a worker reported it, held against what is possible. Text has a byte for each token at least, so input is bounded by the body,
 * and output by the limit of the request and the model, or by the bytes of the answer where it has more.
 */
export function possibleUsage(
  usage: Usage,
  { attempt, answerBytes }: Pick<JobReport, 'attempt' | 'answerBytes'>,
  { needs, units, maxOutput, bodyBytes }: UsageBounds,
): Usage {
  const { pool, model: id } = attempt?.placement ?? {};
  const model = pool?.models.find((each) => each.id === id);
  const tier = pool?.tier;
  const added = tier === 'gpu' ? addedByEngine : addedByAgent;
  const isOneInput = tier === 'gpu' && needs.longestInput === undefined;
  const window = (isOneInput ? model?.contextWindow : undefined) ?? Number.POSITIVE_INFINITY;
  const maxPrompt = Math.min(window, Math.max(bodyBytes, 4 * needs.inputTokens) + added);
  const ofModel = model?.maxOutput ?? model?.contextWindow ?? maxUnseen;
  // Command-line agents take no limit.
  const ofRequest =
    (tier === 'cli' ? undefined : maxOutput) ?? model?.maxOutput ?? model?.contextWindow ?? unknownOutput;
  const maxCompletion = Math.max(answerBytes, Math.min(ofRequest, ofModel, maxUnseen));
  const promptTokens = Math.min(maxPrompt, usage.promptTokens);
  const completionTokens = Math.min(maxCompletion, usage.completionTokens);
  const cacheWriteTokens = Math.min(promptTokens, usage.cacheWriteTokens);
  const maxUnits: Record<Unit, number> = {
    images: units?.images ?? 0,
    seconds: Math.ceil(bodyBytes / bytesPerSecond),
    characters: bodyBytes,
    searches: maxSearches,
  };
  return {
    promptTokens,
    cachedTokens: Math.min(promptTokens, usage.cachedTokens),
    cacheWriteTokens,
    ...(usage.hourCacheWriteTokens !== undefined && {
      hourCacheWriteTokens: Math.min(cacheWriteTokens, usage.hourCacheWriteTokens),
    }),
    completionTokens,
    reasoningTokens: Math.min(completionTokens, usage.reasoningTokens),
    ...(usage.units && { units: mapUnits((unit) => Math.min(maxUnits[unit], unitsOf(usage, unit))) }),
  };
}
