import type { IngressStats } from '#shared/broker/contract/ingress-stats.ts';
import type { Failure } from '../contract/live.ts';

const maxFailures = 50;

export interface Viewer {
  userId: string;
  isAdmin: boolean;
}

type KeptFailure = IngressStats['failures'][number];

/**
 * The last failures of all ingress nodes, as each viewer may see them. An administrator sees all failures, and a member sees those of their
 * own requests. The failures are serialized at most once for all administrators and once for each member.
 */
export class VisibleFailures {
  readonly #all: readonly KeptFailure[];
  readonly #byUser: ReadonlyMap<string | undefined, readonly KeptFailure[]>;
  readonly #texts = new Map<string | undefined, string>();

  constructor(stats: readonly IngressStats[]) {
    this.#all = stats.flatMap(({ failures }) => failures).sort((a, b) => b.at - a.at);
    this.#byUser = Map.groupBy(this.#all, ({ userId }) => userId);
  }

  /** Returns the JSON of a `Failure[]`, newest first. */
  serializeFor({ userId, isAdmin }: Viewer): string {
    const viewerKey = isAdmin ? undefined : userId;
    let text = this.#texts.get(viewerKey);
    if (text === undefined) {
      const visible = isAdmin ? this.#all : (this.#byUser.get(userId) ?? []);
      text = JSON.stringify(visible.slice(0, maxFailures).map(withoutPerson));
      this.#texts.set(viewerKey, text);
    }
    return text;
  }
}

/** Returns a failure without the id of the person who sent the request. */
function withoutPerson({ at, requestId, code, model, tier, worker }: KeptFailure): Failure {
  return { at, requestId, code, model, tier, worker };
}
