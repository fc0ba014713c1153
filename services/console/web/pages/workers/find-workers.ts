import type { Tier } from '#shared/core/tier.ts';
import type { GoneWorker, LiveWorkerFacts, WorkerState } from '../../../contract/live.ts';

export interface WorkerSearch {
  text: string;
  tier: Tier | undefined;
  state: ShownState | undefined;
}

/** The state that the page shows. `drained`: the worker is draining and has no request left. */
export type ShownState = WorkerState | 'drained';

export const emptySearch: WorkerSearch = { text: '', tier: undefined, state: undefined };

export function findShownState({ state, safeToStop }: Pick<LiveWorkerFacts, 'state' | 'safeToStop'>): ShownState {
  return safeToStop ? 'drained' : state;
}

/**
 * Returns the workers that match a search. Each word of the search's text must occur in the worker's id, tier, models, tools, pool or host.
 */
export function findWorkers(workers: readonly LiveWorkerFacts[], search: WorkerSearch): readonly LiveWorkerFacts[] {
  const { tier, state } = search;
  const words = splitWords(search.text);
  if (words.length === 0 && tier === undefined && state === undefined) return workers;
  return workers.filter(
    (worker) =>
      (tier === undefined || worker.tier === tier) &&
      (state === undefined || findShownState(worker) === state) &&
      hasWords([worker.id, worker.tier, worker.pool, worker.host ?? '', ...worker.models, ...worker.tools], words),
  );
}

/** Returns the gone workers that match a search. The search's state is ignored, because gone workers have none. */
export function findGoneWorkers(workers: readonly GoneWorker[], { text, tier }: WorkerSearch): readonly GoneWorker[] {
  const words = splitWords(text);
  return workers.filter(
    (worker) =>
      (tier === undefined || worker.tier === tier) &&
      hasWords([worker.id, worker.tier, worker.pool, worker.host ?? '', ...worker.serves], words),
  );
}

function splitWords(text: string): string[] {
  return text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
}

function hasWords(texts: readonly string[], words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const text = texts.join('\n').toLowerCase();
  return words.every((word) => text.includes(word));
}
