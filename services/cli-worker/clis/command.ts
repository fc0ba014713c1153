import { writeTranscript, type Conversation } from '#shared/translate/conversation/conversation.ts';
import type { CliProcess } from '../process/cli-process.ts';
import { conversationDialogue } from '../answer/conversation-dialogue.ts';
import type { AnswerPart, ConversationCli, ConversationSession, StartOptions } from './cli.ts';
import type { Outcome } from '../answer/outcome.ts';

/**
 * Creates the driver of any program that reads a prompt from its standard input up to the end, and prints its answer as text.
 * @param args the program's arguments; `{model}` in them stands for the model's name
 */
export function createCommandCli(args: readonly string[]): ConversationCli {
  return {
    kind: 'command',
    traceName: 'command',
    capabilities: ['stream'],
    dialogue: conversationDialogue,
    isSingleUse: true,
    start: ({ starter, workspace, models }: StartOptions) => {
      const startFor = (model: string): CliProcess =>
        starter.start({
          args: args.map((arg) => arg.replaceAll('{model}', model)),
          workspace,
          allowedVariables: [],
          variables: {},
        });
      // The program is started for the first model before a prompt comes, because it may be slow to start.
      return Promise.resolve(new CommandSession(startFor, models[0]));
    },
  };
}

class CommandSession implements ConversationSession {
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
      this.#process.stopKeepingStderr();
    }
    const process = this.#process;
    return process.killOnAbort(signal, async () => {
      signal.throwIfAborted();
      const text = new TextDecoder();
      let heldBlanks = '';
      process.onOutput = (chunk) => {
        const unsentText = heldBlanks + text.decode(chunk, { stream: true });
        // The line break after the last line is the terminal's, not part of the answer.
        const sentText = unsentText.trimEnd();
        heldBlanks = unsentText.slice(sentText.length);
        if (sentText !== '') onPart({ kind: 'text', text: sentText });
      };
      process.write(writePrompt(conversation));
      process.endInput();
      if (!(await process.whenEnded).isSuccess) throw await process.waitForFailure();
      return { finishReason: 'stop' };
    });
  }
}

function writePrompt(conversation: Conversation): string {
  const transcript = writeTranscript(conversation);
  return `${conversation.system === '' ? transcript : `${conversation.system}\n\n${transcript}`}\n`;
}
