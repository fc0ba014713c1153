import { setTimeout as sleep } from 'node:timers/promises';
import type { Broker } from '../connection/connect-broker.ts';

/** Milliseconds within which the broker must accept a signal. */
const announceTimeoutMs = 1_000;

/** The payload of a key change, see `announceKeyChange`. */
const keyChangePattern = /^(?:(?:user|team|program):.+|[^:]+)$/;

/**
 * Signals a change of keys; every dispatcher then looks the keys up again. Resolves when the broker has received the signal.
 * @param change the id of a key; `user:<id>` or `team:<id>` for everything that a person or team has; `program:<id>` for a program that was
 * signed out
 */
export async function announceKeyChange(broker: Broker, change: string): Promise<void> {
  broker.publish(broker.subjects.keys, change);
  await broker.flush();
}

/**
 * Calls the listener with each signalled change of keys, see `announceKeyChange`. If this release does not know the kind of change, calls
 * the listener with undefined, because the change may concern any key.
 */
export function onKeyChange(broker: Broker, listener: (change: string | undefined) => void): void {
  broker.subscribe(broker.subjects.keys, ({ data }) => {
    const change = Buffer.from(data).toString();
    listener(keyChangePattern.test(change) ? change : undefined);
  });
}

/** Signals a change of prices; every dispatcher then reads the prices again. Resolves when the broker has received the signal. */
export async function announcePriceChange(broker: Broker): Promise<void> {
  broker.publish(broker.subjects.prices, '');
  await broker.flush();
}

/** Calls the listener for each signalled change of prices. Ignores the payload, which a later release may fill. */
export function onPriceChange(broker: Broker, listener: () => void): void {
  broker.subscribe(broker.subjects.prices, () => listener());
}

/** Signals a change of the stored registry to every process that serves requests. Resolves when the broker has received the signal. */
export async function announceRegistryChange(broker: Broker): Promise<void> {
  broker.publish(broker.subjects.registry, '');
  await broker.flush();
}

/** Calls the listener for each signalled change of the stored registry. Ignores the payload, which a later release may fill. */
export function onRegistryChange(broker: Broker, listener: () => void): void {
  broker.subscribe(broker.subjects.registry, () => listener());
}

/**
 * Waits at most a second until the broker has accepted the signal about a stored change. A process that misses the signal sees the
 * change when it next reads the store. Never throws.
 * @param announcing resolves when the broker has accepted the signal
 * @returns undefined if the broker has accepted the signal in time, otherwise the error
 */
export async function announceInTime(announcing: Promise<void>): Promise<unknown> {
  const timeout = sleep(announceTimeoutMs, undefined, { ref: false }).then(
    () => new Error('the broker does not answer'),
  );
  return Promise.race([announcing, timeout]).catch((error: unknown) => error);
}
