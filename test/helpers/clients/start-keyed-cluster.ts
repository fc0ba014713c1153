import { startCluster, type Cluster } from '../cluster/start-cluster.ts';
import { startRedis } from '../servers/start-redis.ts';
import type { TestServer } from '../servers/test-server.ts';
import { until } from '../until.ts';
import { chat, newKey, post } from './keyed-requests.ts';

/** A cluster with two ingress nodes and a Redis of its own, for requests with idempotency keys while Redis is away. */
export interface KeyedCluster {
  cluster: Cluster;
  redis: TestServer;
  /** The second ingress node. */
  otherUrl: string;
  /** Sends a request with an idempotency key. @param url of the ingress; default: the first one */
  send: (key: string, body: object, url?: string) => Promise<Response>;
  /** Waits until both ingress nodes serve such requests. */
  untilServed: () => Promise<void>;
  stop: () => Promise<void>;
}

export async function startKeyedCluster(): Promise<KeyedCluster> {
  const redis = await startRedis();
  const cluster = await startCluster({ redisUrl: redis.url });
  const { url: otherUrl } = await cluster.addIngress();
  const send: KeyedCluster['send'] = (key, body, url = cluster.url) =>
    post({ url, key: cluster.key, body, headers: { 'idempotency-key': key } });
  return {
    cluster,
    redis,
    otherUrl,
    send,
    untilServed: async () => {
      for (const url of [cluster.url, otherUrl])
        await until(async () => (await send(newKey(), chat('tokens=3'), url)).status === 200);
    },
    stop: async () => {
      await cluster.stop();
      await redis.stop();
    },
  };
}
