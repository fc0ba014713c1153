import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Broker } from '../../connection/connect-broker.ts';
import type { JobRequest } from '../job-request.ts';

/** Milliseconds for which a body is refused after two workers have died on it. */
const refusedMs = 10 * 60_000;

/** Maximum refused bodies. Beyond it, the body that was requested least recently is accepted again. */
const maxRefused = 10_000;

const digestPattern = /^[\w-]{43}$/;

/**
 * The digests of the bodies on which two workers have died. All dispatchers share them. A digest includes the owner of the request, so that
 * no owner's request is refused because of the request of another owner.
 */
export class RefusedBodies {
  readonly #broker: Broker;
  /** Expired entries are removed at once. While there are none, no body is hashed. */
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
    return this.#digests.size > 0 && this.hasDigest(computeBodyDigest(request, body));
  }

  hasDigest(digest: string): boolean {
    return this.#digests.has(digest);
  }

  /** Refuses bodies with this digest from now on, at every dispatcher. */
  refuse(digest: string): void {
    this.#digests.set(digest, true);
    this.#broker.publish(this.#broker.subjects.refusedBodies, digest);
  }
}

/** Computes the digest of a request from its owner, operation, format and body, in 43 characters. */
export function computeBodyDigest({ sender, operation, format }: JobRequest, body: Buffer): string {
  const facts = JSON.stringify([sender.owner, operation, format]);
  return createHash('sha256').update(facts).update(body).digest('base64url');
}
