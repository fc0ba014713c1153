/** Object stores of a person's database. Both have the id of the conversation as their key. */
export const storeNames = ['heads', 'contents'] as const;

/**
 * Opens the database of a person's conversations, and creates it if it does not exist.
 * @throws DOMException when the browser stores nothing, for example in some private windows
 */
export function openDatabase(userId: string): Promise<IDBDatabase> {
  const openRequest = indexedDB.open(createDatabaseName(userId), 1);
  openRequest.addEventListener('upgradeneeded', () => {
    for (const store of storeNames) openRequest.result.createObjectStore(store);
  });
  return waitForResult(openRequest).then((database) => {
    // A sign-out in any tab deletes the database, which is possible only after all tabs have closed it.
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

/**
 * Returns the name of the browser's database in which the playground keeps a person's conversations.
 * @param user the person's id
 */
export function createDatabaseName(user: string): string {
  return `rtr-conversations-${user}`;
}

/** Deletes the playground's conversations of a person who signs out, because the next person may use the same browser. */
export function deleteConversations(user: string): void {
  indexedDB.deleteDatabase(createDatabaseName(user));
}
