import { createDatabaseName } from '../../../parts/conversation-database.ts';

/** The stores of a person's database: heads and contents of conversations, by the conversation's id. */
export const storeNames = ['heads', 'contents'] as const;

/**
 * Opens a person's database.
 * @throws DOMException when the browser keeps nothing, as in some private windows
 */
export function openDatabase(user: string): Promise<IDBDatabase> {
  const openRequest = indexedDB.open(createDatabaseName(user), 1);
  openRequest.addEventListener('upgradeneeded', () => {
    for (const store of storeNames) openRequest.result.createObjectStore(store);
  });
  return waitForResult(openRequest).then((database) => {
    // The database is deleted at sign-out, in whichever tab.
    database.addEventListener('versionchange', () => database.close());
    return database;
  });
}

/**
 * Waits for the result of a request to the database.
 * @throws DOMException when the request failed
 */
export function waitForResult<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error ?? new Error('The browser gave no reason.')));
  });
}

/**
 * Resolves once a transaction is durable.
 * @throws DOMException when the transaction was aborted
 */
export function waitForEnd(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.addEventListener('complete', () => resolve());
    transaction.addEventListener('abort', () => reject(transaction.error ?? new Error('The browser gave no reason.')));
  });
}
