import { createHash } from 'node:crypto';
import type { Broker } from '../../connection/connect-broker.ts';
import type { JobRequest } from '../job.ts';

/** Milliseconds for which a body is refused after two workers have died on it. */
const refusedMs = 10 * 60_000;

/** Bodies that are refused at most; beyond it the one that was added first is served again. */
const maxRefused = 10_000;

/** A digest as it travels. */
const digestPattern = /^[\w-]{43}$/;

/**
 * The bodies that two workers have died on, by digest. Every ingress is told of them. The digest contains the owner, so that
 * nobody's requests are refused for those of another one.
 */
export class RefusedBodies {
  readonly #broker: Broker;
  /** When each digest is served again, in milliseconds of `performance.now()`. The one that was added first comes first. */
  readonly #until = new Map<string, number>();
  readonly #stop: () => void;

  constructor(broker: Broker) {
    this.#broker = broker;
    const subscription = broker.subscribe(broker.subjects.refusedBodies, ({ data }) => {
      const digest = Buffer.from(data).toString();
      if (digestPattern.test(digest)) this.#add(digest);
    });
    this.#stop = () => subscription.unsubscribe();
  }

  close(): void {
    this.#stop();
  }

  /** Whether two workers have died on this body. Costs nothing while there is no such body. */
  has(request: JobRequest, body: Buffer, now = performance.now()): boolean {
    this.#dropExpired(now);
    return this.#until.size > 0 && this.hasDigest(digestOf(request, body), now);
  }

  hasDigest(digest: string, now = performance.now()): boolean {
    const until = this.#until.get(digest);
    return until !== undefined && now < until;
  }

  /** Refuses a body, at every ingress. */
  refuse(digest: string): void {
    this.#add(digest);
    this.#broker.publish(this.#broker.subjects.refusedBodies, digest);
  }

  #add(digest: string): void {
    const now = performance.now();
    this.#until.delete(digest);
    this.#until.set(digest, now + refusedMs);
    this.#dropExpired(now);
    for (const oldest of this.#until.keys()) {
      if (this.#until.size <= maxRefused) break;
      this.#until.delete(oldest);
    }
  }

  /** All are refused for as long, so the one that was added first expires first. */
  #dropExpired(now: number): void {
    for (const [digest, until] of this.#until) {
      if (now < until) break;
      this.#until.delete(digest);
    }
  }
}

/** Identifies a request of one owner by operation and body, in 43 letters. */
export function digestOf({ sender, operation, format }: JobRequest, body: Buffer): string {
  const facts = JSON.stringify([sender.owner, operation, format]);
  return createHash('sha256').update(facts).update(body).digest('base64url');
}
