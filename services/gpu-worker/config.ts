import { z } from 'zod';
import { setting } from '#shared/core/load-config.ts';
import { relaySettings, workerSettings } from '#shared/worker/worker-settings.ts';
import { engineKinds } from './engines/engine.ts';

/** Maximum number of jobs at once, whatever the engine reports. */
export const maxSlots = 16_384;

export const gpuWorkerConfig = z.object({
  ENGINE_URL: z
    .url({ protocol: /^https?$/ })
    .describe('Address of the engine, such as `http://127.0.0.1:8000`, with or without `/v1`'),
  ENGINE_KIND: setting.choice(
    'Kind of the engine: `vllm`, `sglang`, `llama-cpp`, `ollama`, `lm-studio`, `openai` (any other of the chat format), or `auto`, which detects it',
    'auto',
    ['auto', ...engineKinds],
  ),
  ENGINE_API_KEY: setting.optionalText('Key that is sent to the engine as a bearer token'),
  ENGINE_FIELDS: setting.list(
    'Names of fields that steer the engine, such as `priority`, and that clients may set; other such fields are dropped',
  ),
  SLOTS: setting.integer(
    'Maximum number of jobs at once; 0 takes the number that the engine reports or, if it reports none, 64 for vLLM and 8 for any other engine',
    0,
    0,
    maxSlots,
  ),
  ...relaySettings,
  ...workerSettings,
});
