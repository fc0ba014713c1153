import { RouterError } from '#shared/core/errors.ts';

/** Largest number of clients of one node that follow the same answer. */
const maxPerAnswer = 16;

/** Largest number of clients of one node that follow answers of the same owner: more than the unfinished answers that an owner may have. */
const maxPerOwner = 512;

/**
 * Bounds the number of clients that follow answers from the store. Each client reads Redis after every change, even if other clients read
 * the same answer.
 */
export class FollowerPlaces {
  /** Numbers of clients by `<owner>` and by `<owner> <answer>`. */
  readonly #counts = new Map<string, number>();

  /**
   * Gives a client a place.
   * @returns a function that frees the place, to be called once
   * @throws RouterError `rate_limit_exceeded` if the answer or its owner has no more places
   */
  occupy(owner: string, answer: string): () => void {
    const names = [owner, `${owner} ${answer}`] as const;
    const [ownerCount, answerCount] = names.map((name) => this.#counts.get(name) ?? 0);
    if (answerCount === maxPerAnswer) throw noPlaceError('of this answer', maxPerAnswer);
    if (ownerCount === maxPerOwner) throw noPlaceError('of your answers', maxPerOwner);
    for (const name of names) this.#add(name, 1);
    return () => {
      for (const name of names) this.#add(name, -1);
    };
  }

  #add(name: string, count: number): void {
    const sum = (this.#counts.get(name) ?? 0) + count;
    if (sum === 0) this.#counts.delete(name);
    else this.#counts.set(name, sum);
  }
}

function noPlaceError(answers: string, max: number): RouterError {
  const message = `${max} streams ${answers} are open already, and there may be no more. Close some of them.`;
  return new RouterError('rate_limit_exceeded', message, { retryAfter: 5 });
}
