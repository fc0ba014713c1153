import { transactionEnd, resultOf, stores } from './open-store.ts';
import { maxOfOne, nameOf, idsBeyondBounds, type SavedContent, type SavedHead } from './saved-conversation.ts';

export interface WantedSave {
  id: string;
  /** The revision of the head that was read or saved last; 0 for a new conversation. */
  revision: number;
  content: SavedContent;
  /** Whether the person has sent something since then. If not, a conversation that was deleted meanwhile stays deleted. */
  hasSaid: boolean;
}

/** The conversations of a person in this browser. Each operation is one transaction, so that tabs do not undo each other's changes. */
export class ConversationStore {
  readonly #database: IDBDatabase;

  constructor(database: IDBDatabase) {
    this.#database = database;
  }

  /** Returns all heads, the newest first, and deletes the conversations that are too old. */
  async list(): Promise<SavedHead[]> {
    const [transaction, heads, contents] = this.#begin('readwrite');
    const all = (await resultOf(heads.getAll())) as SavedHead[];
    const gone = new Set(idsBeyondBounds(all, Date.now()));
    removeAll(gone, heads, contents);
    await transactionEnd(transaction);
    return all.filter(({ id }) => !gone.has(id)).sort((a, b) => b.at - a.at);
  }

  async read(id: string): Promise<{ head: SavedHead; content: SavedContent } | undefined> {
    const [, heads, contents] = this.#begin('readonly');
    const [head, content] = await Promise.all([
      resultOf(heads.get(id) as IDBRequest<SavedHead | undefined>),
      resultOf(contents.get(id) as IDBRequest<SavedContent | undefined>),
    ]);
    return head && content ? { head, content } : undefined;
  }

  /**
   * Saves a conversation, and removes the oldest ones beyond the bounds. If another tab has saved the conversation meanwhile, its version
   * stays as it is, and this one is saved under a new id.
   * @returns the head of the saved conversation; undefined when it was deleted meanwhile
   * @throws Error with a sentence for the person when it is too large, or DOMException when the browser has no room
   */
  async save({ id, revision, content, hasSaid }: WantedSave): Promise<SavedHead | undefined> {
    const size = JSON.stringify(content).length;
    if (size > maxOfOne) throw new Error('This conversation is too large to be kept.');
    const [transaction, heads, contents] = this.#begin('readwrite');
    const found = await resultOf(heads.get(id) as IDBRequest<SavedHead | undefined>);
    if (!found && revision > 0 && !hasSaid) return undefined;
    const isAnother = found !== undefined && found.revision !== revision;
    const now = Date.now();
    const head: SavedHead = {
      id: isAnother ? newConversationId() : id,
      name: isAnother ? `${found.name} (2)` : (found?.name ?? nameOf(content)),
      at: hasSaid || !found ? now : found.at,
      size,
      revision: (isAnother ? 0 : revision) + 1,
    };
    heads.put(head, head.id);
    contents.put(content, head.id);
    removeAll(idsBeyondBounds((await resultOf(heads.getAll())) as SavedHead[], now, head.id), heads, contents);
    await transactionEnd(transaction);
    return head;
  }

  async rename(id: string, name: string): Promise<void> {
    const [transaction, heads] = this.#begin('readwrite');
    const found = await resultOf(heads.get(id) as IDBRequest<SavedHead | undefined>);
    if (found) heads.put({ ...found, name }, id);
    await transactionEnd(transaction);
  }

  async remove(ids: readonly string[]): Promise<void> {
    const [transaction, heads, contents] = this.#begin('readwrite');
    removeAll(ids, heads, contents);
    await transactionEnd(transaction);
  }

  close(): void {
    this.#database.close();
  }

  #begin(mode: IDBTransactionMode): [IDBTransaction, IDBObjectStore, IDBObjectStore] {
    const transaction = this.#database.transaction(stores, mode);
    return [transaction, transaction.objectStore('heads'), transaction.objectStore('contents')];
  }
}

function removeAll(ids: Iterable<string>, heads: IDBObjectStore, contents: IDBObjectStore): void {
  for (const id of ids) {
    heads.delete(id);
    contents.delete(id);
  }
}

/** Returns a random id. `crypto.randomUUID` does not exist on pages without TLS. */
export function newConversationId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
