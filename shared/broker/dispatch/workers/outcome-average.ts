const halfLifeMs = 10_000;

const rowMs = 30_000;

/** The kinds of faults of a job: the worker fails, or it refuses the request. Each kind is compared with the same kind of its peers. */
export type Fault = 'failure' | 'refusal';

interface FaultCount {
  weight: number;
  row: number;
  countedAt: number;
  comparedAt: number;
  /** The result of the last comparison: whether the worker has faults that its peers do not have. */
  standsOut: boolean;
}

/**
 * Averages of the recent jobs of one worker with one model. They are a few numbers, whose weight halves every ten seconds. Times are
 * milliseconds of `performance.now()`.
 */
export class OutcomeAverage {
  #good = 0;
  #firstTokens = 0;
  #firstTokenMs = 0;
  #decayedAt = 0;
  #firstTokensComparedAt = 0;
  readonly #faults: Record<Fault, FaultCount> = { failure: noFaults(), refusal: noFaults() };

  countGood(now: number): void {
    this.#decay(now);
    this.#good += 1;
    for (const fault of Object.values(this.#faults)) Object.assign(fault, { row: 0, standsOut: false });
  }

  countFault(kind: Fault, now: number): void {
    this.#decay(now);
    const fault = this.#faults[kind];
    fault.weight += 1;
    fault.row = (now - fault.countedAt < rowMs ? fault.row : 0) + 1;
    fault.countedAt = now;
  }

  /** Counts the milliseconds from a grant or offer to the first piece of a streamed answer. */
  countFirstToken(ms: number, now: number): void {
    this.#decay(now);
    this.#firstTokens += 1;
    this.#firstTokenMs += ms;
  }

  /**
   * Whether the worker stands out among its peers with faults of this kind. Calls `compare` if its last result is at least `ms`
   * milliseconds old; otherwise returns that result.
   */
  standsOut(kind: Fault, now: number, ms: number, compare: () => boolean): boolean {
    const fault = this.#faults[kind];
    if (now - fault.comparedAt >= ms) {
      fault.comparedAt = now;
      fault.standsOut = compare();
    }
    return fault.standsOut;
  }

  /** Whether its refusals stood out when they were last compared, and it has served nothing since. */
  get refusesAlone(): boolean {
    return this.#faults.refusal.standsOut;
  }

  /** Whether its first tokens were last compared with its peers' at least `ms` milliseconds ago. If so, records a new comparison. */
  isDue(now: number, ms: number): boolean {
    if (now - this.#firstTokensComparedAt < ms) return false;
    this.#firstTokensComparedAt = now;
    return true;
  }

  /** Removes a refusal that turned out to be justified. */
  takeBackRefusal(): void {
    const { refusal } = this.#faults;
    refusal.weight = Math.max(0, refusal.weight - 1);
    refusal.row = Math.max(0, refusal.row - 1);
  }

  /** Clears all faults after the worker has shown that it serves again. */
  clearFaults(): void {
    for (const fault of Object.values(this.#faults)) Object.assign(fault, { weight: 0, row: 0, standsOut: false });
  }

  /** Drops the times to the first token, so that old slow ones do not count against a worker that has recovered. */
  clearFirstTokens(): void {
    this.#firstTokens = 0;
    this.#firstTokenMs = 0;
  }

  faultsInRow(kind: Fault): number {
    return this.#faults[kind].row;
  }

  /** Returns the number of recent jobs, each with its present weight. */
  weight(now: number): number {
    this.#decay(now);
    return this.#good + this.#faults.failure.weight + this.#faults.refusal.weight;
  }

  /** Returns the share of recent jobs with this fault, 0 to 1; 0 without jobs. */
  share(kind: Fault, now: number): number {
    const weight = this.weight(now);
    return weight === 0 ? 0 : this.#faults[kind].weight / weight;
  }

  /** Returns the number of recent first tokens, each with its present weight. */
  firstTokens(now: number): number {
    this.#decay(now);
    return this.#firstTokens;
  }

  /** Mean milliseconds to the first token of recent jobs; undefined if there are none. */
  get firstTokenMs(): number | undefined {
    return this.#firstTokens < 0.01 ? undefined : this.#firstTokenMs / this.#firstTokens;
  }

  #decay(now: number): void {
    const part = 0.5 ** ((now - this.#decayedAt) / halfLifeMs);
    this.#decayedAt = now;
    this.#good *= part;
    this.#firstTokens *= part;
    this.#firstTokenMs *= part;
    for (const fault of Object.values(this.#faults)) fault.weight *= part;
  }
}

function noFaults(): FaultCount {
  return { weight: 0, row: 0, countedAt: 0, comparedAt: 0, standsOut: false };
}
