import type { LiveWorkerFacts } from '../contract/live.ts';

/**
 * The workers as they were last sent to pages, each as JSON. Changes are found by comparing the JSON, so each worker is serialized once.
 */
export class SentWorkers {
  #texts = new Map<string, string>();

  /**
   * Replaces the workers with the current workers.
   * @returns a WorkersChange in JSON; undefined if no worker has changed
   */
  update(workers: readonly LiveWorkerFacts[]): string | undefined {
    const texts = new Map<string, string>();
    const changed: string[] = [];
    for (const worker of workers) {
      const text = JSON.stringify(worker);
      texts.set(worker.id, text);
      if (this.#texts.get(worker.id) !== text) changed.push(text);
    }
    const gone = [...this.#texts.keys()].filter((id) => !texts.has(id));
    this.#texts = texts;
    if (changed.length === 0 && gone.length === 0) return undefined;
    return `{"changed":[${changed.join(',')}],"gone":${JSON.stringify(gone)}}`;
  }

  /** Returns all workers as JSON. */
  toJson(): string {
    return `[${[...this.#texts.values()].join(',')}]`;
  }
}
