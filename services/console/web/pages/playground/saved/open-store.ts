import { databaseNameOf } from '../../../parts/conversation-database.ts';

/** Heads and contents of conversations, by the conversation's id. */
export const stores = ['heads', 'contents'] as const;

/**
 * Opens a person's database.
 * @throws DOMException when the browser keeps nothing, as in some private windows
 */
export function openDatabase(user: string): Promise<IDBDatabase> {
  const opening = indexedDB.open(databaseNameOf(user), 1);
  opening.addEventListener('upgradeneeded', () => {
    for (const store of stores) opening.result.createObjectStore(store);
  });
  return resultOf(opening).then((database) => {
    // The database is deleted at sign-out, in whichever tab.
    database.addEventListener('versionchange', () => database.close());
    return database;
  });
}

/**
 * Waits for the result of a request.
 * @throws DOMException when it failed
 */
export function resultOf<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error ?? new Error('The browser refused it.')));
  });
}

/** Resolves once a transaction is durable. */
export function transactionEnd(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.addEventListener('complete', () => resolve());
    transaction.addEventListener('abort', () => reject(transaction.error ?? new Error('The browser refused it.')));
  });
}
