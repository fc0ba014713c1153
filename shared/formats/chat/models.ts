import type { ModelCard } from '../model-card.ts';

/** A model in the chat format's shape (OpenAI API reference, "Models"). */
export interface ChatModel {
  id: string;
  object: 'model';
  created: number;
  owned_by: string;
}

/** The chat format's shape of one model. */
export function chatModel({ id, created, ownedBy }: ModelCard): ChatModel {
  return { id, object: 'model', created, owned_by: ownedBy };
}

/** The answer to a chat client that lists the models; this format has no pages. */
export function chatModelList(cards: readonly ModelCard[]): { object: 'list'; data: ChatModel[] } {
  return { object: 'list', data: cards.map(chatModel) };
}
