import { waitForEnd, waitForResult, storeNames } from './open-store.ts';
import {
  maxConversationCharacters,
  createName,
  findIdsBeyondBounds,
  type SavedContent,
  type SavedHead,
} from './saved-conversation.ts';

export interface ConversationSave {
  id: string;
  /** The revision of the head that was read or saved last; 0 for a new conversation. */
  revision: number;
  content: SavedContent;
  /** Whether the person has sent a message since the last save. Without a new message, a deleted conversation is not stored again. */
  hasNewMessage: boolean;
}

/** Stores a person's conversations in this browser. Each operation is one transaction, so that tabs do not undo each other's changes. */
export class ConversationStore {
  readonly #database: IDBDatabase;
  readonly #onChange: () => void;

  /** @param onChange called after each change of a conversation */
  constructor(database: IDBDatabase, onChange: () => void) {
    this.#database = database;
    this.#onChange = onChange;
  }

  /** Deletes the conversations beyond the bounds, and returns the heads of the others, the newest first. */
  async listHeads(): Promise<SavedHead[]> {
    const [transaction, heads, contents] = this.#beginTransaction('readwrite');
    const allHeads = (await waitForResult(heads.getAll())) as SavedHead[];
    const deletedIds = new Set(findIdsBeyondBounds(allHeads, Date.now()));
    deleteConversations(deletedIds, heads, contents);
    await waitForEnd(transaction);
    return allHeads.filter(({ id }) => !deletedIds.has(id)).sort((a, b) => b.at - a.at);
  }

  async read(id: string): Promise<{ head: SavedHead; content: SavedContent } | undefined> {
    const [, heads, contents] = this.#beginTransaction('readonly');
    const [head, content] = await Promise.all([
      waitForResult(heads.get(id) as IDBRequest<SavedHead | undefined>),
      waitForResult(contents.get(id) as IDBRequest<SavedContent | undefined>),
    ]);
    return head && content ? { head, content } : undefined;
  }

  /**
   * Saves a conversation, and deletes the oldest conversations beyond the bounds. If another tab has saved the conversation since
   * `revision`, keeps that version, and saves this version under a new id.
   * @returns the head of the saved conversation; undefined if the conversation was deleted and has no new message
   * @throws Error with a sentence for the person when the conversation is too large, or DOMException when the browser has no space left
   */
  async save({ id, revision, content, hasNewMessage }: ConversationSave): Promise<SavedHead | undefined> {
    const size = JSON.stringify(content).length;
    if (size > maxConversationCharacters) throw new Error('This conversation is too large to be kept.');
    const [transaction, heads, contents] = this.#beginTransaction('readwrite');
    const storedHead = await waitForResult(heads.get(id) as IDBRequest<SavedHead | undefined>);
    if (!storedHead && revision > 0 && !hasNewMessage) return undefined;
    const wasSavedElsewhere = storedHead !== undefined && storedHead.revision !== revision;
    const now = Date.now();
    const head: SavedHead = {
      id: wasSavedElsewhere ? createConversationId() : id,
      name: wasSavedElsewhere ? `${storedHead.name} (2)` : (storedHead?.name ?? createName(content)),
      at: hasNewMessage || !storedHead ? now : storedHead.at,
      size,
      revision: (wasSavedElsewhere ? 0 : revision) + 1,
    };
    heads.put(head, head.id);
    contents.put(content, head.id);
    deleteConversations(
      findIdsBeyondBounds((await waitForResult(heads.getAll())) as SavedHead[], now, head.id),
      heads,
      contents,
    );
    await waitForEnd(transaction);
    this.#onChange();
    return head;
  }

  async rename(id: string, name: string): Promise<void> {
    const [transaction, heads] = this.#beginTransaction('readwrite');
    const storedHead = await waitForResult(heads.get(id) as IDBRequest<SavedHead | undefined>);
    if (storedHead) heads.put({ ...storedHead, name }, id);
    await waitForEnd(transaction);
    this.#onChange();
  }

  async remove(ids: readonly string[]): Promise<void> {
    const [transaction, heads, contents] = this.#beginTransaction('readwrite');
    deleteConversations(ids, heads, contents);
    await waitForEnd(transaction);
    this.#onChange();
  }

  close(): void {
    this.#database.close();
  }

  #beginTransaction(mode: IDBTransactionMode): [IDBTransaction, IDBObjectStore, IDBObjectStore] {
    const transaction = this.#database.transaction(storeNames, mode);
    return [transaction, transaction.objectStore('heads'), transaction.objectStore('contents')];
  }
}

function deleteConversations(ids: Iterable<string>, heads: IDBObjectStore, contents: IDBObjectStore): void {
  for (const id of ids) {
    heads.delete(id);
    contents.delete(id);
  }
}

/** Creates a random id, without `crypto.randomUUID`, which does not exist on pages without TLS. */
export function createConversationId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
