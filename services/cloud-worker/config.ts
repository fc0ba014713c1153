import { z } from 'zod';
import { setting } from '#shared/core/load-config.ts';
import { relaySettings, workerSettings } from '#shared/worker/worker-settings.ts';
import { customFormats } from './providers/custom.ts';
import { providerNames } from './providers/provider.ts';

export const cloudWorkerConfig = z.object({
  PROVIDER: z.enum(providerNames).describe('Name of the provider; `custom` is any other, at `PROVIDER_URL`'),
  PROVIDER_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe("Address to which the format's path is appended, as `/chat/completions`; the provider's own if unset"),
  PROVIDER_KEY: setting.optionalText('Key for the provider; the one in its usual variable if unset'),
  PROVIDER_KEY_HEADER: z
    .string()
    .regex(/^[\w-]+$/)
    .optional()
    .describe("Header in which the key is sent unchanged; the provider's usual one if unset"),
  PROVIDER_FORMAT: setting.choice('Wire format of a `custom` provider', customFormats[0], customFormats),
  PROVIDER_PROMPTS: setting.flag(
    "Whether every client may name the prompts that are stored in the provider's account (`prompt` of the Responses format)",
    false,
  ),
  PROVIDER_SERVICE_TIERS: setting.list(
    'Values of `service_tier` at another price, such as `priority`, that clients may ask the provider for; others are dropped',
  ),
  PROVIDER_MODELS: setting.list('Models to serve, separated by commas, the preferred first; all if empty'),
  SLOTS: setting.integer('Maximum number of jobs at once', 32, 1, 16_384),
  ...relaySettings,
  ...workerSettings,
});

export type CloudWorkerConfig = z.output<typeof cloudWorkerConfig>;
