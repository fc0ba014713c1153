/**
 * Detects the end of the first object or array in JSON text that arrives in pieces. Reads every character once and does not check the
 * syntax.
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
    for (let index = 0; index < text.length && !this.isComplete; index++) {
      const character = text[index];
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
