/** Milliseconds over which a rate is measured. */
const windowMs = 60_000;

/** How fast something progresses, from looks at it: over the last minute, or since the first look until there was one a minute ago. */
export class ProgressRate {
  #looks: { at: number; done: number }[] = [];

  /** @param beganAt when nothing was done yet, in ms since 1970: the first look then tells a rate */
  constructor(beganAt?: number) {
    if (beganAt !== undefined) this.note(0, beganAt);
  }

  /** Notes how much is done. @param at ms since 1970 */
  note(done: number, at = Date.now()): void {
    const last = this.#looks.at(-1);
    // Clocks are set, and what counts may be counted anew.
    if (last && (at < last.at || done < last.done)) this.#looks = [];
    else if (last?.at === at) this.#looks.pop();
    this.#looks.push({ at, done });
    const isBefore = this.#looks.findLastIndex((look) => look.at <= at - windowMs);
    if (isBefore > 0) this.#looks.splice(0, isBefore);
  }

  /** How much is done in a second; undefined before there were two looks. */
  get perSecond(): number | undefined {
    const [first] = this.#looks;
    const last = this.#looks.at(-1);
    if (!first || !last || last.at === first.at) return undefined;
    return ((last.done - first.done) * 1_000) / (last.at - first.at);
  }

  /** As `1,200 a second`, `3 a minute`, `5 an hour`; undefined while it does not progress. */
  get text(): string | undefined {
    const rate = this.perSecond;
    if (rate === undefined || rate <= 0) return undefined;
    const [amount, unit] =
      rate >= 1 ? [rate, 'a second'] : rate >= 1 / 60 ? [rate * 60, 'a minute'] : [rate * 3_600, 'an hour'];
    return `${amount.toLocaleString('en', { maximumFractionDigits: 0 })} ${unit}`;
  }

  /** When all is done, in ms since 1970, if it goes on so; undefined while it does not progress. */
  endsAt(total: number): number | undefined {
    const rate = this.perSecond;
    const last = this.#looks.at(-1);
    if (!last || rate === undefined || rate <= 0) return undefined;
    return last.at + (Math.max(0, total - last.done) * 1_000) / rate;
  }
}
