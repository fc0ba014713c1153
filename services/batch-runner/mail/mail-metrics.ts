import { Counter, Gauge, type Registry } from 'prom-client';
import { mailOutcomes, type MailOutcome } from './deliver-mail.ts';

/**
 * Adds the metrics of alerts by e-mail.
 * @param countUnsent returns the number of unsent mails; may reject while Redis is unreachable
 * @returns a function that counts the outcome of a try
 */
export function registerMailMetrics(
  registry: Registry,
  countUnsent: () => Promise<number>,
): (outcome: MailOutcome) => void {
  const attempts = new Counter({
    name: 'rtr_alert_mail_attempts_total',
    help: 'Attempts to send an alert by e-mail: sent, failed (tried again), dead (given up), or returned by a runner that ended',
    labelNames: ['outcome'],
    registers: [registry],
  });
  for (const outcome of mailOutcomes) attempts.inc({ outcome }, 0);
  const gauge: Gauge = new Gauge({
    name: 'rtr_alert_mails_waiting',
    help: 'Alerts by e-mail that the cluster has not sent yet; absent while Redis is away',
    registers: [registry],
    collect: async () => {
      const count = await countUnsent().catch(() => undefined);
      if (count === undefined) gauge.remove();
      else gauge.set(count);
    },
  });
  return (outcome) => attempts.inc({ outcome });
}
