/** After a rendering that took more than this many milliseconds, the text is not rendered any more. */
const maxRenderMs = 300;

/** Number of characters that always render quickly. */
const alwaysQuickLength = 1_000;

/**
 * Renders a growing text as Markdown, as long as rendering is quick. For some texts of a few kilobytes, the rendering time grows with the
 * square of the length, and the page would not respond for minutes. Each rendering therefore has at most twice the length of the last
 * quick rendering.
 */
export class BoundedMarkdown<Rendered> {
  readonly #render: (text: string) => Rendered;
  #text = '';
  /** Number of characters that have been rendered quickly. */
  #quickLength = 0;
  #isSlow = false;

  /** @param render may throw for a text that it cannot render */
  constructor(render: (text: string) => Rendered) {
    this.#render = render;
  }

  /**
   * Returns the rendered text; undefined if the text cannot be rendered, or if a beginning of the text was slow to render. In both cases,
   * every continuation of the text gives undefined too.
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
