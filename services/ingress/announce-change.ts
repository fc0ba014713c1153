import type { Broker } from '#shared/broker/connection/connect-broker.ts';
import { announceInTime } from '#shared/broker/contract/announce-in-time.ts';
import { announceKeyChange } from '#shared/broker/contract/change-signals.ts';
import type { Logger } from '#shared/core/log.ts';

/**
 * Returns a function that announces to every ingress that a key (by its id), all of `user:<id>` or `team:<id>`, or the sign-in
 * `program:<id>` has changed. It never throws: the change is already stored, and an ingress that misses the announcement finds it later.
 * @param drop has this ingress forget what it knows of the change
 */
export function announcer(broker: Broker, drop: (changed: string) => void, log: Logger) {
  return async (changed: string): Promise<void> => {
    drop(changed);
    const failure = await announceInTime(announceKeyChange(broker, changed));
    if (failure !== undefined)
      log.warn({ err: failure, changed }, 'other ingress nodes may not know of a key change for 30 s');
  };
}
