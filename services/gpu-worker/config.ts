import { z } from 'zod';
import { setting } from '#shared/core/load-config.ts';
import { engineKinds } from './engines/engine.ts';

/** Every setting of the gpu worker. */
export const gpuWorkerConfig = z.object({
  ENGINE_URL: z
    .url({ protocol: /^https?$/ })
    .describe('Address of the engine, as http://127.0.0.1:8000; a trailing /v1 may be there or not'),
  ENGINE_KIND: setting.choice('What the engine is; auto looks', 'auto', ['auto', ...engineKinds]),
  ENGINE_API_KEY: setting.optionalText('Key sent to the engine as a bearer token'),
  SLOTS: setting.integer("Jobs at once; 0 takes the engine's own number, or 8 where it tells none", 0, 0, 1024),
  COALESCE_MS: setting.integer('Fragments that follow within this time travel together; 0 is off', 5, 0, 1000),
  CONNECT_TIMEOUT_MS: setting.integer('For reaching the engine', 2000, 50, 60_000),
  FIRST_TOKEN_TIMEOUT_MS: setting.integer('From the request to the first token of a stream', 300_000, 50, 3_600_000),
  IDLE_TIMEOUT_MS: setting.integer('Between two tokens of a stream', 60_000, 50, 3_600_000),
  ANSWER_TIMEOUT_MS: setting.integer('From the request to a whole answer that is not streamed', 600_000, 50, 3_600_000),
  DRAIN_TIMEOUT_MS: setting.integer('For running jobs to finish when the worker stops', 30_000, 0, 3_600_000),
  NATS_URL: setting.text('Addresses of the broker, separated by commas', 'nats://127.0.0.1:4222'),
  RTR_PREFIX: setting.text("What the cluster's subjects begin with", 'rtr'),
  WORKER_ID: z
    .string()
    .regex(/^[\w-]{1,64}$/)
    .optional()
    .describe("The worker's name in the cluster; random when unset"),
  LOG_LEVEL: setting.choice('Least severe lines to log', 'info', ['trace', 'debug', 'info', 'warn', 'error']),
  LOG_FORMAT: setting.choice('json for machines, pretty for people, auto by terminal', 'auto', [
    'auto',
    'json',
    'pretty',
  ]),
});

export type GpuWorkerConfig = z.output<typeof gpuWorkerConfig>;
