/** Milliseconds in which what was counted loses half its weight. */
const halfLifeMs = 10_000;

/** Milliseconds without a fault after which those in a row begin to count anew. */
const rowMs = 30_000;

/** What may be wrong with a job: the worker failed, or it refused the request. Each is compared with the same of its peers. */
export type Fault = 'failure' | 'refusal';

interface FaultCount {
  weight: number;
  /** How many there were since the last job that was served. */
  row: number;
  countedAt: number;
  comparedAt: number;
  /** The result of the last comparison: whether the worker has faults where its peers have none. */
  standsOut: boolean;
}

/**
 * How the recent jobs of one worker with one model went: a few numbers, whose weight halves every ten seconds. Times are
 * milliseconds of `performance.now()`.
 */
export class OutcomeAverage {
  #good = 0;
  #firstTokens = 0;
  #firstTokenMs = 0;
  #decayedAt = 0;
  #firstTokensComparedAt = 0;
  readonly #faults: Record<Fault, FaultCount> = { failure: noFaults(), refusal: noFaults() };

  /** Counts a job that was served. */
  countGood(now: number): void {
    this.#decay(now);
    this.#good += 1;
    for (const fault of Object.values(this.#faults)) Object.assign(fault, { row: 0, standsOut: false });
  }

  /** Counts a job that was not served. */
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
   * Whether the worker stands out among its peers with its faults of this kind, as `compare` says, or said so many milliseconds
   * ago or less.
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

  /** Whether its first tokens were last compared with its peers' so many milliseconds ago. Notes a new comparison. */
  isDue(now: number, ms: number): boolean {
    if (now - this.#firstTokensComparedAt < ms) return false;
    this.#firstTokensComparedAt = now;
    return true;
  }

  /** Takes back a refusal that turned out to be right. */
  takeBackRefusal(): void {
    const { refusal } = this.#faults;
    refusal.weight = Math.max(0, refusal.weight - 1);
    refusal.row = Math.max(0, refusal.row - 1);
  }

  /** The worker has shown that it serves again: faults before that say nothing any more. */
  clearFaults(): void {
    for (const fault of Object.values(this.#faults)) Object.assign(fault, { weight: 0, row: 0, standsOut: false });
  }

  /** Drops the times to the first token, so that those of a worker that was slow do not weigh on it once it is not. */
  clearFirstTokens(): void {
    this.#firstTokens = 0;
    this.#firstTokenMs = 0;
  }

  /** Faults of a kind since the last job that was served. */
  row(kind: Fault): number {
    return this.#faults[kind].row;
  }

  /** How many recent jobs it counts, each with its present weight. */
  weight(now: number): number {
    this.#decay(now);
    return this.#good + this.#faults.failure.weight + this.#faults.refusal.weight;
  }

  /** The share of recent jobs with this fault, 0 to 1; 0 without jobs. */
  share(kind: Fault, now: number): number {
    const weight = this.weight(now);
    return weight === 0 ? 0 : this.#faults[kind].weight / weight;
  }

  /** How many recent first tokens it counts, each with its present weight. */
  firstTokens(now: number): number {
    this.#decay(now);
    return this.#firstTokens;
  }

  /** Mean milliseconds to the first token of recent jobs; undefined without any. */
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
