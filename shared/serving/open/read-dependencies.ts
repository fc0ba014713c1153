/** Whether the servers that a dispatching process depends on work for it. */
export interface DependencyHealth {
  nats: boolean;
  redis: boolean;
  /**
   * `lost`: the account store was emptied or replaced, and no operator has confirmed that. `read_only`: Redis answers, and refuses writes, as
   * when its memory or its disk is full.
   */
  store: 'intact' | 'lost' | 'read_only';
}

export interface DependencyParts {
  broker: { connected: boolean };
  redis: { ready(): Promise<boolean> };
  store: { isLost: boolean };
  writes: { areRefused: boolean };
}

/** Reads the state of broker, Redis and store, and whether all of them work. Resolves within about a second, also when Redis hangs. */
export async function readDependencies({
  broker,
  redis,
  store,
  writes,
}: DependencyParts): Promise<{ areWell: boolean; health: DependencyHealth }> {
  const nats = broker.connected;
  const answers = await redis.ready();
  const state = store.isLost ? 'lost' : writes.areRefused ? 'read_only' : 'intact';
  return { areWell: nats && answers && state === 'intact', health: { nats, redis: answers, store: state } };
}
