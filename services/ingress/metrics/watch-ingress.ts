import { Counter, Gauge, type Registry } from 'prom-client';

/** What an ingress holds in memory, in the narrowest form. */
export interface HeldParts {
  held: { bytes: number };
  open: { count: number };
  ledger: { backlog: number; dropped: number };
  limits: { reserved: number; uncommitted: number };
}

/** Adds what an ingress holds: bodies, open requests, and use that is not written down yet. */
export function watchIngress(registry: Registry, { held, open, ledger, limits }: HeldParts): void {
  const watch = (name: string, help: string, read: () => number): void => {
    const gauge: Gauge = new Gauge({ name, help, registers: [registry], collect: () => gauge.set(read()) });
  };
  watch('rtr_held_body_bytes', 'Bytes of request bodies in memory', () => held.bytes);
  watch('rtr_open_requests', 'Requests of clients that are not answered to the last byte yet', () => open.count);
  watch('rtr_usage_backlog', 'Requests that wait to be written into the usage ledger', () => ledger.backlog);
  watch('rtr_limits_reservations', 'Requests in work that an amount is held for against limits', () => limits.reserved);
  watch(
    'rtr_limits_uncommitted',
    'Requests that are over and not counted against limits yet',
    () => limits.uncommitted,
  );
  let counted = 0;
  const dropped: Counter = new Counter({
    name: 'rtr_usage_dropped_total',
    help: 'Requests that were not written into the usage ledger, because Redis was away for too long',
    registers: [registry],
    collect: () => {
      dropped.inc(ledger.dropped - counted);
      counted = ledger.dropped;
    },
  });
}
