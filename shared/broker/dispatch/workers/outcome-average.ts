/** Milliseconds in which the weight of an outcome halves. */
const halfLifeMs = 10_000;

/** Maximum milliseconds between two consecutive faults in a row. */
const maxRowGapMs = 30_000;

/** The kinds of faults of a job: the worker fails, refuses the request, or returns the job. */
export type Fault = 'failure' | 'refusal' | 'return';

interface FaultCount {
  weight: number;
  /** The number of faults since the last good job. */
  inRow: number;
  countedAt: number;
  comparedAt: number;
  /** The result of the last comparison: whether the worker has faults that its peers do not have. */
  standsOut: boolean;
}

/**
 * Averages of the recent jobs of one worker with one model. The weight of a job halves every ten seconds. Times are milliseconds of
 * `performance.now()`.
 */
export class OutcomeAverage {
  #good = 0;
  #firstTokens = 0;
  #firstTokenMs = 0;
  #decayedAt = 0;
  #firstTokensComparedAt = 0;
  readonly #faults: Record<Fault, FaultCount> = {
    failure: createFaultCount(),
    refusal: createFaultCount(),
    return: createFaultCount(),
  };

  countGoodJob(now: number): void {
    this.#decay(now);
    this.#good += 1;
    this.#endRuns();
  }

  countFault(kind: Fault, now: number): void {
    this.#decay(now);
    const fault = this.#faults[kind];
    fault.weight += 1;
    fault.inRow = (now - fault.countedAt < maxRowGapMs ? fault.inRow : 0) + 1;
    fault.countedAt = now;
  }

  /**
   * Counts a returned job, unless the worker got the job before it returned another one: a worker that stops, or has lost its connection,
   * returns all its jobs, and gets no further ones.
   */
  countReturn(assignedAt: number, now: number): void {
    if (assignedAt >= this.#faults.return.countedAt) this.countFault('return', now);
  }

  /** Counts the milliseconds from a grant or offer to the first piece of a streamed answer. */
  countFirstToken(ms: number, now: number): void {
    this.#decay(now);
    this.#firstTokens += 1;
    this.#firstTokenMs += ms;
  }

  /**
   * Whether the worker stands out among its peers with faults of this kind. Returns the last result of `compare` if it is less than
   * `validMs` milliseconds old; otherwise calls `compare`.
   */
  standsOut(kind: Fault, now: number, validMs: number, compare: () => boolean): boolean {
    const fault = this.#faults[kind];
    if (now - fault.comparedAt >= validMs) {
      fault.comparedAt = now;
      fault.standsOut = compare();
    }
    return fault.standsOut;
  }

  /** Whether the worker's refusals stood out when they were last compared, and the worker has served no job since. */
  get refusesAlone(): boolean {
    return this.#faults.refusal.standsOut;
  }

  /**
   * Records a comparison of the worker's first tokens with the first tokens of its peers, unless the last comparison is too recent.
   * @param minIntervalMs minimum milliseconds between two comparisons
   * @returns whether the comparison must be made
   */
  recordFirstTokenComparison(now: number, minIntervalMs: number): boolean {
    if (now - this.#firstTokensComparedAt < minIntervalMs) return false;
    this.#firstTokensComparedAt = now;
    return true;
  }

  /** Removes a refusal from the faults, because the request turned out to be bad. */
  takeBackRefusal(): void {
    const { refusal } = this.#faults;
    refusal.weight = Math.max(0, refusal.weight - 1);
    refusal.inRow = Math.max(0, refusal.inRow - 1);
  }

  /** Clears all faults after the worker has shown that it serves again. */
  clearFaults(): void {
    this.#endRuns();
    for (const fault of Object.values(this.#faults)) fault.weight = 0;
  }

  /** Drops the times to the first token, so that old slow times do not count against a worker that has recovered. */
  clearFirstTokens(): void {
    this.#firstTokens = 0;
    this.#firstTokenMs = 0;
  }

  /** Returns the number of faults of a kind since the last good job. */
  countFaultsInRow(kind: Fault): number {
    return this.#faults[kind].inRow;
  }

  /** Returns the number of recent jobs that were not returned, each with its present weight. */
  computeWeight(now: number): number {
    this.#decay(now);
    return this.#good + this.#faults.failure.weight + this.#faults.refusal.weight;
  }

  /** Returns the share of recent jobs with this fault, 0 to 1; 0 without jobs. */
  computeShare(kind: Fault, now: number): number {
    const weight = this.computeWeight(now);
    return weight === 0 ? 0 : this.#faults[kind].weight / weight;
  }

  /** Returns the number of recent first tokens, each with its present weight. */
  countFirstTokens(now: number): number {
    this.#decay(now);
    return this.#firstTokens;
  }

  /** Mean milliseconds to the first token of recent jobs; undefined if there are none. */
  get firstTokenMs(): number | undefined {
    return this.#firstTokens < 0.01 ? undefined : this.#firstTokenMs / this.#firstTokens;
  }

  #endRuns(): void {
    for (const fault of Object.values(this.#faults)) {
      fault.inRow = 0;
      fault.standsOut = false;
    }
  }

  #decay(now: number): void {
    const factor = 0.5 ** ((now - this.#decayedAt) / halfLifeMs);
    this.#decayedAt = now;
    this.#good *= factor;
    this.#firstTokens *= factor;
    this.#firstTokenMs *= factor;
    for (const fault of Object.values(this.#faults)) fault.weight *= factor;
  }
}

function createFaultCount(): FaultCount {
  return { weight: 0, inRow: 0, countedAt: 0, comparedAt: 0, standsOut: false };
}
