import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Broker } from '../../connection/connect-broker.ts';
import type { JobRequest } from '../job-request.ts';

/** Milliseconds for which a body is refused after two workers have died on it. */
const refusedMs = 10 * 60_000;

/** Bodies that are refused at most; beyond it the one that was not asked for longest is served again. */
const maxRefused = 10_000;

/** A digest as it travels. */
const digestPattern = /^[\w-]{43}$/;

/**
 * The bodies that two workers have died on, by digest. Every ingress is told of them. The digest contains the owner, so that
 * nobody's requests are refused for those of another one.
 */
export class RefusedBodies {
  readonly #broker: Broker;
  /** Empties itself, so that no body is hashed for those of long ago. */
  readonly #digests = new LRUCache<string, true>({ max: maxRefused, ttl: refusedMs, ttlAutopurge: true });
  readonly #stop: () => void;

  constructor(broker: Broker) {
    this.#broker = broker;
    const subscription = broker.subscribe(broker.subjects.refusedBodies, ({ data }) => {
      const digest = Buffer.from(data).toString();
      if (digestPattern.test(digest)) this.#digests.set(digest, true);
    });
    this.#stop = () => subscription.unsubscribe();
  }

  close(): void {
    this.#stop();
    this.#digests.clear();
  }

  /** Whether two workers have died on this body. Costs nothing while there is no such body. */
  has(request: JobRequest, body: Buffer): boolean {
    return this.#digests.size > 0 && this.hasDigest(digestOf(request, body));
  }

  hasDigest(digest: string): boolean {
    return this.#digests.has(digest);
  }

  /** Refuses a body, at every ingress. */
  refuse(digest: string): void {
    this.#digests.set(digest, true);
    this.#broker.publish(this.#broker.subjects.refusedBodies, digest);
  }
}

/** Identifies a request of one owner by operation and body, in 43 letters. */
export function digestOf({ sender, operation, format }: JobRequest, body: Buffer): string {
  const facts = JSON.stringify([sender.owner, operation, format]);
  return createHash('sha256').update(facts).update(body).digest('base64url');
}
