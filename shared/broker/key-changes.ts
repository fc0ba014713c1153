import type { Broker } from './connect-broker.ts';

/** Tells every ingress that a key changed, so that it drops what it knows of it. Returns when the broker has it. */
export async function announceKeyChange(broker: Broker, keyId: string): Promise<void> {
  broker.publish(broker.subjects.keys, keyId);
  await broker.flush();
}

/** Calls back with the id of every key that changes, as announced by whoever changed it. */
export function onKeyChange(broker: Broker, listener: (keyId: string) => void): void {
  broker.subscribe(broker.subjects.keys, ({ data }) => listener(Buffer.from(data).toString()));
}
