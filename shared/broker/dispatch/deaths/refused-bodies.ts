import { hash } from 'node:crypto';
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
    return this.#until.size > 0 && this.hasDigest(digestOf(request, body), now);
  }

  hasDigest(digest: string, now = performance.now()): boolean {
    const until = this.#until.get(digest);
    if (until === undefined) return false;
    if (now < until) return true;
    this.#until.delete(digest);
    return false;
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
    for (const [oldest, until] of this.#until) {
      if (now < until && this.#until.size <= maxRefused) break;
      this.#until.delete(oldest);
    }
  }
}

/** Identifies a request of one owner by operation and body, in 43 letters. */
export function digestOf({ owner = '', operation, format }: JobRequest, body: Buffer): string {
  const facts = JSON.stringify([owner, operation, format]);
  return hash('sha256', Buffer.concat([Buffer.from(facts), body]), 'base64url');
}
