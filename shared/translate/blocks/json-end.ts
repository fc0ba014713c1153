/**
 * Finds the end of the first object or array in JSON text that arrives in pieces. Reads every character once and does not check the syntax.
 */
export class JsonEnd {
  #depth = 0;
  #begun = false;
  #inString = false;
  #escaped = false;

  get complete(): boolean {
    return this.#begun && this.#depth === 0;
  }

  push(text: string): void {
    for (let at = 0; at < text.length && !this.complete; at++) {
      const character = text[at];
      if (this.#escaped) this.#escaped = false;
      else if (this.#inString) {
        if (character === '\\') this.#escaped = true;
        else if (character === '"') this.#inString = false;
      } else if (character === '"') this.#inString = true;
      else if (character === '{' || character === '[') {
        this.#begun = true;
        this.#depth++;
      } else if (character === '}' || character === ']') this.#depth--;
    }
  }
}
