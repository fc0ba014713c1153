import type { Broker } from '#shared/broker/connection/connect-broker.ts';
import { announceInTime, announceKeyChange } from '#shared/broker/contract/change-signals.ts';
import type { Logger } from '#shared/core/log.ts';

/**
 * Creates a function that announces a change of a key, person, team or sign-in to every ingress. Its argument is the id of a key,
 * `user:<id>` or `team:<id>` for all keys of a person or team, or `program:<id>` for a sign-in. The function never throws, because the
 * change may be stored already. An ingress that misses the announcement reads a changed key, person or team within 30 seconds, but accepts
 * access tokens until it connects again or they expire.
 * @param invalidate removes what this ingress has cached about the changed key, person, team or sign-in
 */
export function createAnnouncer(broker: Broker, invalidate: (changedId: string) => void, log: Logger) {
  return async (changedId: string): Promise<void> => {
    invalidate(changedId);
    const failure = await announceInTime(announceKeyChange(broker, changedId));
    if (failure !== undefined)
      log.warn({ err: failure, changed: changedId }, 'other ingress nodes may not know of a key change for 30 s');
  };
}
