import { Counter, type Registry } from 'prom-client';
import type { KeyedOutcome } from '../idempotency/idempotency-parts.ts';

const outcomes: readonly KeyedOutcome[] = ['executed', 'joined', 'replayed', 'resumed', 'abandoned'];

export function createKeyedCounter(registry: Registry): (outcome: KeyedOutcome) => void {
  const counter = new Counter({
    name: 'rtr_idempotent_requests_total',
    help: 'Requests with an idempotency key: executed, joined to a running execution, replayed, or resumed after an event; and executions abandoned because no client waited',
    labelNames: ['outcome'],
    registers: [registry],
  });
  for (const outcome of outcomes) counter.inc({ outcome }, 0);
  return (outcome) => counter.inc({ outcome });
}
