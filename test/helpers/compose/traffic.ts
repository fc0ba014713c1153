import { setTimeout as sleep } from 'node:timers/promises';

/**
 * How a request ended: with its whole answer; refused with a readable error; failed with an error within the stream; cut, which every
 * client notices; or silently wrong, which must never happen.
 */
export type Ending = 'whole' | 'refused' | 'failed' | 'cut' | 'silent';

export interface Outcome {
  ending: Ending;
  /** The received bytes, unless they are the whole answer. */
  seen: string;
  /** Milliseconds from its begin to its first text; undefined without any. */
  firstMs: number | undefined;
  /** Begin and end, on the clock of `performance.now()`. */
  began: number;
  ended: number;
}

export interface TrafficOptions {
  url: string;
  key: string;
  /** Number of concurrent clients; every other one uses the messages format. */
  clients: number;
  model?: string;
}

const tokens = 60;
const prompt = `Go on.\n[demo tokens=${tokens} rate=40]`;

/** Clients that request streams of a second and a half, one after the other, and classify how each ends. */
export class Traffic {
  readonly outcomes: Outcome[] = [];
  readonly #stop = new AbortController();
  readonly #clients: Promise<void>[];
  #text: string | undefined;

  constructor({ url, key, clients, model = 'demo' }: TrafficOptions) {
    this.#clients = Array.from({ length: clients }, (_, at) =>
      this.#ask(at % 2 ? messages : chat, { url, key, model }),
    );
  }

  /** When the last request without a whole answer ended; 0 when there was none. */
  get lastTrouble(): number {
    return Math.max(0, ...this.outcomes.filter(({ ending }) => ending !== 'whole').map(({ ended }) => ended));
  }

  /**
   * Resolves once, from now on, all requests of this many consecutive milliseconds had their whole answer.
   * @throws when that takes longer than `timeoutMs`
   */
  async untilWhole(rowMs: number, timeoutMs: number): Promise<void> {
    const called = performance.now();
    for (;;) {
      const from = Math.max(called, this.lastTrouble);
      const row = this.outcomes.filter(({ began }) => began > from);
      if (row.length >= 4 && performance.now() - from > rowMs) return;
      if (performance.now() - called > timeoutMs)
        throw new Error(`no row of whole answers: ${JSON.stringify(this.outcomes.slice(-8))}`);
      await sleep(100);
    }
  }

  /** Starts no more requests, and waits for running ones. */
  async stop(): Promise<Outcome[]> {
    this.#stop.abort();
    await Promise.all(this.#clients);
    return this.outcomes;
  }

  async #ask(format: Format, where: Where): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const began = performance.now();
      const { ending, seen, firstAt } = await this.#one(format, where);
      const firstMs = firstAt === undefined ? undefined : firstAt - began;
      this.outcomes.push({ ending, seen, firstMs, began, ended: performance.now() });
      // A refused client retries after a pause.
      if (ending !== 'whole') await sleep(250);
    }
  }

  async #one(
    format: Format,
    where: Where,
  ): Promise<Pick<Outcome, 'ending' | 'seen'> & { firstAt?: number | undefined }> {
    let firstAt: number | undefined;
    let text = '';
    try {
      const answer = await fetch(`${where.url}${format.path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${where.key}`, 'content-type': 'application/json' },
        body: JSON.stringify(format.body(where.model)),
        signal: AbortSignal.timeout(60_000),
      });
      for await (const bytes of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        text += bytes;
        if (firstAt === undefined && text.search(format.piece) >= 0) firstAt = performance.now();
      }
      if (answer.status !== 200) {
        const isError = /"message":"[^"]/.test(text);
        return { ending: isError ? 'refused' : 'silent', seen: `${answer.status} ${text.slice(0, 300)}` };
      }
    } catch (error) {
      return { ending: 'cut', seen: String(error) };
    }
    if (format.error.test(text)) return { ending: 'failed', seen: text.slice(-300), firstAt };
    const said = [...text.matchAll(format.piece)].map(([, piece]) => JSON.parse(`"${piece}"`)).join('');
    const complete = format.end.test(text) && said.length > tokens;
    if (complete) this.#text ??= said;
    const whole = complete && said === this.#text;
    return { ending: whole ? 'whole' : 'silent', seen: whole ? '' : text.slice(-300), firstAt };
  }
}

interface Where {
  url: string;
  key: string;
  model: string;
}

/** A format's request for a stream, and patterns of its pieces, errors and end. */
interface Format {
  path: string;
  body: (model: string) => object;
  piece: RegExp;
  error: RegExp;
  end: RegExp;
}

const chat: Format = {
  path: '/api/openai/v1/chat/completions',
  body: (model) => ({ model, stream: true, messages: [{ role: 'user', content: prompt }] }),
  piece: /"content":"((?:[^"\\]|\\.)*)"/g,
  error: /^data: \{"error"/m,
  end: /"finish_reason":"stop"[\s\S]*data: \[DONE\]\s*$/,
};

const messages: Format = {
  path: '/api/anthropic/v1/messages',
  body: (model) => ({ model, stream: true, max_tokens: 500, messages: [{ role: 'user', content: prompt }] }),
  piece: /"type":"text_delta","text":"((?:[^"\\]|\\.)*)"/g,
  error: /^event: error$/m,
  end: /"stop_reason":"end_turn"[\s\S]*event: message_stop/,
};
