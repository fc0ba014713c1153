import type { MessagesBlock, MessagesMessage, TextBlock, ToolUseBlock } from '#shared/formats/messages/request.ts';

export interface TranslatedHistory {
  system: TextBlock[];
  messages: MessagesMessage[];
}

interface Message {
  role: MessagesMessage['role'];
  content: MessagesBlock[];
}

/**
 * Arranges the items of a Responses client, which come one after the other, as turns of the `messages` format. Thinking, texts and calls of
 * the assistant become one turn. The results of its calls and the user's message after them become the next turn. The format requires the
 * results directly after their calls, so messages between them wait until all calls have a result.
 */
export class MessageTurns {
  /** System texts before the first turn. */
  readonly #system: TextBlock[] = [];
  readonly #messages: MessagesMessage[] = [];
  readonly #unanswered = new Set<string>();
  #waiting: Message[] = [];
  /** The turn to which new blocks are added. */
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

  /** Returns the whole history. Called once, after the last item. */
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
    this.#messages.push({ role, content: simplifyContent(content) });
  }

  /** Returns the open turn if it has this role, otherwise a new turn. */
  #turn(role: 'user' | 'assistant'): Message {
    if (this.#open?.role === role) return this.#open;
    this.#close();
    const turn: Message = { role, content: [] };
    this.#open = turn;
    return turn;
  }

  /**
   * Closes the open turn. Removes thinking from its end, because the format refuses a turn that ends with thinking, as the last turn of an
   * answer that was cut off may.
   */
  #close(): void {
    const content = this.#open?.content ?? [];
    while (isThinking(content.at(-1))) content.pop();
    if (this.#open && content.length > 0)
      this.#messages.push({ role: this.#open.role, content: simplifyContent(content) });
    this.#open = undefined;
  }
}

function isThinking(block: MessagesBlock | undefined): boolean {
  return block?.type === 'thinking' || block?.type === 'redacted_thinking';
}

export function simplifyContent(blocks: MessagesBlock[]): string | MessagesBlock[] {
  const [first] = blocks;
  if (first === undefined) return '';
  return blocks.length === 1 && first.type === 'text' && Object.keys(first).length === 2 ? first.text : blocks;
}
