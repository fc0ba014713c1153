import { Counter, Gauge, type Registry } from 'prom-client';
import { tryOutcomes, type TryOutcome } from './deliver-due.ts';

const metrics = {
  webhooks: {
    attempts: {
      name: 'rtr_webhook_attempts_total',
      help: 'Attempts to deliver an event to an endpoint: delivered, failed (tried again), dead (given up), or returned by a runner that ended',
    },
    waiting: {
      name: 'rtr_webhook_late_seconds',
      help: 'Longest time for which the delivery of an event has been due; absent while Redis is unreachable',
    },
    delivered: 'delivered',
  },
  mails: {
    attempts: {
      name: 'rtr_alert_mail_attempts_total',
      help: 'Attempts to send an alert by e-mail: sent, failed (tried again), dead (given up), or returned by a runner that ended',
    },
    waiting: {
      name: 'rtr_alert_mails_waiting',
      help: 'Alerts by e-mail that the cluster has not sent yet; absent while Redis is away',
    },
    delivered: 'sent',
  },
};

/**
 * Adds the metrics of a kind of messages.
 * @param readWaiting returns the value of the gauge; may reject while Redis is unreachable
 * @returns a function that counts the outcome of a try
 */
export function registerTryMetrics(
  registry: Registry,
  kind: keyof typeof metrics,
  readWaiting: () => Promise<number>,
): (outcome: TryOutcome) => void {
  const { attempts, waiting, delivered } = metrics[kind];
  const registers = [registry];
  const counter = new Counter({ ...attempts, labelNames: ['outcome'], registers });
  const add = (outcome: TryOutcome, count: number): void =>
    counter.inc({ outcome: outcome === 'delivered' ? delivered : outcome }, count);
  for (const outcome of tryOutcomes) add(outcome, 0);
  const gauge: Gauge = new Gauge({
    ...waiting,
    registers,
    collect: async () => {
      const value = await readWaiting().catch(() => undefined);
      if (value === undefined) gauge.remove();
      else gauge.set(value);
    },
  });
  return (outcome) => add(outcome, 1);
}
