import { Counter, Gauge, type Registry } from 'prom-client';
import { tryOutcomes, type TryOutcome } from './deliver-webhook.ts';

/**
 * Adds the metrics of webhooks.
 * @param readLateMs returns the age of the oldest due delivery in milliseconds; may reject while Redis is unreachable
 * @returns a function that counts the outcome of a try
 */
export function registerWebhookMetrics(
  registry: Registry,
  readLateMs: () => Promise<number>,
): (outcome: TryOutcome) => void {
  const attempts = new Counter({
    name: 'rtr_webhook_attempts_total',
    help: 'Attempts to deliver an event to an endpoint: delivered, failed (tried again), dead (given up), or returned by a runner that ended',
    labelNames: ['outcome'],
    registers: [registry],
  });
  for (const outcome of tryOutcomes) attempts.inc({ outcome }, 0);
  const late: Gauge = new Gauge({
    name: 'rtr_webhook_late_seconds',
    help: 'Longest time for which the delivery of an event has been due; absent while Redis is unreachable',
    registers: [registry],
    collect: async () => {
      const ms = await readLateMs().catch(() => undefined);
      if (ms === undefined) late.remove();
      else late.set(ms / 1000);
    },
  });
  return (outcome) => attempts.inc({ outcome });
}
