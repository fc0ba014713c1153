import { z } from 'zod';
import { backgroundSettings } from '#shared/accounts/background-responses/background-settings.ts';
import { batchSettings } from '#shared/accounts/batches/batch-settings.ts';
import { setting } from '#shared/core/load-config.ts';
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
  ...batchSettings,
  ...backgroundSettings,
  BACKGROUND_AT_ONCE: setting.integer(
    'Responses in the background that this runner makes at the same time, one owner’s up to half of them; further ones wait in the queue',
    256,
    1,
    10_000,
  ),
  BATCH_SLICES: setting.integer('Slices of batches, of up to 100 requests each, at the same time', 8, 1, 1_000),
  BATCH_LINES: setting.integer(
    'Most requests of batches at the same time, however many slots are free',
    256,
    1,
    100_000,
  ),
  BATCH_ATTEMPTS: setting.integer(
    'Most executions of a request if each of them ends with an error of the request itself',
    3,
    1,
    100,
  ),
  BATCH_YIELD_MS: setting.integer(
    'Time for which a slot is left to live requests after one of them has taken it from a batch',
    10_000,
    0,
    3_600_000,
  ),
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
  ALERT_ERROR_PERCENT: setting.integer(
    'Percentage of the requests of five minutes, at least 20, above which failures of the router and of upstreams are reported',
    20,
    1,
    100,
  ),
  USAGE_EXPORT_TEAM: setting.optionalText(
    'Name or id of the team that gets a file with the usage of each day; no files are written if unset',
  ),
  USAGE_EXPORT_HOUR: setting.integer('Hour of the day (UTC) at which the file of the day before is written', 1, 0, 23),
  LOG_LEVEL: setting.choice(
    'Least severe level of log lines to print: `trace`, `debug`, `info`, `warn`, `error` or `fatal`',
    'info',
    ['trace', 'debug', 'info', 'warn', 'error', 'fatal'],
  ),
  LOG_FORMAT: setting.choice(
    'Format of log lines: `json`, `pretty`, or `auto` (pretty in a terminal, else JSON)',
    'auto',
    ['auto', 'json', 'pretty'],
  ),
});
