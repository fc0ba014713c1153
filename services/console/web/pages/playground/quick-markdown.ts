/** Milliseconds that the rendering of one text may take. */
const maxMs = 300;

/** The length, in characters, below which every text renders quickly. */
const safeLength = 1_000;

/**
 * Renders a growing text as Markdown while that is quick. For some texts of a few kilobytes the time grows with the square of the length,
 * and the page would stand still for minutes. Therefore each try renders at most twice the length that was quick before.
 */
export class BoundedMarkdown<Rendered> {
  readonly #render: (text: string) => Rendered;
  #text = '';
  /** The number of characters that were rendered quickly. */
  #quick = 0;
  #isSlow = false;

  /** @param render may throw for a text that it cannot render */
  constructor(render: (text: string) => Rendered) {
    this.#render = render;
  }

  /** Returns the rendered text; undefined for a text that takes long or cannot be rendered, and for every continuation of it. */
  render(text: string): Rendered | undefined {
    if (!text.startsWith(this.#text)) [this.#quick, this.#isSlow] = [0, false];
    this.#text = text;
    for (;;) {
      if (this.#isSlow) return undefined;
      const length = Math.min(text.length, Math.max(safeLength, this.#quick * 2));
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
      // The text is nested too deep, or has too many cells.
      this.#isSlow = true;
      return undefined;
    } finally {
      if (performance.now() - begunAt > maxMs) this.#isSlow = true;
    }
  }
}
