import type { Broker } from '../connection/connect-broker.ts';

/**
 * What a change names: a key's id; for all that a person or team has, `user:<id>` or `team:<id>`; for a program that is signed out,
 * `program:<id>`.
 */
const knownChange = /^(?:(?:user|team|program):.+|[^:]+)$/;

/**
 * Announces a change of keys to every ingress, which then looks them up again. Resolves when the broker has it.
 * @param changed a key's id; for all that a person or team has, `user:<id>` or `team:<id>`; for a program, `program:<id>`
 */
export async function announceKeyChange(broker: Broker, changed: string): Promise<void> {
  broker.publish(broker.subjects.keys, changed);
  await broker.flush();
}

/**
 * Calls back with each change of keys that is announced; with undefined for a change of a kind that this release does not
 * know, which may concern any key.
 */
export function onKeyChange(broker: Broker, listener: (changed: string | undefined) => void): void {
  broker.subscribe(broker.subjects.keys, ({ data }) => {
    const changed = Buffer.from(data).toString();
    listener(knownChange.test(changed) ? changed : undefined);
  });
}

/** Announces a change of prices to every ingress, which then reads them again. Resolves when the broker has it. */
export async function announcePriceChange(broker: Broker): Promise<void> {
  broker.publish(broker.subjects.prices, '');
  await broker.flush();
}

/** Calls back with each change of prices that is announced, whatever a later release adds to the message. */
export function onPriceChange(broker: Broker, listener: () => void): void {
  broker.subscribe(broker.subjects.prices, () => listener());
}

/** Announces a change of the stored registry to every part that serves requests. Resolves when the broker has it. */
export async function announceRegistryChange(broker: Broker): Promise<void> {
  broker.publish(broker.subjects.registry, '');
  await broker.flush();
}

/** Calls back with each change of the stored registry that is announced, whatever a later release adds to the message. */
export function onRegistryChange(broker: Broker, listener: () => void): void {
  broker.subscribe(broker.subjects.registry, () => listener());
}
