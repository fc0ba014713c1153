/**
 * Finds out whether the first object or array in JSON text that arrives in pieces is complete. Reads every character once and does not
 * check the syntax.
 */
export class JsonEnd {
  #depth = 0;
  #hasBegun = false;
  #isInString = false;
  #isEscaped = false;

  get isComplete(): boolean {
    return this.#hasBegun && this.#depth === 0;
  }

  push(text: string): void {
    for (let at = 0; at < text.length && !this.isComplete; at++) {
      const character = text[at];
      if (this.#isEscaped) this.#isEscaped = false;
      else if (this.#isInString) {
        if (character === '\\') this.#isEscaped = true;
        else if (character === '"') this.#isInString = false;
      } else if (character === '"') this.#isInString = true;
      else if (character === '{' || character === '[') {
        this.#hasBegun = true;
        this.#depth++;
      } else if (character === '}' || character === ']') this.#depth--;
    }
  }
}
