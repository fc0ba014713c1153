import type { Broker } from '../connection/connect-broker.ts';

/** What a change names: a key's id, or, for all keys of a person or team, `user:<id>` or `team:<id>`. */
const knownChange = /^(?:(?:user|team):.+|[^:]+)$/;

/**
 * Tells every ingress of a change, so that it drops what it knows. Returns when the broker has it.
 * @param changed a key's id, or, for all keys of a person or team, `user:<id>` or `team:<id>`
 */
export async function announceKeyChange(broker: Broker, changed: string): Promise<void> {
  broker.publish(broker.subjects.keys, changed);
  await broker.flush();
}

/**
 * Calls back with everything that changes, as announced by whoever changed it; with undefined for a change of a kind that this
 * release does not know, which may concern any key.
 */
export function onKeyChange(broker: Broker, listener: (changed: string | undefined) => void): void {
  broker.subscribe(broker.subjects.keys, ({ data }) => {
    const changed = Buffer.from(data).toString();
    listener(knownChange.test(changed) ? changed : undefined);
  });
}
