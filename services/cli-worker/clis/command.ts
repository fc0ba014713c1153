import {
  conversationUpstream,
  writeTranscript,
  type Conversation,
} from '#shared/translate/conversation/conversation.ts';
import { conversationTranslations } from '#shared/translate/translations.ts';
import { AnswerLimit } from '../answer/answer-limit.ts';
import { buildChatBody, chatDone, encodeEndChunk, encodePartChunk } from '../answer/chat-chunks.ts';
import type { Dialogue, Outcome } from '../answer/dialogue.ts';
import type { CliProcess } from '../process/cli-process.ts';
import type { AnswerPart, ConversationCli, ConversationSession, StartOptions } from './cli.ts';

/** The dialogue with a program that reads a conversation and answers with text. The pieces of an answer are written as chat chunks. */
const conversationDialogue: Dialogue<Conversation, AnswerPart> = {
  upstream: conversationUpstream,
  translations: conversationTranslations,
  createLimiter: (conversation) => new AnswerLimit(conversation),
  encodePiece: encodePartChunk,
  encodeEnd: (outcome) => [encodeEndChunk(outcome), chatDone],
  encodeWhole: buildChatBody,
};

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
      // The program may be slow to start, so it starts before a prompt comes, for the first model.
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
    return process.killOnFailure(signal, async () => {
      signal.throwIfAborted();
      const decoder = new TextDecoder();
      let heldBlanks = '';
      process.onOutput = (chunk) => {
        const unsentText = heldBlanks + decoder.decode(chunk, { stream: true });
        // Blanks at the end of the output are not part of the answer.
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
