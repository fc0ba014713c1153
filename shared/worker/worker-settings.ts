import { z } from 'zod';
import { brokerSettings } from '#shared/broker/connection/broker-settings.ts';
import { setting } from '#shared/core/load-config.ts';

/** The settings that every kind of worker has: where the cluster is, who the worker is in it, its admin port and its log. */
export const workerSettings = {
  ...brokerSettings,
  RTR_PREFIX: setting.pathSegment(
    "What the cluster's subjects on the broker begin with; a credential knows it itself.",
    'rtr',
  ),
  WORKER_ID: z
    .string()
    .regex(/^[\w-]{1,64}$/)
    .optional()
    .describe("The worker's name in the cluster, random when unset."),
  ADMIN_PORT: setting.optionalInteger('Port of /metrics, /health and /live for operators; none when unset.', 0, 65_535),
  ADMIN_HOST: setting.text('Address of the admin port.', '127.0.0.1'),
  LOG_LEVEL: setting.choice('Least severe log lines to print.', 'info', ['trace', 'debug', 'info', 'warn', 'error']),
  LOG_FORMAT: setting.choice('How log lines look: auto is pretty in a terminal.', 'auto', ['auto', 'json', 'pretty']),
};
