import { z } from 'zod';
import { parseSecrets } from '#shared/store/secrets/parse-secrets.ts';
import { storedSettings } from '#shared/store/stored-bounds.ts';
import { brokerSettings } from '#shared/broker/connection/broker-settings.ts';
import { computeContinueBytes } from '#shared/broker/dispatch/continuation/continuation-memory.ts';
import type { DispatchSettings } from '#shared/broker/dispatch/dispatch-context.ts';
import { setting } from '#shared/core/load-config.ts';
import { fileSettings } from '#shared/files/file-settings.ts';

/** The settings of every process that serves requests: the addresses of its servers, storage limits, and timeouts. */
export const servingSettings = {
  ...brokerSettings,
  REDIS_URL: setting.text(
    'Address of Redis: `redis://`, `rediss://` with TLS, or `redis+sentinel://host:port,host:port/name` behind sentinels',
    'redis://127.0.0.1:6379',
  ),
  REDIS_CA: setting.optionalText('File with CA certificates (PEM) to trust for Redis, in addition to the public ones'),
  SEAL_SECRET: z
    .string()
    .transform((text, context) => {
      const secrets = parseSecrets(text);
      if (secrets) return secrets;
      context.addIssue('must be 32 bytes as hex or base64, or a passphrase of 32 characters or more');
      return z.NEVER;
    })
    .optional()
    .describe(
      'Secret of the cluster, the same on every ingress. It seals files, stored responses, and parts of answers that clients send back later. Of several secrets, separated by commas, the first one seals and all of them open. If unset, a secret is generated and kept in Redis, and files are stored in plain text',
    ),
  ROUTER_CONFIG: setting.optionalText(
    'File with the registry: names for models, rules for `auto` and more; the same file on every process. If unset, the registry is edited in the console. See `docs/configuration.md`',
  ),
  USAGE_MAX_REQUESTS: setting.integer(
    'Maximum number of single requests that the usage ledger keeps',
    50_000,
    1,
    10_000_000,
  ),
  USAGE_DAYS: setting.integer(
    'Days for which the usage ledger keeps single requests; it keeps totals longer',
    30,
    1,
    3_650,
  ),
  RESPONSES_KEEP_HOURS: setting.integer('Hours for which responses are stored; 0 stores none', 24, 0, 8_760),
  ...storedSettings,
  ...fileSettings,
  MAX_BODY_BYTES: setting.integer(
    'Maximum bytes of one request body, after decompression',
    32 * 1024 * 1024,
    1_024,
    1024 ** 3,
  ),
  MAX_QUEUED: setting.integer(
    'Maximum waiting requests on this ingress for each tier of workers, and maximum tickets of the whole cluster; a key may take at most as many places as stay free',
    100_000,
    1,
    10_000_000,
  ),
  QUEUE_TIMEOUT_MS: setting.integer('Time in the queue until a worker takes the request', 120_000, 100, 3_600_000),
  NO_WORKER_TIMEOUT_MS: setting.integer(
    'Time in the queue while no live worker can serve the request',
    15_000,
    0,
    3_600_000,
  ),
  FIRST_TOKEN_TIMEOUT_MS: setting.integer(
    'Time from a worker taking the request to the first token',
    300_000,
    100,
    3_600_000,
  ),
  IDLE_TIMEOUT_MS: setting.integer('Time between two tokens of a stream', 120_000, 100, 3_600_000),
  TOTAL_TIMEOUT_MS: setting.integer('Time for the whole request', 3_600_000, 100, 86_400_000),
  KEEP_ALIVE_MS: setting.integer(
    'Time without a byte after which the client of a stream gets a keep-alive',
    10_000,
    100,
    600_000,
  ),
};

export type ServingConfig = z.output<z.ZodObject<typeof servingSettings>>;

/**
 * Builds the settings of the dispatcher.
 * @param id name of this process, a subject token
 */
export function toDispatchSettings(config: ServingConfig, id: string): DispatchSettings {
  return {
    ingress: id,
    timeouts: {
      queueMs: config.QUEUE_TIMEOUT_MS,
      noWorkerMs: config.NO_WORKER_TIMEOUT_MS,
      firstTokenMs: config.FIRST_TOKEN_TIMEOUT_MS,
      idleMs: config.IDLE_TIMEOUT_MS,
      totalMs: config.TOTAL_TIMEOUT_MS,
      silenceMs: 10_000,
      brokerMs: 60_000,
    },
    queue: { maxQueued: config.MAX_QUEUED, maxAgeMs: config.QUEUE_TIMEOUT_MS },
    overflowMs: 500,
    keepAliveMs: config.KEEP_ALIVE_MS,
    maxAttempts: 3,
    continueBytes: computeContinueBytes(process.constrainedMemory()),
  };
}
