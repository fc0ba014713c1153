/** The health of the servers that a dispatching process depends on. */
export interface DependencyHealth {
  nats: boolean;
  redis: boolean;
  /**
   * `lost`: the account store was emptied or replaced, and no operator has confirmed this. `read_only`: Redis answers but refuses writes,
   * for example because its memory or its disk is full.
   */
  store: 'intact' | 'lost' | 'read_only';
}

export interface DependencyParts {
  broker: { connected: boolean };
  redis: { ready(): Promise<boolean> };
  store: { isLost: boolean };
  writes: { areRefused: boolean };
}

/** Reads the health of broker, Redis and store. Resolves within about a second, even if Redis hangs. */
export async function readDependencies({
  broker,
  redis,
  store,
  writes,
}: DependencyParts): Promise<{ areHealthy: boolean; health: DependencyHealth }> {
  const nats = broker.connected;
  const isRedisReady = await redis.ready();
  const state = store.isLost ? 'lost' : writes.areRefused ? 'read_only' : 'intact';
  return {
    areHealthy: nats && isRedisReady && state === 'intact',
    health: { nats, redis: isRedisReady, store: state },
  };
}
