import { addReturnedReasoning, type ReturnedReasoning } from '../upstreams/chat/returned-reasoning.ts';
import { simplifyParts } from '../upstreams/chat/chat-upstream.ts';
import type { ChatMessage, ChatPart, ChatToolCall } from '#shared/formats/chat/request.ts';

interface AssistantTurn {
  thoughts: string[];
  parts: ChatPart[];
  calls: ChatToolCall[];
  /** Reasoning that the upstream wants back. */
  returned: ReturnedReasoning[];
}

/**
 * Builds a chat history from single items. Joins instructions in a first system message, because many chat templates refuse a later system
 * message. Consecutive texts, thinking and calls of the model become one message. Images in tool results follow the results in a user
 * message, because a tool message has only one text.
 */
export class ChatHistory {
  readonly #instructions: string[] = [];
  readonly #messages: ChatMessage[] = [];
  readonly #callIds = new Set<string>();
  #turn: AssistantTurn | undefined;
  #images: ChatPart[] = [];

  addInstructions(parts: readonly ChatPart[]): void {
    for (const part of parts) if (part.type === 'text' && part.text !== '') this.#instructions.push(part.text);
  }

  addUser(parts: readonly ChatPart[]): void {
    this.#closeTurn();
    const images = this.#takeImages();
    this.#messages.push({ role: 'user', content: simplifyParts([...images, ...parts]) });
  }

  addThought(text: string): void {
    if (text !== '') this.#openTurn().thoughts.push(text);
  }

  addReturned(returned: ReturnedReasoning): void {
    this.#openTurn().returned.push(returned);
  }

  addText(parts: readonly ChatPart[]): void {
    this.#openTurn().parts.push(...parts);
  }

  addCall(id: string, name: string, json: string): void {
    this.#callIds.add(id);
    this.#openTurn().calls.push({ id, type: 'function', function: { name, arguments: json } });
  }

  hasCall(id: string): boolean {
    return this.#callIds.has(id);
  }

  addResult(id: string, parts: readonly ChatPart[]): void {
    this.#closeTurn();
    const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
    this.#messages.push({ role: 'tool', tool_call_id: id, content: text });
    this.#images.push(...parts.filter((part) => part.type !== 'text'));
  }

  finish(): ChatMessage[] {
    this.#closeTurn();
    this.#addImages();
    const text = this.#instructions.join('\n\n');
    return text === '' ? this.#messages : [{ role: 'system', content: text }, ...this.#messages];
  }

  #openTurn(): AssistantTurn {
    this.#addImages();
    this.#turn ??= { thoughts: [], parts: [], calls: [], returned: [] };
    return this.#turn;
  }

  #closeTurn(): void {
    const turn = this.#turn;
    this.#turn = undefined;
    if (!turn) return;
    const { thoughts, parts, calls, returned } = turn;
    const message: ChatMessage = {
      role: 'assistant',
      content: parts.length === 0 && calls.length > 0 ? null : simplifyParts(parts),
      ...(thoughts.length > 0 && { reasoning_content: thoughts.join('\n\n') }),
      ...(calls.length > 0 && { tool_calls: calls }),
    };
    this.#messages.push(addReturnedReasoning(message, returned));
  }

  #addImages(): void {
    const images = this.#takeImages();
    if (images.length > 0) this.#messages.push({ role: 'user', content: simplifyParts(images) });
  }

  #takeImages(): ChatPart[] {
    const images = this.#images;
    this.#images = [];
    return images;
  }
}
