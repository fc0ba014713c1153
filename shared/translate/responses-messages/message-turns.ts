import type { MessagesBlock, MessagesMessage, TextBlock, ToolUseBlock } from '#shared/formats/messages/request.ts';
import { simplifyContent, type TranslatedHistory } from '../upstreams/messages/translated-history.ts';

interface Message {
  role: MessagesMessage['role'];
  content: MessagesBlock[];
}

/**
 * Arranges the items of a Responses client, which come one after the other, as turns of the `messages` format. Thinking, texts and calls of
 * the assistant become one turn. The results of these calls and the user's message after them become the next turn. The format requires
 * results directly after their calls, so messages between calls and results wait until all calls have a result.
 */
export class MessageTurns {
  /** System texts before the first turn. */
  readonly #system: TextBlock[] = [];
  readonly #messages: MessagesMessage[] = [];
  readonly #unansweredCalls = new Set<string>();
  #waitingMessages: Message[] = [];
  /** The turn to which new blocks are added. */
  #openMessage: Message | undefined;

  addSystem(blocks: TextBlock[]): void {
    if (blocks.length === 0) return;
    if (this.#openMessage === undefined && this.#messages.length === 0) this.#system.push(...blocks);
    else this.#add({ role: 'system', content: blocks });
  }

  addUser(blocks: MessagesBlock[]): void {
    if (blocks.length > 0) this.#add({ role: 'user', content: blocks });
  }

  addAssistant(blocks: MessagesBlock[]): void {
    if (blocks.length > 0) this.#openTurn('assistant').content.push(...blocks);
  }

  addCall(call: ToolUseBlock): void {
    this.#openTurn('assistant').content.push(call);
    this.#unansweredCalls.add(call.id);
  }

  addResult(callId: string, content: string | MessagesBlock[]): void {
    this.#openTurn('user').content.push({ type: 'tool_result', tool_use_id: callId, content });
    this.#unansweredCalls.delete(callId);
    if (this.#unansweredCalls.size === 0) this.#addWaiting();
  }

  /** Returns the whole history. Called once, after the last item. */
  finish(): TranslatedHistory {
    this.#unansweredCalls.clear();
    this.#addWaiting();
    this.#close();
    return { system: this.#system, messages: this.#messages };
  }

  #addWaiting(): void {
    const waiting = this.#waitingMessages;
    this.#waitingMessages = [];
    for (const message of waiting) this.#add(message);
  }

  #add(message: Message): void {
    const { role, content } = message;
    if (this.#unansweredCalls.size > 0) {
      this.#waitingMessages.push(message);
      return;
    }
    if (role === 'user' && this.#openMessage?.content.at(-1)?.type === 'tool_result') {
      this.#openMessage.content.push(...content);
      this.#close();
      return;
    }
    this.#close();
    this.#messages.push({ role, content: simplifyContent(content) });
  }

  /** Returns the open turn if it has this role, otherwise a new turn. */
  #openTurn(role: 'user' | 'assistant'): Message {
    if (this.#openMessage?.role === role) return this.#openMessage;
    this.#close();
    const turn: Message = { role, content: [] };
    this.#openMessage = turn;
    return turn;
  }

  /**
   * Closes the open turn. Removes thinking from its end, because the format refuses a turn that ends with thinking. Such a turn comes from
   * an answer that was cut off.
   */
  #close(): void {
    const content = this.#openMessage?.content ?? [];
    while (isThinking(content.at(-1))) content.pop();
    if (this.#openMessage && content.length > 0)
      this.#messages.push({ role: this.#openMessage.role, content: simplifyContent(content) });
    this.#openMessage = undefined;
  }
}

function isThinking(block: MessagesBlock | undefined): boolean {
  return block?.type === 'thinking' || block?.type === 'redacted_thinking';
}
