import type { Broker } from '#shared/broker/connection/connect-broker.ts';
import { onPulse, publishPulse, type Pulse } from '#shared/broker/contract/ingress-stats.ts';

const pulseMs = 1_000;

/** Milliseconds after which an ingress that tells nothing is gone: three missed pulses and a little. */
const goneAfterMs = 3_300;

/** Ingress nodes that are listened to at most. */
const maxIngresses = 1_000;

/** Tells everyone each second what this ingress has counted, and keeps the last that every ingress has told. */
export class PulseBoard {
  readonly #heard = new Map<string, { pulse: Pulse; at: number }>();
  readonly #stop: () => void;

  constructor(broker: Broker, ingress: string, read: () => Pulse) {
    const unsubscribe = onPulse(broker, (from, pulse) => {
      if (this.#heard.has(from) || this.#heard.size < maxIngresses) {
        this.#heard.set(from, { pulse, at: performance.now() });
      }
    });
    const timer = setInterval(() => publishPulse(broker, ingress, read()), pulseMs);
    this.#stop = () => {
      clearInterval(timer);
      unsubscribe();
    };
  }

  /** The last pulse of each ingress that lives. */
  current(): Pulse[] {
    const oldest = performance.now() - goneAfterMs;
    for (const [ingress, { at }] of this.#heard) if (at < oldest) this.#heard.delete(ingress);
    return Array.from(this.#heard.values(), ({ pulse }) => pulse);
  }

  close(): void {
    this.#stop();
  }
}
