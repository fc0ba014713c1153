import { z } from 'zod';
import { setting } from '#shared/core/load-config.ts';
import type { AnswerTimeouts } from '#shared/upstream/relay.ts';

/** Highest value of a timeout, in milliseconds. */
const maxMs = 3_600_000;

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
};

export function readAnswerTimeouts(config: z.output<z.ZodObject<typeof relaySettings>>): AnswerTimeouts {
  const { FIRST_TOKEN_TIMEOUT_MS: firstTokenMs, IDLE_TIMEOUT_MS: idleMs, ANSWER_TIMEOUT_MS: answerMs } = config;
  return { firstTokenMs, idleMs, answerMs };
}
