/** A text whose rendering takes more milliseconds is no longer rendered. */
const maxRenderMs = 300;

/** A text of fewer characters always renders quickly. */
const alwaysQuickLength = 1_000;

/**
 * Renders a growing text as Markdown while that is quick. For some texts of a few kilobytes the time grows with the square of the length,
 * and the page would not respond for minutes. Therefore each rendering has at most twice the length of the last quick rendering.
 */
export class BoundedMarkdown<Rendered> {
  readonly #render: (text: string) => Rendered;
  #text = '';
  /** The number of characters that were rendered quickly. */
  #quickLength = 0;
  #isSlow = false;

  /** @param render may throw for a text that it cannot render */
  constructor(render: (text: string) => Rendered) {
    this.#render = render;
  }

  /**
   * Returns the rendered text; undefined if the text takes long or cannot be rendered. From then on, every continuation of that text gives
   * undefined too.
   */
  render(text: string): Rendered | undefined {
    if (!text.startsWith(this.#text)) [this.#quickLength, this.#isSlow] = [0, false];
    this.#text = text;
    for (;;) {
      if (this.#isSlow) return undefined;
      const length = Math.min(text.length, Math.max(alwaysQuickLength, this.#quickLength * 2));
      const rendered = this.#tryToRender(text.slice(0, length));
      if (length === text.length) return rendered;
      this.#quickLength = length;
    }
  }

  #tryToRender(text: string): Rendered | undefined {
    const startedAt = performance.now();
    try {
      return this.#render(text);
    } catch {
      // The text is nested too deep, or has too many cells.
      this.#isSlow = true;
      return undefined;
    } finally {
      if (performance.now() - startedAt > maxRenderMs) this.#isSlow = true;
    }
  }
}
