import type { MessagesBlock, MessagesMessage, TextBlock, ToolUseBlock } from '#shared/formats/messages/request.ts';

/** The history of a request in the messages format: the system prompt and the turns. */
export interface TranslatedHistory {
  system: TextBlock[];
  messages: MessagesMessage[];
}

interface Message {
  role: MessagesMessage['role'];
  content: MessagesBlock[];
}

/**
 * Arranges items, which Responses clients send one after the other, as turns of the messages format. Thinking, texts and calls of
 * the assistant become one turn; the results of its calls and the user's message after them become the next. The format requires
 * the results directly after their calls, so what comes between them waits until all calls have a result.
 */
export class MessageTurns {
  /** What precedes the first turn. */
  readonly #system: TextBlock[] = [];
  readonly #messages: MessagesMessage[] = [];
  /** Calls without a result yet. */
  readonly #unanswered = new Set<string>();
  /** Messages that wait for results. */
  #waiting: Message[] = [];
  /** The turn that is being filled. */
  #open: Message | undefined;

  addSystem(blocks: TextBlock[]): void {
    if (blocks.length === 0) return;
    if (this.#open === undefined && this.#messages.length === 0) this.#system.push(...blocks);
    else this.#add({ role: 'system', content: blocks });
  }

  addUser(blocks: MessagesBlock[]): void {
    if (blocks.length > 0) this.#add({ role: 'user', content: blocks });
  }

  addAssistant(blocks: MessagesBlock[]): void {
    if (blocks.length > 0) this.#turn('assistant').content.push(...blocks);
  }

  addCall(call: ToolUseBlock): void {
    this.#turn('assistant').content.push(call);
    this.#unanswered.add(call.id);
  }

  addResult(callId: string, content: string | MessagesBlock[]): void {
    this.#turn('user').content.push({ type: 'tool_result', tool_use_id: callId, content });
    this.#unanswered.delete(callId);
    if (this.#unanswered.size === 0) this.#addWaiting();
  }

  /** The whole history. Called once, after the last item. */
  finish(): TranslatedHistory {
    this.#unanswered.clear();
    this.#addWaiting();
    this.#close();
    return { system: this.#system, messages: this.#messages };
  }

  #addWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const message of waiting) this.#add(message);
  }

  #add(message: Message): void {
    const { role, content } = message;
    if (this.#unanswered.size > 0) {
      this.#waiting.push(message);
      return;
    }
    if (role === 'user' && this.#open?.content.at(-1)?.type === 'tool_result') {
      this.#open.content.push(...content);
      this.#close();
      return;
    }
    this.#close();
    this.#messages.push({ role, content: simplest(content) });
  }

  /** The open turn if it is of this role, otherwise a new one. */
  #turn(role: 'user' | 'assistant'): Message {
    if (this.#open?.role === role) return this.#open;
    this.#close();
    const turn: Message = { role, content: [] };
    this.#open = turn;
    return turn;
  }

  /** The format refuses a turn that ends in thinking, as one of an answer that was cut does. */
  #close(): void {
    const content = this.#open?.content ?? [];
    while (isThinking(content.at(-1))) content.pop();
    if (this.#open && content.length > 0) this.#messages.push({ role: this.#open.role, content: simplest(content) });
    this.#open = undefined;
  }
}

function isThinking(block: MessagesBlock | undefined): boolean {
  return block?.type === 'thinking' || block?.type === 'redacted_thinking';
}

/** A single plain text becomes a string. */
export function simplest(blocks: MessagesBlock[]): string | MessagesBlock[] {
  const [first] = blocks;
  if (first === undefined) return '';
  return blocks.length === 1 && first.type === 'text' && Object.keys(first).length === 2 ? first.text : blocks;
}
