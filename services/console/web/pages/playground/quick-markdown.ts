/** Milliseconds that one text may take. */
const mostMs = 300;

/** Characters of which no text takes long. */
const firstLength = 1_000;

/**
 * Renders a growing text as Markdown, as long as that is quick. With some texts of a few kilobytes the time grows with the square of their
 * length, and the page would stand still for minutes: so no more than double of what was quick is tried at once.
 */
export class QuickMarkdown<Rendered> {
  readonly #render: (text: string) => Rendered;
  #text = '';
  /** Characters of the text that were rendered quickly. */
  #quick = 0;
  #isSlow = false;

  /** @param render may throw for a text that it does not render */
  constructor(render: (text: string) => Rendered) {
    this.#render = render;
  }

  /** The rendered text; undefined for one that takes long or cannot be rendered, and for whatever goes on with it. */
  render(text: string): Rendered | undefined {
    if (!text.startsWith(this.#text)) [this.#quick, this.#isSlow] = [0, false];
    this.#text = text;
    for (;;) {
      if (this.#isSlow) return undefined;
      const length = Math.min(text.length, Math.max(firstLength, this.#quick * 2));
      const rendered = this.#try(text.slice(0, length));
      if (length === text.length) return rendered;
      this.#quick = length;
    }
  }

  #try(text: string): Rendered | undefined {
    const begunAt = performance.now();
    try {
      return this.#render(text);
    } catch {
      // It is nested too deep, or has too many cells.
      this.#isSlow = true;
      return undefined;
    } finally {
      if (performance.now() - begunAt > mostMs) this.#isSlow = true;
    }
  }
}
