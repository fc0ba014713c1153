/** How an answer ended: complete, aborted by its client, or failed. An answer fails if its options request it, or by a defect. */
export type Ending = 'finished' | 'aborted' | 'faulted';

/** Facts about one answer that are safe to show: names and numbers, without content. */
export interface AnswerFacts {
  id: string;
  model: string;
  stream: boolean;
  messages: number;
  tools: number;
  /** Names of the body's fields, in the order in which they reached the engine. */
  fields: string[];
  request_id: string | null;
  prompt_tokens: number;
  completion_tokens: number;
  ended: Ending | null;
}

/** Counters since the start. `started` = `active` + `finished` + `aborted` + `faulted`. */
export interface AnswerCounts {
  active: number;
  started: number;
  finished: number;
  aborted: number;
  faulted: number;
}

/** Counts the answers that have or had a slot. `GET /demo/state` shows the counters. */
export class EngineState {
  readonly #counts: AnswerCounts = { active: 0, started: 0, finished: 0, aborted: 0, faulted: 0 };
  #lastAnswer: AnswerFacts | null = null;

  /** Records the start of an answer. The caller keeps `completion_tokens` up to date. */
  begin(facts: Omit<AnswerFacts, 'completion_tokens' | 'ended'>): AnswerFacts {
    this.#counts.active += 1;
    this.#counts.started += 1;
    this.#lastAnswer = { ...facts, completion_tokens: 0, ended: null };
    return this.#lastAnswer;
  }

  /** Records the end of an answer. Call it once for each answer that began. */
  end(answer: AnswerFacts, ending: Ending): void {
    answer.ended = ending;
    this.#counts.active -= 1;
    this.#counts[ending] += 1;
  }

  /** Returns the counters, and the answer that started last. */
  snapshot(): AnswerCounts & { last: AnswerFacts | null } {
    return { ...this.#counts, last: this.#lastAnswer };
  }
}
