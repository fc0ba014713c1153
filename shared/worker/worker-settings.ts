import { z } from 'zod';
import { brokerSettings } from '#shared/broker/connection/broker-settings.ts';
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
