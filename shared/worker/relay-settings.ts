import { z } from 'zod';
import { setting } from '#shared/core/load-config.ts';
import type { AnswerTimeouts } from '#shared/upstream/relay.ts';
import type { RequestWriterOptions } from '#shared/upstream/request-writer.ts';

/** Highest value of a timeout, in milliseconds. */
const maxMs = 3_600_000;

/** The setting of all workers that serve models. */
export const usageChunkSetting = {
  USAGE_CHUNK: setting.flag(
    'Whether chat and completions clients that send `stream_options.include_usage` get the usage in a separate last chunk with empty `choices`, as from OpenAI; otherwise the usage is part of the chunk with the finish reason',
    false,
  ),
};

/** The settings of the workers that relay answers of an upstream over HTTP. */
export const relaySettings = {
  FIRST_TOKEN_TIMEOUT_MS: setting.integer(
    'Timeout for the first token of a stream, in milliseconds',
    300_000,
    50,
    maxMs,
  ),
  IDLE_TIMEOUT_MS: setting.integer('Timeout between two tokens of a stream, in milliseconds', 60_000, 50, maxMs),
  ANSWER_TIMEOUT_MS: setting.integer('Timeout for an answer that is not streamed, in milliseconds', 600_000, 50, maxMs),
  DRAIN_MS: setting.integer('Time for running jobs to finish when the worker stops, in milliseconds', 30_000, 0, maxMs),
  ...usageChunkSetting,
  FIT_MAX_TOKENS: setting.flag(
    "Whether a limit of output tokens that the upstream refuses, because it exceeds the remaining context or the model's maximum, is lowered to what fits; otherwise the client gets the error",
    true,
  ),
};

/** The options with which a worker relays the answers of its upstream. */
export interface RelayOptions extends Pick<RequestWriterOptions, 'usageChunk' | 'fitsOutput'> {
  timeouts: AnswerTimeouts;
}

export function readRelayOptions(config: z.output<z.ZodObject<typeof relaySettings>>): RelayOptions {
  const { FIRST_TOKEN_TIMEOUT_MS: firstTokenMs, IDLE_TIMEOUT_MS: idleMs, ANSWER_TIMEOUT_MS: answerMs } = config;
  return {
    timeouts: { firstTokenMs, idleMs, answerMs },
    usageChunk: config.USAGE_CHUNK,
    fitsOutput: config.FIT_MAX_TOKENS,
  };
}
