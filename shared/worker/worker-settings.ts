import { z } from 'zod';
import { brokerSettings } from '#shared/broker/connection/broker-settings.ts';
import type { AnswerTimeouts } from '#shared/upstream/relay.ts';
import { logSettings, setting } from '#shared/core/load-config.ts';

/** The settings of every kind of worker: the broker, the worker's name, its admin port and its log. */
export const workerSettings = {
  ...brokerSettings,
  WORKER_ID: z
    .string()
    .regex(/^[\w-]{1,64}$/)
    .optional()
    .describe('Name of the worker, unique in the cluster: 1 to 64 letters, digits, `_` and `-`; random if unset'),
  ADMIN_PORT: setting.optionalInteger(
    'Port of `/metrics`, `/health` and `/live` for operators; none if unset',
    0,
    65_535,
  ),
  ADMIN_HOST: setting.text('Address on which the admin port listens', '127.0.0.1'),
  ...logSettings,
};

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
