import { z } from 'zod';
import { setting } from '#shared/core/load-config.ts';
import { workerSettings } from '#shared/worker/worker-settings.ts';
import { providerNames } from './providers/provider.ts';

/** Longest wait that can be set, in milliseconds. */
const longest = 3_600_000;

/** Every setting of the cloud worker. */
export const cloudWorkerConfig = z.object({
  PROVIDER: z.enum(providerNames).describe('Who is asked; `custom` is anyone at `PROVIDER_URL`.'),
  PROVIDER_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe("Address that `/chat/completions` or `/messages` is added to, in place of the provider's own."),
  PROVIDER_KEY: setting.optionalText("Key, in place of the one in the provider's usual variable."),
  PROVIDER_KEY_HEADER: z
    .string()
    .regex(/^[\w-]+$/)
    .optional()
    .describe("Header that carries the key as it is, in place of the provider's own way."),
  PROVIDER_FORMAT: setting.choice('What a `custom` provider speaks.', 'chat', ['chat', 'messages']),
  PROVIDER_MODELS: setting.list('Models to serve, the preferred first, separated by commas; all of them when empty.'),
  SLOTS: setting.integer('Jobs at once.', 32, 1, 1024),
  MODELS_REFRESH_MS: setting.integer('How often the list of models is read anew, about.', 600_000, 100, 86_400_000),
  COALESCE_MS: setting.integer('Fragments that follow within this time travel together; 0 is off.', 5, 0, 1000),
  CONNECT_TIMEOUT_MS: setting.integer('Longest wait for a connection to the provider.', 5000, 50, 60_000),
  FIRST_TOKEN_TIMEOUT_MS: setting.integer('Longest wait for the first token of a stream.', 300_000, 50, longest),
  IDLE_TIMEOUT_MS: setting.integer('Longest wait between two tokens of a stream.', 60_000, 50, longest),
  ANSWER_TIMEOUT_MS: setting.integer('Longest wait for an answer that is not streamed.', 600_000, 50, longest),
  DRAIN_MS: setting.integer('How long running jobs may take to finish when the worker stops.', 30_000, 0, longest),
  ...workerSettings,
});

export type CloudWorkerConfig = z.output<typeof cloudWorkerConfig>;
