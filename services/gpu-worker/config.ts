import { z } from 'zod';
import { setting } from '#shared/core/load-config.ts';
import { workerSettings } from '#shared/worker/worker-settings.ts';
import { engineKinds } from './engines/engine.ts';

/** Jobs at once at most, whatever the engine tells. */
export const maxSlots = 1024;

/** Longest wait that can be set, in milliseconds. */
const longest = 3_600_000;

/** Every setting of the gpu worker. */
export const gpuWorkerConfig = z.object({
  ENGINE_URL: z
    .url({ protocol: /^https?$/ })
    .describe('Address of the engine, as `http://127.0.0.1:8000`; with or without `/v1` at its end.'),
  ENGINE_KIND: setting.choice('What the engine is; `auto` looks.', 'auto', ['auto', ...engineKinds]),
  ENGINE_API_KEY: setting.optionalText('Key that the engine gets as a bearer token.'),
  SLOTS: setting.integer("Jobs at once; 0 takes the engine's own number, or 8 where it tells none.", 0, 0, maxSlots),
  COALESCE_MS: setting.integer('Fragments that follow within this time travel together; 0 is off.', 5, 0, 1000),
  CONNECT_TIMEOUT_MS: setting.integer('Longest wait for a connection to the engine.', 2000, 50, 60_000),
  FIRST_TOKEN_TIMEOUT_MS: setting.integer('Longest wait for the first token of a stream.', 300_000, 50, longest),
  IDLE_TIMEOUT_MS: setting.integer('Longest wait between two tokens of a stream.', 60_000, 50, longest),
  ANSWER_TIMEOUT_MS: setting.integer('Longest wait for an answer that is not streamed.', 600_000, 50, longest),
  DRAIN_MS: setting.integer('How long running jobs may take to finish when the worker stops.', 30_000, 0, longest),
  ...workerSettings,
});
