import { z } from 'zod';
import { logSettings, setting } from '#shared/core/load-config.ts';
import { isNetwork } from '#shared/public-fetch/networks.ts';
import { servingSettings } from '#shared/serving/open/serving-settings.ts';
import { mailSettings } from './mail/mail-settings.ts';

const factor = /^\d{1,3}(?:\.\d{1,4})?$/;

const networksDoc =
  'Addresses or networks such as `10.0.0.0/8`, besides the public internet, that webhooks may be sent to';

/** Settings of the batch runner. Times are in milliseconds. */
export const batchRunnerConfig = z.object({
  ADMIN_PORT: setting.optionalInteger(
    'Port of `/metrics`, `/health` and `/live` for operators; none if unset',
    0,
    65_535,
  ),
  ADMIN_HOST: setting.text('Address on which the admin port listens', '127.0.0.1'),
  ...servingSettings,
  BATCH_PRICE_FACTOR: z
    .string()
    .regex(factor, 'must be a number such as 0.5')
    .transform(Number)
    .default(1)
    .describe('Factor by which prices are multiplied for requests of batches'),
  WEBHOOK_NETWORKS: setting
    .list(networksDoc)
    .refine((list) => list.every(isNetwork), 'each must be an address or a network such as 10.0.0.0/8')
    .describe(networksDoc),
  ...mailSettings,
  USAGE_EXPORT_TEAM: setting.optionalText(
    'Name or id of the team that gets a file with the usage of each day, at 01:00 UTC of the next; no files are written if unset',
  ),
  ...logSettings,
});
