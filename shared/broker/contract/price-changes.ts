import type { Broker } from '../connection/connect-broker.ts';

/** Tells every ingress that prices changed, so that it reads them again. Returns when the broker has it. */
export async function announcePriceChange(broker: Broker): Promise<void> {
  broker.publish(broker.subjects.prices, '');
  await broker.flush();
}

/** Calls back whenever prices change, as announced by whoever changed them. */
export function onPriceChange(broker: Broker, listener: () => void): void {
  broker.subscribe(broker.subjects.prices, () => listener());
}
