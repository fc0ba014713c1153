import type { IngressStats } from '#shared/broker/contract/ingress-stats.ts';
import type { Failure } from '../contract/live.ts';

const maxFailures = 50;

export interface Viewer {
  userId: string;
  isAdmin: boolean;
}

type KeptFailure = IngressStats['failures'][number];

/**
 * The last failures of all ingress nodes that a viewer may see. An administrator sees all failures, and a member sees the failures of their
 * own requests. The failures are serialized at most once for all administrators and once for each member.
 */
export class VisibleFailures {
  readonly #failures: readonly KeptFailure[];
  readonly #byUser: ReadonlyMap<string | undefined, readonly KeptFailure[]>;
  readonly #texts = new Map<string | undefined, string>();

  constructor(stats: readonly IngressStats[]) {
    this.#failures = stats.flatMap(({ failures }) => failures).sort((a, b) => b.at - a.at);
    this.#byUser = Map.groupBy(this.#failures, ({ userId }) => userId);
  }

  /** Returns the JSON of a `Failure[]`, newest first. */
  serializeFor({ userId, isAdmin }: Viewer): string {
    const viewerKey = isAdmin ? undefined : userId;
    let text = this.#texts.get(viewerKey);
    if (text === undefined) {
      const visible = isAdmin ? this.#failures : (this.#byUser.get(userId) ?? []);
      text = JSON.stringify(visible.slice(0, maxFailures).map(removePerson));
      this.#texts.set(viewerKey, text);
    }
    return text;
  }
}

function removePerson({ at, requestId, code, model, tier, worker }: KeptFailure): Failure {
  return { at, requestId, code, model, tier, worker };
}
