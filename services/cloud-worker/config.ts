import { z } from 'zod';
import { setting } from '#shared/core/load-config.ts';
import { relaySettings } from '#shared/worker/relay-settings.ts';
import { workerSettings } from '#shared/worker/worker-settings.ts';
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
  MODELS_REFRESH_MS: setting.integer(
    'Approximate interval of reading the list of models, in milliseconds',
    600_000,
    100,
    86_400_000,
  ),
  COALESCE_MS: setting.integer(
    'Window in which fragments of a stream are sent together, in milliseconds; 0 sends each by itself',
    5,
    0,
    1000,
  ),
  CONNECT_TIMEOUT_MS: setting.integer('Timeout for a connection to the provider, in milliseconds', 5000, 50, 60_000),
  ...relaySettings,
  ...workerSettings,
});

export type CloudWorkerConfig = z.output<typeof cloudWorkerConfig>;
