import type { Broker } from '../connection/connect-broker.ts';

/**
 * The content of a key change:
 *
 * - the id of a key;
 * - `user:<id>` or `team:<id>` for everything that a person or team has;
 * - `program:<id>` for a program that was signed out.
 */
const knownChange = /^(?:(?:user|team|program):.+|[^:]+)$/;

/**
 * Signals a change of keys; every dispatcher then looks the keys up again. Resolves when the broker has the message.
 * @param changed the id of a key; `user:<id>` or `team:<id>` for everything that a person or team has; `program:<id>` for a program
 */
export async function announceKeyChange(broker: Broker, changed: string): Promise<void> {
  broker.publish(broker.subjects.keys, changed);
  await broker.flush();
}

/**
 * Calls the listener with each signalled change of keys. A change of a kind that this release does not know calls it with undefined,
 * because it may concern any key.
 */
export function onKeyChange(broker: Broker, listener: (changed: string | undefined) => void): void {
  broker.subscribe(broker.subjects.keys, ({ data }) => {
    const changed = Buffer.from(data).toString();
    listener(knownChange.test(changed) ? changed : undefined);
  });
}

/** Signals a change of prices; every dispatcher then reads them again. Resolves when the broker has the message. */
export async function announcePriceChange(broker: Broker): Promise<void> {
  broker.publish(broker.subjects.prices, '');
  await broker.flush();
}

/** Calls the listener for each signalled change of prices, whatever a later release adds to the message. */
export function onPriceChange(broker: Broker, listener: () => void): void {
  broker.subscribe(broker.subjects.prices, () => listener());
}

/** Signals a change of the stored registry to every process that serves requests. Resolves when the broker has the message. */
export async function announceRegistryChange(broker: Broker): Promise<void> {
  broker.publish(broker.subjects.registry, '');
  await broker.flush();
}

/** Calls the listener for each signalled change of the stored registry, whatever a later release adds to the message. */
export function onRegistryChange(broker: Broker, listener: () => void): void {
  broker.subscribe(broker.subjects.registry, () => listener());
}
