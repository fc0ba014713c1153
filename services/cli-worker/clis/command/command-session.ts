import type { AnswerPart, Outcome } from '../../answer/answer-part.ts';
import type { Conversation } from '#shared/translate/conversation/conversation.ts';
import { transcript } from '../../answer/transcript.ts';
import type { CliProcess } from '../../process/cli-process.ts';
import type { CliSession } from '../cli.ts';

/** A conversation with a program that answers one prompt and ends. */
export class CommandSession implements CliSession {
  readonly #startFor: (model: string) => CliProcess;
  readonly #model: string;
  #process: CliProcess;

  constructor(startFor: (model: string) => CliProcess, model: string) {
    this.#startFor = startFor;
    this.#model = model;
    this.#process = startFor(model);
  }

  get process(): CliProcess {
    return this.#process;
  }

  async converse(
    conversation: Conversation,
    onPart: (part: AnswerPart) => void,
    signal: AbortSignal,
  ): Promise<Outcome> {
    signal.throwIfAborted();
    if (conversation.model !== this.#model) {
      await this.#process.end();
      this.#process = this.#startFor(conversation.model);
      this.#process.confide();
    }
    const process = this.#process;
    const kill = (): void => process.kill();
    signal.addEventListener('abort', kill, { once: true });
    try {
      signal.throwIfAborted();
      const text = new TextDecoder();
      let held = '';
      process.onOutput = (chunk) => {
        const known = held + text.decode(chunk, { stream: true });
        // The line break that ends the last line is the terminal's, not the answer's.
        const shown = known.trimEnd();
        held = known.slice(shown.length);
        if (shown !== '') onPart({ kind: 'text', text: shown });
      };
      process.write(promptOf(conversation));
      process.endInput();
      if (!(await process.ended).ok) throw await process.failure();
      return { finishReason: 'stop' };
    } finally {
      signal.removeEventListener('abort', kill);
    }
  }
}

function promptOf(conversation: Conversation): string {
  const asked = transcript(conversation);
  return `${conversation.system === '' ? asked : `${conversation.system}\n\n${asked}`}\n`;
}
