import type { JobReport } from '#shared/broker/dispatch/job-report.ts';
import type { RequestParameters } from '#shared/formats/client-format.ts';
import { mapUnits, getUnits, type Unit, type Usage } from '#shared/core/usage.ts';

/** Maximum input tokens that an engine adds: the chat template, and the tokens of images beyond their estimate. */
const maxAddedByEngine = 32_768;

/**
 * Maximum input tokens that an agent or a provider adds: its own prompts and tools, and the conversation, once for each of its own turns.
 */
const maxAddedByAgent = 1_000_000;

/** Maximum output tokens if neither the request nor the model has a limit. */
const unknownOutputTokens = 131_072;

/** Maximum output tokens, even if the request and the model allow more. Only an answer with more bytes may exceed this number. */
const maxUnseenTokens = 1_048_576;

/** Minimum bytes per second of sound: the lowest bit rates of recorded speech. */
const bytesPerSecond = 250;

const maxSearches = 1_000;

export interface UsageBounds extends Pick<RequestParameters, 'needs' | 'units'> {
  /** The limit of output tokens; undefined if there is none. */
  maxOutput: number | undefined;
  bodyBytes: number;
}

/**
 * Caps the usage that a worker reports at plausible values. Each token has at least a byte of text, so the body limits the input. The
 * limits of the request and the model limit the output, or the size of the answer in bytes if that is larger.
 */
export function capUsage(
  usage: Usage,
  { attempt, answerBytes }: Pick<JobReport, 'attempt' | 'answerBytes'>,
  { needs, units, maxOutput, bodyBytes }: UsageBounds,
): Usage {
  const { pool, model: id } = attempt?.placement ?? {};
  const model = pool?.models.find((each) => each.id === id);
  const tier = pool?.tier;
  const maxAdded = tier === 'gpu' ? maxAddedByEngine : maxAddedByAgent;
  const hasOneInput = tier === 'gpu' && needs.longestInput === undefined;
  const window = (hasOneInput ? model?.contextWindow : undefined) ?? Number.POSITIVE_INFINITY;
  const maxPrompt = Math.min(window, Math.max(bodyBytes, 4 * needs.inputTokens) + maxAdded);
  const modelLimit = model?.maxOutput ?? model?.contextWindow ?? maxUnseenTokens;
  // Command-line agents ignore the request's output limit.
  const requestLimit =
    (tier === 'cli' ? undefined : maxOutput) ?? model?.maxOutput ?? model?.contextWindow ?? unknownOutputTokens;
  const maxCompletion = Math.max(answerBytes, Math.min(requestLimit, modelLimit, maxUnseenTokens));
  const promptTokens = Math.min(maxPrompt, usage.promptTokens);
  const completionTokens = Math.min(maxCompletion, usage.completionTokens);
  const cacheWriteTokens = Math.min(promptTokens, usage.cacheWriteTokens);
  const cappedUsage: Usage = {
    promptTokens,
    cachedTokens: Math.min(promptTokens, usage.cachedTokens),
    cacheWriteTokens,
    completionTokens,
    reasoningTokens: Math.min(completionTokens, usage.reasoningTokens),
  };
  if (usage.hourCacheWriteTokens !== undefined)
    cappedUsage.hourCacheWriteTokens = Math.min(cacheWriteTokens, usage.hourCacheWriteTokens);
  if (usage.units) cappedUsage.units = capUnits(usage, units, bodyBytes);
  return cappedUsage;
}

function capUnits(usage: Usage, units: UsageBounds['units'], bodyBytes: number): Record<Unit, number> {
  const maxUnits: Record<Unit, number> = {
    images: units?.images ?? 0,
    seconds: Math.ceil(bodyBytes / bytesPerSecond),
    characters: bodyBytes,
    searches: maxSearches,
  };
  return mapUnits((unit) => Math.min(maxUnits[unit], getUnits(usage, unit)));
}
